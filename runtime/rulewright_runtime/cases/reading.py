"""Reading test cases and the engine's outputs, and joining them: each case arrives whole or with what is wrong.

A case is an object with `test_id` and the author's expectations; the output stands inside it (`engine_output` or
`output`, or its fields beside `test_id`), or in other files under the same `test_id`. The wrapper
`{id, test_case, engine_output}` is read as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.cases.plan import CaseScorecardPlan, Input
from rulewright_runtime.cases.records import UNREADABLE, Record, id_of, placed, records_of, worded
from rulewright_runtime.cases.seen import Seen
from rulewright_runtime.errors import InputError

if TYPE_CHECKING:
    from rulewright_runtime.cases.outputs import Outputs


class Case(msgspec.Struct, frozen=True, eq=False):
    """One case of a batch. `problem` says why it can't be scored; `inputs` are then empty."""

    batch: str
    test_id: str
    archetype: str | None
    metric_id: str | None
    inputs: dict[str, Any]
    problem: str | None
    file: str
    line: int
    path: str
    id: str | None = None  # a second name of the record, where it has one

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
        self._model = _Models(plan)
        self._seen = Seen()
        self.others = 0  # cases of another concern, left out

    def cases(self, batch: Batch) -> Iterator[Case | InputError]:
        """The cases of a batch in their order, and what could not be read as a case."""
        holder, records = records_of(batch.file)
        if holder.concern_id is not None and self._concern is not None and holder.concern_id != self._concern:
            self.others += sum(1 for record in records if isinstance(record, Record))
            return
        for record in records:
            if isinstance(record, InputError):
                yield record
                continue
            case = self._case(batch, record, holder.concern_id)
            if case is not None:
                yield case

    def _case(self, batch: Batch, record: Record, concern_id: str | None) -> Case | InputError | None:
        model = self._model
        try:
            envelope = model.envelope.decode(_whole(record.data))
        except UNREADABLE as error:
            return self._unreadable(batch, record, concern_id, error)
        inner = envelope.test_case
        written = envelope
        if inner is not None and bytes(inner).strip() != b"null":
            try:
                written = model.envelope.decode(inner)
            except UNREADABLE as error:
                return self._unreadable(batch, record, concern_id, error, "test_case")
        test_id = id_of(written.test_id) or id_of(envelope.test_id) or id_of(envelope.id) or id_of(written.id)
        own_id = id_of(envelope.id)
        if self._is_of_another(written.concern_id or envelope.concern_id or concern_id):
            return None
        refused = self._refused(batch, record, own_id, test_id)
        if refused is not None or test_id is None:
            return refused
        output, problem = self._output(batch, envelope, written, record.data, test_id)
        inputs = {} if problem is not None else model.inputs(written, output)
        group, metric_id = written.archetype, written.metric_id
        other_id = own_id if own_id != test_id else None
        place = (batch.file, record.line, record.path)
        return Case(batch.name, test_id, group, metric_id, inputs, problem, *place, other_id)

    def _unreadable(
        self, batch: Batch, record: Record, concern_id: str | None, error: Exception, *above: str
    ) -> Case | InputError | None:
        """A record that is no case at all, or an errored one whose test id can still be told."""
        place = (batch.file, record.line)
        try:
            known = self._model.names.decode(record.data)
        except msgspec.ValidationError:
            return InputError(placed(record.path, "a case must be an object with `test_id`"), *place)
        except UNREADABLE:
            return InputError(placed(record.path, worded(error)), *place)
        inner = self._model.inner_names(known)
        test_id = id_of(inner.test_id) or id_of(known.test_id) or id_of(known.id) or id_of(inner.id)
        concern = inner.concern_id or known.concern_id or concern_id
        if isinstance(concern, str) and self._is_of_another(concern):
            return None
        problem = worded(error, above)
        if test_id is None:
            return InputError(placed(record.path, problem), *place)
        refused = self._refused(batch, record, id_of(known.id), test_id)
        if refused is not None:
            return refused
        group = inner.archetype or known.archetype
        archetype = group if isinstance(group, str) else None
        return Case(batch.name, test_id, archetype, None, {}, problem, *place, record.path)

    def _is_of_another(self, concern: str | None) -> bool:
        """Whether a case belongs to another concern; it is counted then."""
        is_other = self._concern is not None and concern is not None and concern != self._concern
        self.others += is_other
        return is_other

    def _refused(self, batch: Batch, record: Record, own_id: str | None, test_id: str | None) -> InputError | None:
        """Why a record can't be a case of the batch: it has no name, or the name of another."""
        if test_id is None:
            message = "the case has no `test_id`"
        elif self._seen.differs(hash((batch.name, own_id, test_id)), hash(record.data.strip())):
            message = f"the test id `{test_id}` exists already, with another content"
        else:
            return None
        return InputError(placed(record.path, message), batch.file, record.line)

    def _output(self, batch: Batch, envelope: Any, written: Any, data: bytes, test_id: str) -> tuple[Any, str | None]:
        """The output of a case, or why there is none."""
        output = envelope.engine_output
        if output is not None and written is envelope and envelope.error is None and envelope.engine_error is None:
            return self._checked(output)
        for holder in (envelope, written):
            failure = _failure(holder.error) or _failure(holder.engine_error)
            if failure:
                return None, f"the engine failed: {failure}"
            for output in (holder.engine_output, holder.output):
                if output is not None:
                    return self._checked(output)
        if self._outputs is not None:
            return self._joined(batch.name, test_id, id_of(envelope.id))
        try:
            flat = self._model.output.decode(data)
        except UNREADABLE as error:
            return None, worded(error)
        if self._model.has_output(flat):
            return self._checked(flat)
        return None, "there is no output of the engine for the case"

    def _checked(self, output: Any) -> tuple[Any, str | None]:
        failure = _failure(output.error)
        return (output, None) if failure is None else (None, f"the engine failed: {failure}")

    def _joined(self, batch: str, test_id: str, other_id: str | None) -> tuple[Any, str | None]:
        assert self._outputs is not None
        found = self._outputs.find(batch, test_id)
        if found is None and other_id is not None:
            found = self._outputs.find(batch, other_id)
        if found is None:
            return None, "there is no output of the engine for the case"
        if isinstance(found, str):
            return None, found
        data, place = found
        model = self._model
        try:
            envelope = model.envelope.decode(_whole(data))
            failure = _failure(envelope.error) or _failure(envelope.engine_error)
            if failure:
                return None, f"the engine failed: {failure}"
            inner = envelope.engine_output or envelope.output
            if inner is not None:
                return self._checked(inner)
            flat = model.output.decode(data)
            if not model.has_output(flat) and model.names.decode(data).announces_output:
                return None, "there is no output of the engine for the case"
            return self._checked(flat)
        except UNREADABLE as error:
            return None, f"{place}: {worded(error)}"


