"""The values of expressions: the CEL types that Python lacks, and equality and order across types.

| CEL | here | CEL | here |
|---|---|---|---|
| null_type, bool, string, bytes | None, bool, str, bytes | list | list or tuple |
| int, double | int, float | map | dict with string keys, or `Map` |
| uint | `UInt` | type | `TypeValue` |
| timestamp, duration | `Timestamp`, `Duration` | optional_type | `Optional` |
| score (profile) | `Score` | | |
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import msgspec

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.score import Score, leave

Value: TypeAlias = Any  # a type of the table above, checked by each operation at run time
INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1
NANOS: Final = 1_000_000_000
TIMESTAMP_MIN: Final = -62_135_596_800 * NANOS  # 0001-01-01T00:00:00Z
TIMESTAMP_MAX: Final = 253_402_300_800 * NANOS - 1  # 9999-12-31T23:59:59.999999999Z
DURATION_MAX: Final = 315_576_000_000 * NANOS  # the limit of google.protobuf.Duration
EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class UInt(int):
    """An unsigned 64-bit integer of CEL: an int in Python, a separate type in expressions."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


class TypeValue(msgspec.Struct, frozen=True):
    """A type as a value: `name` is its CEL name, such as `int` or `google.protobuf.Timestamp`."""

    name: str


class Timestamp(msgspec.Struct, frozen=True, order=True):
    """A point in time: nanoseconds since 1970-01-01T00:00:00Z, within the years 1 to 9999."""

    nanos: int

    def __post_init__(self) -> None:
        """Raise EvaluationError for a value out of range (CEL spec, timestamps)."""
        if not TIMESTAMP_MIN <= self.nanos <= TIMESTAMP_MAX:
            raise EvaluationError("timestamp out of range", "range")

    @classmethod
    def from_datetime(cls, moment: dt.datetime) -> Timestamp:
        """Convert an aware datetime; raises EvaluationError for a naive one."""
        if moment.tzinfo is None:
            raise EvaluationError("a timestamp needs a time zone", "range")
        return cls(Duration.from_timedelta(moment - EPOCH).nanos)

    def to_datetime(self) -> dt.datetime:
        """An aware datetime in UTC, truncated to microseconds."""
        return EPOCH + dt.timedelta(microseconds=self.nanos // 1000)


class Duration(msgspec.Struct, frozen=True, order=True):
    """A span of time in nanoseconds."""

    nanos: int

    def __post_init__(self) -> None:
        """Raise EvaluationError for a value out of range."""
        if not -DURATION_MAX <= self.nanos <= DURATION_MAX:
            raise EvaluationError("duration out of range", "range")

    @classmethod
    def from_timedelta(cls, span: dt.timedelta) -> Duration:
        return cls(((span.days * 86400 + span.seconds) * 1_000_000 + span.microseconds) * 1000)

    def to_timedelta(self) -> dt.timedelta:
        """A timedelta, truncated towards zero to microseconds."""
        micros = abs(self.nanos) // 1000
        return dt.timedelta(microseconds=micros if self.nanos >= 0 else -micros)


class Optional:
    """`optional.of(value)`, or `NONE`."""

    __slots__ = ("present", "value")

    def __init__(self, value: object = None, present: bool = True) -> None:
        self.value = value
        self.present = present

    def __eq__(self, other: object) -> bool:
        """As CEL's `==`."""
        return isinstance(other, Optional) and equal(self, other)

    def __hash__(self) -> int:
        """A coarse hash, because optionals are rarely used as keys."""
        return hash(("optional", self.present))

    def __repr__(self) -> str:
        return f"optional.of({self.value!r})" if self.present else "optional.none()"


NONE: Final = Optional(None, False)

_Key = tuple[str, object]
_KINDS: Final = {str: "s", bool: "b", int: "i", UInt: "u"}


def _key(key: object) -> _Key | None:
    """The identity of a map key, because Python treats 1, 1u, 1.0 and True as the same key; None for other types."""
    kind = _KINDS.get(key.__class__)
    return None if kind is None else (kind, key)


class Map(Mapping[object, object]):
    """A map whose keys CEL distinguishes but Python would merge. A number matches its own type first, then an equal
    number of another type."""

    __slots__ = ("_entries",)

    def __init__(self, pairs: Sequence[tuple[object, object]] = ()) -> None:
        """Raises EvaluationError for a repeated key and for a key that is not a bool, int, uint or string."""
        entries: dict[_Key, tuple[object, object]] = {}
        for key, value in pairs:
            identity = _key(key)
            if identity is None:
                raise EvaluationError(f"a map key can't be a {cel_type_name(key)}", "unsupported_key_type")
            if identity in entries:
                raise EvaluationError(f"repeated map key `{key}`", "repeated_key")
            entries[identity] = (key, value)
        self._entries = entries

    def _entry(self, key: object) -> tuple[object, object] | None:
        identity = _key(key)
        if identity is not None:
            entry = self._entries.get(identity)
            if entry is not None:
                return entry
        if is_number(key) and not isinstance(key, Score) and key == key:
            return self._entries.get(("i", key)) or self._entries.get(("u", key))
        return None

    def __getitem__(self, key: object) -> Value:
        """The value at `key` under CEL's equality; raises KeyError if there is none."""
        entry = self._entry(key)
        if entry is None:
            raise KeyError(key)
        return entry[1]

    def __contains__(self, key: object) -> bool:
        return self._entry(key) is not None

    def __iter__(self) -> Iterator[object]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> Value:
        """The pairs, in order."""
        return self._entries.values()

    def __repr__(self) -> str:
        return "Map(" + repr(list(self.items())) + ")"


def make_map(pairs: Sequence[tuple[object, object]]) -> Mapping[Value, Value]:
    """The value of a map literal: a dict if every key is a string, else a `Map`. Raises EvaluationError for a repeated
    key."""
    if all(key.__class__ is str for key, _ in pairs):
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
    return Map(pairs)


_MISSING: Final = object()


def find(mapping: Mapping[Value, Value], key: object) -> Optional:
    """The entry of a map (a `Map` or a host dict) under CEL's equality of keys, or `NONE`."""
    try:
        value = mapping.get(key, _MISSING)
    except TypeError:
        return NONE
    if value is _MISSING:
        return NONE
    if key.__class__ is not str and mapping.__class__ is dict and key in (0, 1):  # Python takes a bool for a number
        wants_bool = isinstance(key, bool)
        return Optional(value) if any(isinstance(k, bool) == wants_bool and k == key for k in mapping) else NONE
    return Optional(value)


_TYPE_NAMES: Final[Mapping[type, str]] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    tuple: "list",
    dict: "map",
    Map: "map",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
    Optional: "optional_type",
    Score: "score",
}


