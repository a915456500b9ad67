"""The shape of cases and outputs: the keys that a scorecard reads, those that are metadata, and what is said of others.

Under `semantics: seed` a record holds every list and text that a metric reads, and no unknown key: a misspelt list
would count as an empty one and raise the score. Under `reference` unknown keys are passed over, and what is missing or
null is empty.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Input
from rulewright_runtime.cases.records import UNREADABLE, worded
from rulewright_runtime.strict_json import Decoder, Json, JsonMapping, JsonObject

FAILURES: Final = ("error", "engine_error")
OUTPUTS: Final = ("engine_output", "output")  # where an output stands inside a record
NAMES: Final[tuple[tuple[str, Json], ...]] = (
    ("id", Json),
    ("test_id", Json),
    ("batch_id", Json),
    ("concern_id", str | None),
    ("archetype", str | None),
    ("metric_id", str | None),
)
_TYPES: Final[JsonMapping] = {"string": str, "strings": list[str]}
_EMPTY: Final = {"string": '; write `""` for an empty text', "strings": "; write `[]` for an empty list"}
_KEY: Final = re.compile(r"(unknown|missing required) field `([^`]*)`(?: - at `\$\.?([^`]*)`)?")
_OF_OUTPUT: Final = re.compile(r" - at `\$\.(?:engine_)?output\b")
_INDEX: Final = re.compile(r"\[[^\]]*\]")
_SIGNS: Final = re.compile(r"[^a-z0-9]")
Path = tuple[str, ...]


@dataclass(slots=True)
class _Tree:
    """The keys of an object: inputs with their type, metadata (None), and objects that hold more."""

    leaves: dict[str, str | None] = field(default_factory=dict)
    below: dict[str, _Tree] = field(default_factory=dict)

    def add(self, path: Path, kind: str | None) -> None:
        if len(path) == 1:
            self.leaves[path[0]] = kind
        else:
            self.below.setdefault(path[0], _Tree()).add(path[1:], kind)

    @property
    def read(self) -> list[str]:
        """The keys that hold inputs."""
        inputs = [key for key, kind in self.leaves.items() if kind is not None]
        return inputs + [key for key, tree in self.below.items() if tree.read]

    def struct(
        self, name: str, *, strict: bool, extra: Iterable[tuple[str, Json]] = (), optional: bool = False
    ) -> Json:
        """A type with these keys and `extra` ones. A strict one refuses any other key and, unless it is `optional`,
        asks for those that hold inputs."""
        own = {key: Json if kind is None else _TYPES[kind] for key, kind in self.leaves.items()}
        own |= {key: tree.struct(f"{name}_{key}", strict=strict) for key, tree in self.below.items()}
        needed = self.read if strict and not optional else ()
        types = {**dict(extra), **{key: kind if strict else kind | None for key, kind in own.items()}}
        fields = [(key, kind) if key in needed else (key, kind, UNSET) for key, kind in types.items()]
        return msgspec.defstruct(name, fields, kw_only=True, gc=False, forbid_unknown_fields=strict)

    def keys(self, above: Path = ()) -> Iterator[tuple[Path, dict[str, str | None]]]:
        """The keys of this object and of those below, by its path, with the types of inputs."""
        yield above, {**self.leaves, **dict.fromkeys(self.below)}
        for key, tree in self.below.items():
            yield from tree.keys((*above, key))


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with a record, the keys that lead there, and whether that is the engine's output, not the case."""

    message: str
    place: Path = ()
    is_of_output: bool = False

    def __str__(self) -> str:
        """The message."""
        return self.message