class _Names(msgspec.Struct):
    """What can be told of a case whatever else is wrong with it."""

    id: Any = None
    test_id: Any = None
    archetype: Any = None
    concern_id: Any = None
    test_case: Any = None
    engine_output: Any = msgspec.UNSET
    output: Any = msgspec.UNSET

    @property
    def announces_output(self) -> bool:
        """Whether it has a key for an output, be it null."""
        return self.engine_output is not msgspec.UNSET or self.output is not msgspec.UNSET


@dataclass(slots=True)
class _Tree:
    """The fields below an object that a scorecard reads."""

    leaves: dict[str, Any] = field(default_factory=dict)
    below: dict[str, _Tree] = field(default_factory=dict)

    def add(self, path: tuple[str, ...], kind: Any) -> None:
        if len(path) == 1:
            self.leaves[path[0]] = kind
        else:
            self.below.setdefault(path[0], _Tree()).add(path[1:], kind)

    def struct(self, name: str, extra: Iterable[tuple[str, Any]] = ()) -> Any:
        fields = dict(extra)
        fields |= self.leaves
        fields |= {key: tree.struct(f"{name}_{key}") | None for key, tree in self.below.items()}
        return msgspec.defstruct(name, [(key, kind, None) for key, kind in fields.items()], gc=False)


class _Models:
    """Decoders made for the fields a scorecard reads: a wrong type is noticed with its JSON path."""

    def __init__(self, plan: CaseScorecardPlan) -> None:
        case, output = _Tree(), _Tree()
        for each in plan.inputs:
            (output if each.source == "output" else case).add(each.path, _TYPES[each.type])
        output_struct = output.struct("Output", [("error", Any)])
        known: list[tuple[str, Any]] = [("id", Any), ("test_id", Any), ("concern_id", str | None)]
        known += [("archetype", str | None)]
        known += [("metric_id", str | None), ("error", Any), ("engine_error", Any), ("test_case", msgspec.Raw)]
        known += [(key, output_struct | None) for key in ("engine_output", "output")]
        self.envelope = msgspec.json.Decoder(case.struct("Envelope", known))
        self.output = msgspec.json.Decoder(output_struct)
        self.names = msgspec.json.Decoder(_Names)
        parts = [[each for each in plan.inputs if each.source == source] for source in ("case", "output")]
        self._case, self._output = (_Extractor(each) for each in parts)
        self._leaves = list(output.leaves) + list(output.below)

    def inner_names(self, names: _Names) -> _Names:
        """The names in the case that a record wraps; none for one that wraps none."""
        inner = names.test_case
        return msgspec.convert(inner, _Names) if isinstance(inner, dict) else _Names()

    def has_output(self, output: Any) -> bool:
        """Whether any field of an output is there."""
        return any(getattr(output, name) is not None for name in self._leaves)

    def inputs(self, case: Any, output: Any) -> dict[str, Any]:
        """The inputs of a case by name; what is missing or null is empty."""
        values = self._case.values(case)
        values.update(self._output.values(output))
        return values


_TYPES: Final[Mapping[str, Any]] = {"string": str | None, "strings": list[str] | None}


class _Extractor:
    """Reads some inputs of a decoded record."""

    def __init__(self, parts: list[Input]) -> None:
        self._names = [part.name for part in parts]
        self._empty: list[Any] = ["" if part.type == "string" else [] for part in parts]
        self._each = [attrgetter(".".join(part.path)) for part in parts]
        paths = [".".join(part.path) for part in parts]
        self._all = attrgetter(*paths) if len(paths) > 1 else None

    def values(self, record: Any) -> dict[str, Any]:
        """The inputs by name; what is missing or null is empty."""
        try:
            found = dict(zip(self._names, self._all(record), strict=True)) if self._all is not None else {}
        except AttributeError:  # an object on the way is missing or null
            found = {}
        if len(found) == len(self._names) and None not in found.values():
            return found
        return {
            name: _read(get, record, empty)
            for name, get, empty in zip(self._names, self._each, self._empty, strict=True)
        }


def _read(get: Callable[[Any], Any], record: Any, empty: Any) -> Any:
    try:
        value = get(record)
    except AttributeError:
        value = None
    return (empty if empty == "" else []) if value is None else value


def _whole(data: bytes) -> bytes:
    """`data`, if all of it is UTF-8: the decoder looks only at what it reads, and a key with a broken letter is read by
    nobody."""
    if not data.isascii():
        data.decode()
    return data


def _failure(error: Any) -> str | None:
    """What an engine said went wrong; null, false and empty values mean that nothing did."""
    if error is None or error is False or error in ("", [], {}):
        return None
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type") or "error"
    return " ".join(str(error).split())[:200]