def cel_type_name(value: object) -> str:
    """The CEL name of the type of `value`; `unknown` for a type that the language lacks."""
    name = _TYPE_NAMES.get(value.__class__)
    if name is not None:
        return name
    for kind in (bool, int, float, str, bytes, list, tuple):
        if isinstance(value, kind):
            return _TYPE_NAMES[kind]
    return "map" if isinstance(value, Mapping) else "unknown"


def equal(left: object, right: object) -> bool:
    """CEL's `==` on any two values: numbers compare across types, values of other different types are unequal, NaN is
    unequal to everything. Raises EvaluationError only for a value that is too large."""
    a, b = left.__class__, right.__class__
    if a is b and a in _PLAIN:
        return bool(left == right)
    return _equal_deep(left, right)


_PLAIN: Final = frozenset({int, float, str, bool, bytes, type(None), UInt, Timestamp, Duration, TypeValue, Score})
MAX_DEPTH: Final = 250  # nested lists and maps, as an expression may write them
_STEPS: Final = 2_000_000


def _equal_deep(left: object, right: object) -> bool:
    pending = [(left, right)]
    for _ in range(_STEPS):
        if not pending:
            return True
        left, right = pending.pop()
        if isinstance(left, (list, tuple)):
            if not isinstance(right, (list, tuple)) or len(left) != len(right):
                return False
            for x, y in zip(left, right, strict=True):
                if x.__class__ is not y.__class__ or x.__class__ not in _PLAIN:
                    pending.append((x, y))
                elif x != y:
                    return False
        elif isinstance(left, Mapping):
            if not isinstance(right, Mapping) or len(left) != len(right):
                return False
            both_ways = Map in (left.__class__, right.__class__)  # of the keys 1 and 1u, another map may have one
            for one, two in ((left, right), (right, left)) if both_ways else ((left, right),):
                for key, value in one.items():
                    other = find(two, key)
                    if not other.present:
                        return False
                    pending.append((value, other.value))
        elif isinstance(left, Optional):
            if not isinstance(right, Optional) or left.present != right.present:
                return False
            if left.present:
                pending.append((left.value, right.value))
        elif not _equal_leaves(left, right):
            return False
    raise too_large()