class CaseShape:
    """Decodes the records of cases and outputs as a scorecard reads them."""

    def __init__(self, plan: CaseScorecardPlan) -> None:
        """Learn which keys `plan` reads."""
        strict = self._is_strict = plan.semantics == "seed"
        case, output = _Tree(), _Tree()
        for path in plan.metadata:
            source, *steps = path.split(".")
            (output if source == "output" else case).add(tuple(steps), None)
        for each in plan.inputs:
            (output if each.source == "output" else case).add(each.path, each.type)
        failures = [(key, Json) for key in FAILURES]
        self._output = output.struct("Output", strict=strict, extra=[*NAMES, *failures])
        extra = [*NAMES, *failures, ("test_case", msgspec.Raw), *((key, self._output | None) for key in OUTPUTS)]
        extra += [(key, object) for key in (*output.leaves, *output.below)]  # an output beside its `test_id`
        record = case.struct("Envelope", strict=strict, extra=extra, optional=True)
        self._envelope: Decoder[Json] = Decoder(record, defaulted=lambda _: 0)
        self._known = dict([*case.keys(), *output.keys(("engine_output",)), *output.keys(("output",))])
        self._known[()] = {**dict.fromkeys(key for key, _ in extra), **self._known[()]}
        self._case_keys, self._output_keys = case.read, output.read
        self._case_parts, self._output_parts = _getter(case.read), _getter(output.read)
        self._no_output_parts = (UNSET,) * (len(output.read) + 1)
        self._case_inputs = _Inputs([each for each in plan.inputs if each.source == "case"], strict=strict)
        self._output_inputs = _Inputs([each for each in plan.inputs if each.source == "output"], strict=strict)

    def decoded(self, data: bytes, *, is_case: bool = True) -> tuple[Json, Json] | Mistake:
        """A record and the case that it wraps, which is the record itself where it wraps none, or what is wrong.

        A record with an output that `is_case` not need hold no expectations.
        """
        above: Path = ()
        try:
            envelope = case = self._envelope.decode(data)
            if envelope.test_case is not UNSET and bytes(envelope.test_case).strip() != b"null":
                above = ("test_case",)
                case = self._envelope.decode(bytes(envelope.test_case))
        except UNREADABLE as error:
            place = (*above, *_place(error))
            return Mistake(self._worded(error, above), place, _OF_OUTPUT.search(str(error)) is not None)
        mistake = self._mistake(envelope, case) if self._is_strict and is_case else None
        return mistake or (envelope, case)

    def _mistake(self, envelope: Json, case: Json) -> Mistake | None:
        """What is wrong with a record as a whole: a part that is missing, or that stands there twice."""
        if (
            case is envelope
            and UNSET not in self._case_parts(case)
            and envelope.output is UNSET
            and self._output_parts(envelope) == self._no_output_parts
        ):
            return None
        absent = next((key for key in self._case_keys if getattr(case, key) is UNSET), None)
        if absent is not None:
            return Mistake(f"there is no `{absent}`{self._empty((), absent)}", (absent,))
        holders = [envelope] if case is envelope else [envelope, case]
        outputs = [key for holder in holders for key in self._outputs_in(holder)]
        if len(outputs) > 1:
            return Mistake(f"there are two outputs, in `{outputs[0]}` and in `{outputs[1]}`", (outputs[1],))
        twice = [key for key in self._case_keys if len(holders) > 1 and getattr(envelope, key) is not UNSET]
        if not twice:
            return None
        return Mistake(f"`{twice[0]}` stands beside `test_case`, which holds the case", (twice[0],))

    def _outputs_in(self, holder: object) -> list[str]:
        """The keys of a record under which an output stands; of an output's own keys the first."""
        found = [key for key in OUTPUTS if getattr(holder, key) not in (None, UNSET)]
        return found + [key for key in self._output_keys if getattr(holder, key) is not UNSET][:1]

    def output_beside(self, envelope: object) -> object | Mistake | None:
        """The output whose keys stand beside the names of a record, what is wrong with it, or None without any."""
        values = {key: getattr(envelope, key) for key in self._output_keys}
        values = {key: value for key, value in values.items() if value is not UNSET}
        try:
            return msgspec.convert(values, self._output) if values else None
        except msgspec.ValidationError as error:
            return Mistake(self._worded(error, ()), _place(error), is_of_output=True)

    def inputs(self, case: Json, output: Json) -> JsonObject:
        """The inputs of a case by name."""
        values = self._case_inputs.of(case)
        values.update(self._output_inputs.of(output))
        return values

    def _worded(self, error: Exception, above: Path) -> str:
        """A decoder's complaint about a record in our words; `above` leads to the part that was decoded."""
        found = _KEY.search(str(error))
        if found is None:
            return worded(error, above)
        kind, key, place = found.groups()
        path = tuple((place or "").split(".")) if place else ()
        where = f" in `{'.'.join((*above, *path))}`" if above or path else ""
        if kind == "unknown":
            return f"unknown key `{key}`{where}{self._suggestion(key, path)}"
        return f"there is no `{key}`{where}{self._empty(path, key)}"

    def _empty(self, path: Path, key: str) -> str:
        """How an input without a value is written."""
        return _EMPTY.get(self._known.get(path, {}).get(key) or "", "")

    def _suggestion(self, key: str, path: Path) -> str:
        near = _nearest(key, self._known.get(path, ()))
        if near is not None:
            return f"; did you mean `{near}`?"
        for place, keys in self._known.items():
            near = _nearest(key, keys, 1.0)
            if near is not None and (place or near != key):  # the same word would be no suggestion
                return f"; did you mean `{'.'.join((*place, near))}`?"
        return "; list it under `metadata` in the scorecard if it is meant"


