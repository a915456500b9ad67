"""Reading test cases and joining them with the engine's outputs: each case is complete or has its problem.

A case is an object with `test_id` and the author's expectations. The output is inside it (`engine_output` or `output`,
or its fields next to `test_id`), or in other files under the same `test_id`. The wrapper
`{id, test_case, engine_output}` is read as well.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import IO, Any, Final

import msgspec
from msgspec import Struct

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.records import (
    BatchHeader,
    Record,
    decode_message,
    id_of,
    json_files,
    records_of,
    with_path,
)
from rulewright_runtime.cases.shape import OUTPUTS, CaseShape, Mistake, failure, read_names
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import open_regular
from rulewright_runtime.files.scratch_database import FirstValues, ScratchDatabase
from rulewright_runtime.strict_json import UNDECODED, JsonObject

_NOT_IDS: Final = frozenset({"test_id", "id", "expectations", "test_case", *OUTPUTS})
_TABLE: Final = "CREATE TABLE outputs (test_id, tag, file, start, length, data, path, is_used)"
_ADD: Final = "INSERT INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?, 0)"
_FIND: Final = "SELECT tag, file, start, length, data, path, rowid FROM outputs WHERE test_id = ?"
_FIND_ROW: Final = "SELECT tag, file, start, length, data, path, rowid FROM outputs WHERE rowid = ?"
_SHOWN: Final = 3  # files that a message names
_MANY: Final = 8  # outputs of one test id, above which the choice among them is kept
_USE: Final = "UPDATE outputs SET is_used = 1 WHERE test_id = ?"
_UNUSED: Final = "SELECT test_id, tag, file FROM outputs WHERE NOT is_used ORDER BY rowid"
_Row = tuple[str, str, str, int, int, bytes | None, str]
_Reference = tuple[str, str, int, int, bytes | None, str, int]


class _OutputIds(msgspec.Struct):
    id: Any = None
    test_id: Any = None


class Outputs:
    """The engine's outputs in a file, or in every file of JSON or CSV below a folder, by test id.

    Their offsets are kept in a temporary database, so that memory does not grow with their number.
    """

    def __init__(self, path: str) -> None:
        """Index the outputs below `path`; unreadable records go to `errors`. Raises InputError without any file."""
        self.errors: list[InputError] = []
        self._path = path
        self._names = msgspec.json.Decoder(_OutputIds)
        # By batch and test id, where many outputs have it: the row that counts, or why none does. Many cases may have
        # one test id, too.
        self._chosen: dict[tuple[str, str], int | str] = {}
        self._open: tuple[str, IO[bytes]] | None = None  # the outputs of a batch are usually in one file
        self._database = ScratchDatabase(_TABLE)
        has_files = False
        for file in [path] if os.path.isfile(path) else json_files(path):
            has_files = True
            self._database.executemany(_ADD, self._rows(file))
        if not has_files:
            raise InputError("contains no file of outputs", path)
        self._database.execute("CREATE INDEX by_test_id ON outputs (test_id)")
        self.errors.sort(key=lambda error: (error.path, error.line, error.reason))

    def _rows(self, file: str) -> Iterator[_Row]:
        """Yield a row for every output of a file. The tag tells outputs of one test id apart: the file's name, or the
        folder's when the file is named like the test id."""
        stem = os.path.splitext(os.path.basename(file))[0]
        folder = os.path.basename(os.path.dirname(file)) if file != self._path else stem
        for record in records_of(file)[1]:
            if isinstance(record, InputError):
                self.errors.append(record)
                continue
            try:
                names = self._names.decode(record.data)
            except UNDECODED as error:
                self.errors.append(InputError(with_path(record.path, decode_message(error)), file, record.line))
                continue
            test_id = id_of(names.test_id) or id_of(names.id)
            if test_id is None and record.path == "$" and record.line == 0:
                parts = _by_key(record)
                if parts is not None:
                    yield from ((key, stem, file, -1, 0, data, f"$.{key}") for key, data in parts.items())
                    continue
                test_id = stem
            if test_id is None:
                self.errors.append(InputError(with_path(record.path, "the output has no `test_id`"), file, record.line))
                continue
            tag = folder if stem == test_id else stem
            data = record.data if record.start < 0 else None
            yield test_id, tag, file, record.start, len(record.data), data, record.path

    def find(self, batch: str, test_id: str) -> tuple[bytes, str] | str | None:
        """Return the bytes and the location of an output, a message when it is ambiguous, or None when there is none.
        Outputs whose tag is the batch's name win over others."""
        kept = self._chosen.get((batch, test_id))
        if kept is None:
            found = self._found(batch, test_id)
        else:
            found = kept if isinstance(kept, str) else self._database.execute(_FIND_ROW, (kept,)).fetchone()
        if found is None or isinstance(found, str):
            return found
        _, file, _, _, _, path, _ = found
        return self._bytes(found), file if path == "$" else f"{file}: {path}"

    def _found(self, batch: str, test_id: str) -> _Reference | str | None:
        """The output that counts, why none does, or None when there is none."""
        references: list[_Reference] = self._database.execute(_FIND, (test_id,)).fetchall()
        if not references:
            return None
        self._database.execute(_USE, (test_id,))
        candidates = [each for each in references if each[0] == batch] or references
        found = self._choice(candidates)
        if len(candidates) > _MANY:
            self._chosen[batch, test_id] = found if isinstance(found, str) else found[-1]
        return found

    def _choice(self, candidates: list[_Reference]) -> _Reference | str:
        first = min(candidates, key=lambda each: (each[1], each[2]))
        different = 1 if len(candidates) == 1 else len({self._bytes(each) for each in candidates})
        if different == 1:
            return first
        files = sorted({each[1] for each in candidates})
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        return f"{different} different outputs have the test id, in {', '.join(files[:_SHOWN])}{more}"

    def unused(self, batches: Collection[str]) -> Iterator[InputError]:
        """Yield a note for every output in the file, or below a folder in the files of the batches, that was not
        found by a test id."""
        for test_id, tag, file in self._database.execute(_UNUSED):
            if tag in batches or file == self._path:
                yield InputError(f"no case has the test id `{test_id}`, so this output is not scored", file)

    def _bytes(self, reference: _Reference) -> bytes:
        _, file, start, length, data, _, _ = reference
        if data is not None:
            return data.strip()
        if self._open is None or self._open[0] != file:
            if self._open is not None:
                self._open[1].close()
            self._open = (file, open_regular(file))
        self._open[1].seek(start)
        return self._open[1].read(length).strip()

    def __del__(self) -> None:
        if self._open is not None:
            self._open[1].close()


