"""The shape of cases and outputs: the keys that a scorecard reads, metadata, and messages about all other keys.

Under `semantics: seed` a record must hold every list and text that a metric reads, and no unknown key: a misspelt list
would count as an empty one and raise the score. Under `reference` unknown keys are ignored, and a missing or null input
is empty.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, field

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.records import decode_message
from rulewright_runtime.english import ticked
from rulewright_runtime.strict_json import UNDECODED, Decoder, Json, JsonMapping, JsonObject, colons_in

FAILURES: Final = ("error", "engine_error")
OUTPUTS: Final = ("engine_output", "output")  # keys of an output inside a record
NAMES: Final[tuple[tuple[str, Json], ...]] = (
    ("id", Json),
    ("test_id", Json),
    ("batch_id", Json),
    ("concern_id", str | None),
    ("archetype", str | None),
    ("metric_id", str | None),
)
_TYPES: Final[JsonMapping] = {"string": str, "strings": list[str]}
MOST_LISTED: Final = 8  # keys in a message
_EMPTY: Final = {"string": '; write `""` for an empty text', "strings": "; write `[]` for an empty list"}
_KEY: Final = re.compile(r"(unknown|missing required) field `([^`]*)`(?: - at `\$\.?([^`]*)`)?")
_OF_OUTPUT: Final = re.compile(r" - at `\$\.(?:engine_)?output\b")
_INDEX: Final = re.compile(r"\[[^\]]*\]")
_SIGNS: Final = re.compile(r"[^a-z0-9]")
Path = tuple[str, ...]


class _Tree(Struct):
    """The keys of an object: inputs with their type, metadata (None), and nested objects."""

    leaves: dict[str, str | None] = field(default_factory=dict)
    children: dict[str, _Tree] = field(default_factory=dict)

    def add(self, path: Path, kind: str | None) -> None:
        if len(path) == 1:
            self.leaves[path[0]] = kind
        else:
            self.children.setdefault(path[0], _Tree()).add(path[1:], kind)

    @property
    def input_keys(self) -> list[str]:
        inputs = [key for key, kind in self.leaves.items() if kind is not None]
        return inputs + [key for key, tree in self.children.items() if tree.input_keys]

    def struct(
        self, name: str, *, strict: bool, extra: Iterable[tuple[str, Json]] = (), optional: bool = False
    ) -> Json:
        """Return a struct type with these keys and `extra` ones. A strict type refuses any other key and, unless
        `optional`, requires the keys that hold inputs."""
        own = {key: Json if kind is None else _TYPES[kind] for key, kind in self.leaves.items()}
        own |= {key: tree.struct(f"{name}_{key}", strict=strict) for key, tree in self.children.items()}
        required = self.input_keys if strict and not optional else ()
        types = {**dict(extra), **{key: kind if strict else kind | None for key, kind in own.items()}}
        fields = [(key, kind) if key in required else (key, kind, UNSET) for key, kind in types.items()]
        return msgspec.defstruct(name, fields, kw_only=True, gc=False, forbid_unknown_fields=strict)

    def keys(self, parents: Path = ()) -> Iterator[tuple[Path, dict[str, str | None]]]:
        """Yield the path and the keys of this object and of all nested ones; the values are the types of inputs."""
        yield parents, {**self.leaves, **dict.fromkeys(self.children)}
        for key, tree in self.children.items():
            yield from tree.keys((*parents, key))


class Mistake(Struct, frozen=True):
    """A mistake in a record: the message, the path of keys, and whether it is in the output instead of the case."""

    message: str
    path: Path = ()
    is_of_output: bool = False

    def __str__(self) -> str:
        return self.message


class CaseShape:
    """Decodes the records of cases and outputs for a scorecard."""

    def __init__(self, plan: CaseScorecardPlan) -> None:
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
        # an output whose keys are next to `test_id`
        extra += [(key, object) for key in (*output.leaves, *output.children)]
        record = case.struct("Envelope", strict=strict, extra=extra, optional=True)
        self._envelope: Decoder[Json] = Decoder(record, colons=colons_in)
        self._keys = dict([*case.keys(), *output.keys(("engine_output",)), *output.keys(("output",))])
        self._keys[()] = {**dict.fromkeys(key for key, _ in extra), **self._keys[()]}
        self._paths = [(*(OUTPUTS[:1] if each.source == "output" else ()), *each.path) for each in plan.inputs]
        self._case_keys, self._output_keys = case.input_keys, output.input_keys
        self._inputs = [
            (each.name, each.source == "output", attrgetter(".".join(each.path)), each.type) for each in plan.inputs
        ]

    def decode(self, data: bytes, *, is_case: bool = True) -> tuple[Json, Json] | Mistake:
        """Return a record and the case in its `test_case` (by default the record itself), or a mistake.

        A record of an output (`is_case=False`) needs no expectations.
        """
        parents: Path = ()
        try:
            envelope = case = self._envelope.decode(data)
            if envelope.test_case is not UNSET and bytes(envelope.test_case).strip() != b"null":
                parents = ("test_case",)
                case = self._envelope.decode(bytes(envelope.test_case))
        except UNDECODED as error:
            path = (*parents, *_error_path(error))
            return Mistake(self._message(error, parents), path, _OF_OUTPUT.search(str(error)) is not None)
        mistake = self._mistake(envelope, case) if self._is_strict and is_case else None
        return mistake or (envelope, case)

    def _mistake(self, envelope: Json, case: Json) -> Mistake | None:
        """Return a missing or duplicate part of a record, or None."""
        missing = next((key for key in self._case_keys if getattr(case, key) is UNSET), None)
        if missing is not None:
            return Mistake(f"`{missing}` is missing{self._empty((), missing)}", (missing,))
        holders = [envelope] if case is envelope else [envelope, case]
        outputs = [key for holder in holders for key in self._outputs_in(holder)]
        if len(outputs) > 1:
            return Mistake(f"the case has two outputs, in `{outputs[0]}` and in `{outputs[1]}`", (outputs[1],))
        duplicates = [key for key in self._case_keys if len(holders) > 1 and getattr(envelope, key) is not UNSET]
        if not duplicates:
            return None
        return Mistake(f"`{duplicates[0]}` is outside of `test_case`, which contains the case", (duplicates[0],))

    def _outputs_in(self, holder: object) -> list[str]:
        """Return the keys of a record that hold an output; of an output's own keys only the first."""
        keys = [key for key in OUTPUTS if getattr(holder, key) not in (None, UNSET)]
        return keys + [key for key in self._output_keys if getattr(holder, key) is not UNSET][:1]

    def inline_output(self, envelope: object) -> object | Mistake | None:
        """Return the output whose keys are those of the record itself, a mistake in it, or None without any."""
        values = {key: getattr(envelope, key) for key in self._output_keys}
        values = {key: value for key, value in values.items() if value is not UNSET}
        try:
            return msgspec.convert(values, self._output) if values else None
        except msgspec.ValidationError as error:
            return Mistake(self._message(error, ()), _error_path(error), is_of_output=True)

    def inputs(self, case: Json, output: Json) -> JsonObject:
        return {
            name: _value_of(output if of_output else case, get, kind) for name, of_output, get, kind in self._inputs
        }

    def _message(self, error: Exception, parents: Path) -> str:
        """Return our message for an error of decoding; `parents` are the keys that lead to the decoded part."""
        match = _KEY.search(str(error))
        if match is None:
            return decode_message(error, parents)
        kind, key, dotted = match.groups()
        path = tuple(dotted.split(".")) if dotted else ()
        where = f" in `{'.'.join((*parents, *path))}`" if parents or path else ""
        if kind == "unknown":
            return f"unknown key `{key}`{where}{self._suggestion(key, path)}"
        return f"`{key}` is missing{where}{self._empty(path, key)}"

    def _empty(self, path: Path, key: str) -> str:
        """Return a hint how to write an empty input, or an empty string for other keys."""
        return _EMPTY.get(self._keys.get(path, {}).get(key) or "", "")

    def _suggestion(self, key: str, path: Path) -> str:
        near = _nearest(key, self._keys.get(path, ()))
        if near is not None:
            return f"; did you mean `{near}`?"
        for parents, keys in self._keys.items():
            near = _nearest(key, keys, 1.0)
            if near is not None and (parents or near != key):  # do not suggest the key itself
                return f"; did you mean `{'.'.join((*parents, near))}`?"
        read = [".".join(each) for each in self._paths if each[: len(path)] == path]
        expected = f"; the scorecard reads {ticked(read)}" if 0 < len(read) <= MOST_LISTED else ""
        return f"{expected}; list the key under `metadata` in the scorecard if it is meant"