def _equal_leaves(left: object, right: object) -> bool:
    if left.__class__ is right.__class__:
        return bool(left == right)
    if not is_number(left) or not is_number(right):
        return False
    left, right = _alike(left, right)
    return bool(left == right)


def too_large() -> EvaluationError:
    return EvaluationError("a value is nested too deeply or too large", "limit")


def is_number(value: object) -> bool:
    """Whether `value` is an int, uint, double or score; False for a bool."""
    return isinstance(value, (int, float, Score)) and value.__class__ is not bool


def comparable(left: object, right: object) -> bool:
    """Whether `<` and `<=` are defined between the two: two numbers, or two values of one ordered type."""
    a, b = left.__class__, right.__class__
    if a is b:
        return a in _ORDERED
    return is_number(left) and is_number(right)


_ORDERED: Final = frozenset({int, float, str, bool, bytes, UInt, Timestamp, Duration, Score})


def less(left: Value, right: Value) -> bool:
    """CEL's `<`; raises EvaluationError `no_such_overload` for types that have no order."""
    if not comparable(left, right):
        raise no_overload("_<_", left, right)
    if left.__class__ is not right.__class__:
        left, right = _alike(left, right)
    return bool(left < right)


def less_equal(left: Value, right: Value) -> bool:
    """CEL's `<=`. Raises EvaluationError."""
    if not comparable(left, right):
        raise no_overload("_<=_", left, right)
    if left.__class__ is not right.__class__:
        left, right = _alike(left, right)
    return bool(left <= right)


def _alike(left: object, right: object) -> tuple[object, object]:
    """Two numbers to compare: an integer compared with a double becomes the nearest double, as in Google's engines."""
    try:
        if left.__class__ is float and isinstance(right, int):
            return left, float(right)
        if right.__class__ is float and isinstance(left, int):
            return float(left), right
    except OverflowError:  # a host integer too large for a double
        pass
    return left, right


def no_overload(function: str, *args: object) -> EvaluationError:
    """The error for a function without an overload for these types."""
    kinds = ", ".join(cel_type_name(a) for a in args)
    return EvaluationError(f"found no matching overload for `{function}` applied to ({kinds})", "no_such_overload")


def from_host(value: object) -> object:
    """Convert a Python value to a value of the language: datetimes, timedeltas and fractions, also in containers.
    Raises EvaluationError for a value that is too large."""
    return _converted(value, _leaf_from_host)


def holds_nan(value: object) -> bool:
    """Whether a value of the language is NaN or contains it."""
    if isinstance(value, Mapping):
        return any(map(holds_nan, value.values()))
    return any(map(holds_nan, value)) if isinstance(value, list) else value != value


def to_host(value: object) -> object:
    """Convert a result to Python values: datetimes, timedeltas, and scores as floats in [0, 1]. Raises EvaluationError
    for a score out of range and for a value that is too large."""
    return _converted(value, _leaf_to_host)


def _converted(value: object, leaf: Callable[[object], object]) -> object:
    """The value with every part that is not a container converted by `leaf`. The limit of steps bounds the traversal of
    shared parts."""
    steps = _STEPS

    def convert(value: object, depth: int) -> object:
        nonlocal steps
        if not isinstance(value, (list, tuple, Mapping, Optional)):
            return leaf(value)
        steps -= 1
        if depth > MAX_DEPTH or steps < 0:
            raise too_large()
        if isinstance(value, Mapping):
            return make_map([(convert(key, depth), convert(item, depth + 1)) for key, item in value.items()])
        if isinstance(value, Optional):
            return Optional(convert(value.value, depth + 1)) if value.present else value
        return [convert(item, depth + 1) for item in value]

    try:
        return convert(value, 0)
    except RecursionError:
        raise too_large() from None


def _leaf_from_host(value: object) -> object:
    if isinstance(value, dt.datetime):
        return Timestamp.from_datetime(value)
    if isinstance(value, dt.timedelta):
        return Duration.from_timedelta(value)
    if isinstance(value, Fraction):
        return Score(value.numerator, value.denominator)
    if isinstance(value, bytearray):
        return bytes(value)
    if type(value).__name__ == "TypeValue" and not isinstance(value, TypeValue):
        return TypeValue(str(getattr(value, "name", "")))
    return value


def _leaf_to_host(value: object) -> object:
    if isinstance(value, Timestamp):
        return value.to_datetime()
    if isinstance(value, Duration):
        return value.to_timedelta()
    return leave(value) if isinstance(value, Score) else value