def _place(error: Exception) -> Path:
    """The keys that lead to what a decoder complains of, and the key that it names."""
    complaint = str(error)
    path = complaint.partition(" - at `$")[2].rstrip("`")
    key = _KEY.search(complaint)
    named = (key[2],) if key else ()
    return (*filter(None, _INDEX.sub("", path).split(".")), *named)


class _Names(msgspec.Struct):
    """What can be told of a record whatever else is wrong with it."""

    id: Json = None
    test_id: Json = None
    concern_id: Json = None
    archetype: Json = None
    metric_id: Json = None
    test_case: Json = None
    error: Json = None
    engine_error: Json = None
    engine_output: Json = None
    output: Json = None


_NAMES: Final = msgspec.json.Decoder(_Names)


def named(data: bytes) -> tuple[Json, Json] | None:
    """The names in a record that could not be decoded, and in the case that it wraps; None for what is no object."""
    try:
        envelope = case = _NAMES.decode(data)
        if isinstance(envelope.test_case, dict):
            case = msgspec.convert(envelope.test_case, _Names)
    except UNREADABLE:
        return None
    for holder in (envelope, case):
        for key in ("concern_id", "archetype", "metric_id"):
            if not isinstance(getattr(holder, key), str):
                setattr(holder, key, None)
    return envelope, case


def failure(*records: Any) -> str | None:
    """What an engine said went wrong, in records or the outputs that they hold; null, false and empty values mean that
    nothing did."""
    for record in records:
        for part in (record, *(getattr(record, key, None) for key in OUTPUTS)):
            for key in FAILURES:
                error = part.get(key) if isinstance(part, dict) else getattr(part, key, None)
                if error is UNSET or error is None or error is False or error in ("", [], {}):
                    continue
                if isinstance(error, dict):
                    error = error.get("message") or error.get("type") or "error"
                return f"the engine failed: {' '.join(str(error).split())[:200]}"
    return None


class _Inputs:
    """Reads some inputs of a decoded record. Of one that is not strict, what is missing or null is empty."""

    def __init__(self, inputs: list[Input], *, strict: bool) -> None:
        self._names = [each.name for each in inputs]
        self._all = _getter([".".join(each.path) for each in inputs])
        self._each = [(each.name, each.path, each.type) for each in inputs]
        self._is_strict = strict

    def of(self, record: Json) -> JsonObject:
        """The inputs by name."""
        if self._is_strict:
            return dict(zip(self._names, self._all(record), strict=False))
        return {name: _found(record, path, "" if kind == "string" else []) for name, path, kind in self._each}


def _found(record: Json, path: Path, empty: Json) -> Json:
    for key in path:
        record = getattr(record, key, None)
        if record is None or record is UNSET:
            return empty
    return record


def _getter(paths: list[str]) -> Callable[[Json], tuple[Json, ...]]:
    """What reads some attributes as a tuple; of a single one `attrgetter` would give the value itself."""
    return attrgetter(*paths, paths[0]) if paths else lambda record: ()


def _nearest(key: str, known: Iterable[str], least: float = 0.7) -> str | None:
    """The known key that is most like `key`, whatever its case and the signs between its words."""
    plain = {_SIGNS.sub("", each.lower()): each for each in known}
    near = difflib.get_close_matches(_SIGNS.sub("", key.lower()), plain, 1, least)
    return plain[near[0]] if near else None