def _error_path(error: Exception) -> Path:
    """Return the path of a decoding error, with the key that its message names."""
    message = str(error)
    path = message.partition(" - at `$")[2].rstrip("`")
    match = _KEY.search(message)
    key = (match[2],) if match else ()
    return (*filter(None, _INDEX.sub("", path).split(".")), *key)


class _Names(msgspec.Struct):
    """The names in a record, read whatever else is wrong with it."""

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


def read_names(data: bytes) -> tuple[Json, Json] | None:
    """Return the names in a record that could not be decoded, and in its case; None when it is not an object."""
    try:
        envelope = case = _NAMES.decode(data)
        if isinstance(envelope.test_case, dict):
            case = msgspec.convert(envelope.test_case, _Names)
    except UNDECODED:
        return None
    for holder in (envelope, case):
        for key in ("concern_id", "archetype", "metric_id"):
            if not isinstance(getattr(holder, key), str):
                setattr(holder, key, None)
    return envelope, case


def failure(*records: Any) -> str | None:
    """Return the engine's error in records or their outputs, or None. Null, false and empty values are not errors."""
    for record in records:
        for part in (record, *[getattr(record, key, None) for key in OUTPUTS]):
            for key in () if part is None or part is UNSET else FAILURES:
                error = part.get(key) if isinstance(part, dict) else getattr(part, key, None)
                if error is UNSET or error is None or error is False or error in ("", [], {}):
                    continue
                if isinstance(error, dict):
                    error = error.get("message") or error.get("type") or "error"
                return f"the engine failed: {' '.join(str(error).split())[:200]}"
    return None


def _value_of(record: Json, get: Callable[[Json], Json], kind: str) -> Json:
    """The value of an input in a decoded record; what is missing or null, which only the reference semantics allow, is
    empty."""
    try:
        value = get(record)
    except AttributeError:  # the object around it is missing
        value = None
    return ("" if kind == "string" else []) if value is None or value is UNSET else value


def _nearest(key: str, keys: Iterable[str], cutoff: float = 0.7) -> str | None:
    """Return the most similar of `keys`, ignoring case and punctuation, or None."""
    plain = {_SIGNS.sub("", each.lower()): each for each in keys}
    near = difflib.get_close_matches(_SIGNS.sub("", key.lower()), plain, 1, cutoff)
    return plain[near[0]] if near else None
