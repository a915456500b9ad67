"""Reading test cases and the engine's outputs, and joining them: each case arrives whole or with what is wrong.

A case is an object with `test_id` and the author's expectations; the output stands inside it (`engine_output` or
`output`, or its fields beside `test_id`), or in other files under the same `test_id`. The wrapper
`{id, test_case, engine_output}` is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.records import Holder, Record, id_of, placed, records_of
from rulewright_runtime.cases.shape import CaseShape, Mistake, failure, named
from rulewright_runtime.errors import InputError
from rulewright_runtime.scratch_database import DuplicateIds
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from rulewright_runtime.cases.outputs import Outputs

_NO_OUTPUT = "there is no output of the engine for the case"


class Case(msgspec.Struct, frozen=True, eq=False):
    """One case of a batch. `problem` says why it can't be scored; `inputs` are then empty. It `is_refused` when the
    case itself is wrong, and not only its output."""

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

    @property
    def place(self) -> str:
        """The file with its line or JSON path, for messages."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return where if self.path == "$" else f"{where}: {self.path}"


@dataclass(frozen=True, slots=True)
class Batch:
    """A file of cases; its name is the file's without the suffix."""

    name: str
    file: str


class CaseReader:
    """Reads batches for one scorecard; a test id that a batch repeats with another content is refused."""

    def __init__(self, plan: CaseScorecardPlan, concern: str | None = None, outputs: Outputs | None = None) -> None:
        """`concern` leaves out the cases of other concerns; `outputs` are the engine's where cases don't hold them."""
        self._concern = concern
        self._outputs = outputs
        self._shape = CaseShape(plan)
        self._seen = DuplicateIds()
        self.others = 0  # cases of another concern, left out

    @property
    def refused_outputs(self) -> list[InputError]:
        """What could not be read of the files of outputs."""
        return [] if self._outputs is None else self._outputs.errors

    def cases(self, batch: Batch) -> Iterator[Case | InputError]:
        """The cases of a batch in their order, and what could not be read as a case."""
        holder, records = records_of(batch.file)
        if holder.concern_id is not None and self._is_of_another(holder.concern_id):
            self.others += sum(1 for record in records if isinstance(record, Record)) - 1
            return
        for at, record in enumerate(records):
            case = record if isinstance(record, InputError) else self._case(batch, record, holder, at)
            if case is not None:
                yield case

    def _case(self, batch: Batch, record: Record, holder: Holder, at: int) -> Case | InputError | None:
        decoded = self._shape.decoded(record.data)
        mistake = decoded if isinstance(decoded, Mistake) else None
        found = named(record.data) if isinstance(decoded, Mistake) else decoded
        if found is None:
            is_object = record.data.lstrip()[:1] == b"{"
            said = str(mistake) if is_object else "a case must be an object with `test_id`"
            return InputError(placed(record.path, said), batch.file, record.line)
        envelope, case = found
        if self._is_of_another(case.concern_id or envelope.concern_id):
            return None
        own_id = id_of(envelope.id)
        test_id = id_of(case.test_id) or id_of(envelope.test_id) or own_id or id_of(case.id)
        refusal = self._refusal(batch, own_id, test_id, record, mistake)
        if refusal is not None or test_id is None:
            return InputError(placed(record.path, refusal or ""), batch.file, record.line)
        other_id = own_id if own_id != test_id else None
        if mistake is None:
            output, problem = self._output(batch, envelope, case, test_id, other_id)
        else:
            output, problem = None, (failure(envelope, case) if mistake.is_of_output else None) or str(mistake)
        return Case(
            batch.name,
            test_id,
            case.archetype or envelope.archetype or holder.archetype(at),
            case.metric_id or envelope.metric_id or None,
            self._shape.inputs(case, output) if problem is None else {},
            problem,
            batch.file,
            record.line,
            record.path,
            other_id,
            mistake is not None and not mistake.is_of_output,
        )

    def _is_of_another(self, concern: Any) -> bool:
        """Whether a case belongs to another concern; it is counted then."""
        is_other = bool(self._concern and concern) and str(concern).lower() != str(self._concern).lower()
        self.others += is_other
        return is_other

    def _refusal(
        self, batch: Batch, own_id: str | None, test_id: str | None, record: Record, mistake: Mistake | None
    ) -> str | None:
        """Why a record can't be a case of the batch: it has no name, or the name of another."""
        if test_id is None:
            return "the case has no `test_id`" + (f": {mistake}" if mistake else "")
        if self._seen.differs(hash((batch.name, own_id, test_id)), hash(record.data.strip())):
            return f"the test id `{test_id}` exists already, with another content"
        return None

    def _output(
        self, batch: Batch, envelope: Any, case: Any, test_id: str, other_id: str | None
    ) -> tuple[Any, str | None]:
        """The output of a case, or why there is none."""
        problem = failure(envelope) if case is envelope else failure(envelope, case)
        output = envelope.engine_output or envelope.output or case.engine_output or case.output
        if problem is not None or output:
            return output, problem
        if self._outputs is None:
            return self._beside(envelope)
        found = self._outputs.find(batch.name, test_id)
        if found is None and other_id is not None:
            found = self._outputs.find(batch.name, other_id)
        if found is None:
            return None, _NO_OUTPUT
        return (None, found) if isinstance(found, str) else self._in_file(*found)

    def _in_file(self, data: bytes, place: str) -> tuple[object, str | None]:
        """The output in a record of another file."""
        decoded = self._shape.decoded(data, is_case=False)
        if isinstance(decoded, Mistake):
            return None, failure(*(named(data) or ())) or f"{place}: {decoded}"
        envelope, _ = decoded
        output = envelope.engine_output or envelope.output
        problem = failure(envelope)
        return (output, problem) if output or problem else self._beside(envelope, f"{place}: ")

    def _beside(self, envelope: object, place: str = "") -> tuple[object, str | None]:
        """The output whose keys stand beside the names of a record."""
        output = self._shape.output_beside(envelope)
        return (None, f"{place}{output}") if isinstance(output, Mistake) else (output, None if output else _NO_OUTPUT)