def _by_key(record: Record) -> dict[str, bytes] | None:
    """Return the outputs in an object whose keys are test ids; None for any other record."""
    try:
        parts = msgspec.json.decode(record.data, type=dict[str, msgspec.Raw])
    except UNDECODED:
        return None
    if not parts or parts.keys() & _NOT_IDS:
        return None
    outputs = {key: bytes(part) for key, part in parts.items()}
    return None if any(part.lstrip()[:1] != b"{" for part in outputs.values()) else outputs


_NO_OUTPUT = "the case has no output of the engine"


class Case(msgspec.Struct, frozen=True, eq=False):
    """One case of a batch. `problem` says why it can't be scored; `inputs` is then empty. `is_refused` means that the
    case itself is wrong, not only its output; `before` is the batch in which its test id occurred already."""

    batch: str
    test_id: str
    archetype: str | None
    metric_id: str | None
    inputs: JsonObject
    problem: str | None
    file: str
    line: int
    path: str
    id: str | None = None  # a second name of the record, where it has one
    is_refused: bool = False
    before: str | None = None


class Batch(Struct, frozen=True):
    """A file of cases; its name is the file's without the suffix."""

    name: str
    file: str


class CaseReader:
    """Reads batches for one scorecard. A test id that occurs twice in a batch with different content is refused."""

    def __init__(self, plan: CaseScorecardPlan, concern: str | None = None, outputs: Outputs | None = None) -> None:
        """`concern` leaves out cases of other concerns; `outputs` serves cases that don't contain their output."""
        self._concern = concern
        self._outputs = outputs
        self.refused_outputs = [] if outputs is None else outputs.errors
        self._shape = CaseShape(plan)
        self._records = FirstValues[int, int]("INTEGER", in_memory=100_000)  # hashes
        self._batches = FirstValues[int, str]("INTEGER", in_memory=100_000)  # by the hashes of test ids
        self.other_concerns = 0  # cases of another concern, left out

    def unused_outputs(self, batches: Collection[str]) -> Iterator[InputError]:
        """A note for every output of the batches without a case; none if cases of other concerns were left out."""
        if self._outputs is not None and not self.other_concerns:
            yield from self._outputs.unused(batches)

    def cases(self, batch: Batch) -> Iterator[Case | InputError]:
        """Yield the cases of a batch in order, and an InputError for each record that is not a case, and for a batch
        without one."""
        header, records = records_of(batch.file)
        if header.concern_id is not None and self._is_other_concern(header.concern_id):
            self.other_concerns += sum(1 for record in records if isinstance(record, Record)) - 1
            return
        at = -1
        for at, record in enumerate(records):
            case = record if isinstance(record, InputError) else self._case(batch, record, header, at)
            if case is not None:
                yield case
        if at < 0:
            yield InputError("the batch contains no cases", batch.file)

    def _case(self, batch: Batch, record: Record, header: BatchHeader, at: int) -> Case | InputError | None:
        decoded = self._shape.decode(record.data)
        mistake = decoded if isinstance(decoded, Mistake) else None
        parts = read_names(record.data) if isinstance(decoded, Mistake) else decoded
        if parts is None:
            is_object = record.data.lstrip()[:1] == b"{"
            message = str(mistake) if is_object else "a case must be an object with `test_id`"
            return InputError(with_path(record.path, message), batch.file, record.line)
        envelope, case = parts
        if self._is_other_concern(case.concern_id or envelope.concern_id):
            return None
        own_id = id_of(envelope.id)
        test_id = id_of(case.test_id) or id_of(envelope.test_id) or own_id or id_of(case.id)
        if test_id is None:
            refusal = "the case has no `test_id`" + (f": {mistake}" if mistake else "")
            return InputError(with_path(record.path, refusal), batch.file, record.line)
        before = self._batches.add(hash(test_id), batch.name)
        if self._is_other_content(hash((batch.name, own_id, test_id)), record):
            before = None  # the refusal says so
            mistake = Mistake(f"the test id `{test_id}` already exists with different content")
        other_id = own_id if own_id != test_id else None
        if mistake is None:
            output, problem = self._output(batch, envelope, case, test_id, other_id)
        else:
            if self._outputs is not None:  # the output has a case, although that is refused
                self._outputs.find(batch.name, test_id)
            output, problem = None, (failure(envelope, case) if mistake.is_of_output else None) or str(mistake)
        return Case(
            batch.name,
            test_id,
            case.archetype or envelope.archetype or header.archetype(at),
            case.metric_id or envelope.metric_id or None,
            self._shape.inputs(case, output) if problem is None else {},
            problem,
            batch.file,
            record.line,
            record.path,
            other_id,
            mistake is not None and not mistake.is_of_output,
            before,
        )

    def _is_other_concern(self, concern: Any) -> bool:
        """Whether a case belongs to another concern; if so, it is counted."""
        is_other = bool(self._concern and concern) and str(concern).lower() != str(self._concern).lower()
        self.other_concerns += is_other
        return is_other

    def _is_other_content(self, key: int, record: Record) -> bool:
        """Whether an earlier record with this key, the hash of its batch and ids, had another content."""
        payload = hash(record.data.strip())
        return self._records.add(key, payload) not in (None, payload)

    def _output(
        self, batch: Batch, envelope: Any, case: Any, test_id: str, other_id: str | None
    ) -> tuple[Any, str | None]:
        """Return the output of a case, or None, and the problem, or None."""
        problem = failure(envelope) if case is envelope else failure(envelope, case)
        output = envelope.engine_output or envelope.output or case.engine_output or case.output
        if self._outputs is None and problem is None and not output:
            return self._inline_output(envelope)
        if self._outputs is None or problem is not None:
            return output, problem
        reference = self._outputs.find(batch.name, test_id)
        if reference is None and other_id is not None:
            reference = self._outputs.find(batch.name, other_id)
        if reference is None:
            return (output, None) if output else (None, _NO_OUTPUT)
        if isinstance(reference, str):
            return None, reference
        found, wrong = self._file_output(*reference)
        if output and (wrong is not None or found != output):
            return None, f"the case contains another output than {reference[1]}; remove one of the two"
        return found, wrong

    def _file_output(self, data: bytes, location: str) -> tuple[object, str | None]:
        """Return the output in a record of another file, and the problem."""
        decoded = self._shape.decode(data, is_case=False)
        if isinstance(decoded, Mistake):
            return None, failure(*(read_names(data) or ())) or f"{location}: {decoded}"
        envelope, _ = decoded
        output = envelope.engine_output or envelope.output
        problem = failure(envelope)
        return (output, problem) if output or problem else self._inline_output(envelope, f"{location}: ")

    def _inline_output(self, envelope: object, prefix: str = "") -> tuple[object, str | None]:
        """Return the output whose keys are those of the record itself, and the problem."""
        output = self._shape.inline_output(envelope)
        return (None, f"{prefix}{output}") if isinstance(output, Mistake) else (output, None if output else _NO_OUTPUT)
