"""Reading test cases and joining them with the engine's outputs: each case is complete or carries its problem.

A case is an object with `test_id` and the author's expectations. The output is inside it (`engine_output` or `output`,
or its fields beside `test_id`), or in other files under the same `test_id`. The wrapper
`{id, test_case, engine_output}` is read as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.outputs import Outputs
from rulewright_runtime.cases.records import BatchHeader, Record, id_of, records_of, with_path
from rulewright_runtime.cases.shape import CaseShape, Mistake, failure, read_names
from rulewright_runtime.errors import InputError
from rulewright_runtime.scratch_database import FirstValues
from rulewright_runtime.strict_json import JsonObject

_NO_OUTPUT = "there is no output of the engine for the case"


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

    @property
    def location(self) -> str:
        """The file with line and JSON path, for messages."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return where if self.path == "$" else f"{where}: {self.path}"


@dataclass(frozen=True, slots=True)
class Batch:
    """A file of cases; its name is the file's without the suffix."""

    name: str
    file: str


class CaseReader:
    """Reads batches for one scorecard. A test id that occurs twice in a batch with different content is refused."""

    def __init__(self, plan: CaseScorecardPlan, concern: str | None = None, outputs: Outputs | None = None) -> None:
        """`concern` leaves out cases of other concerns; `outputs` serves cases that don't contain their output."""
        self._concern = concern
        self._outputs = outputs
        self._shape = CaseShape(plan)
        self._records = FirstValues[int, int]("INTEGER", in_memory=100_000)  # hashes
        self._batches = FirstValues[int, str]("INTEGER", in_memory=100_000)  # by the hashes of test ids
        self.other_concerns = 0  # cases of another concern, left out

    @property
    def refused_outputs(self) -> list[InputError]:
        """The errors in the files of outputs."""
        return [] if self._outputs is None else self._outputs.errors

    def unused_outputs(self, batches: Collection[str]) -> Iterator[InputError]:
        """A note for every output of the batches without a case; none if cases of other concerns were left out."""
        if self._outputs is not None and not self.other_concerns:
            yield from self._outputs.unused(batches)

    def cases(self, batch: Batch) -> Iterator[Case | InputError]:
        """Yield the cases of a batch in order, and an InputError for each record that is not a case."""
        header, records = records_of(batch.file)
        if header.concern_id is not None and self._is_other_concern(header.concern_id):
            self.other_concerns += sum(1 for record in records if isinstance(record, Record)) - 1
            return
        for at, record in enumerate(records):
            case = record if isinstance(record, InputError) else self._case(batch, record, header, at)
            if case is not None:
                yield case

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
        refusal = self._refusal(batch, own_id, test_id, record, mistake)
        if refusal is not None or test_id is None:
            return InputError(with_path(record.path, refusal or ""), batch.file, record.line)
        other_id = own_id if own_id != test_id else None
        if mistake is None:
            output, problem = self._output(batch, envelope, case, test_id, other_id)
        else:
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
            self._batches.add(hash(test_id), batch.name),
        )

    def _is_other_concern(self, concern: Any) -> bool:
        """Whether a case belongs to another concern; if so, it is counted."""
        is_other = bool(self._concern and concern) and str(concern).lower() != str(self._concern).lower()
        self.other_concerns += is_other
        return is_other

    def _refusal(
        self, batch: Batch, own_id: str | None, test_id: str | None, record: Record, mistake: Mistake | None
    ) -> str | None:
        """Return why a record can't be a case of the batch (no test id, or that of another case), or None."""
        if test_id is None:
            return "the case has no `test_id`" + (f": {mistake}" if mistake else "")
        payload = hash(record.data.strip())
        if self._records.add(hash((batch.name, own_id, test_id)), payload) not in (None, payload):
            return f"the test id `{test_id}` exists already, with another content"
        return None

    def _output(
        self, batch: Batch, envelope: Any, case: Any, test_id: str, other_id: str | None
    ) -> tuple[Any, str | None]:
        """Return the output of a case, or None, and the problem, or None."""
        problem = failure(envelope) if case is envelope else failure(envelope, case)
        output = envelope.engine_output or envelope.output or case.engine_output or case.output
        if problem is not None or output:
            return output, problem
        if self._outputs is None:
            return self._inline_output(envelope)
        reference = self._outputs.find(batch.name, test_id)
        if reference is None and other_id is not None:
            reference = self._outputs.find(batch.name, other_id)
        if reference is None:
            return None, _NO_OUTPUT
        return (None, reference) if isinstance(reference, str) else self._file_output(*reference)

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
