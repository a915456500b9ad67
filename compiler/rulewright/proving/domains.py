"""The domains of variables, divided into cells on which a condition can't change.

The number line is cut at the constants that a number is compared with: every cut is a cell, and so is every interval
between neighbouring cuts. A bool and an enum have a cell for each value, a text has one for each constant it is
compared with and one for all other texts, a list of texts has one for each subset of these. Absent and null have a
cell of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from rulewright.expression.types import (
    BOOL,
    DOUBLE,
    INT,
    SCORE,
    STRING,
    UINT,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    WrapperType,
)
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scorecard import Parameter
from rulewright_runtime.score import Score
from rulewright_runtime.values import INT_MAX, INT_MIN, NONE, UINT_MAX, Optional, UInt, Value

Kind: TypeAlias = Literal["score", "int", "uint", "double", "bool", "string", "enum", "texts"]
Path: TypeAlias = tuple[str, ...]

MAX_TEXTS: Final = 10  # constants that conditions may search for in one list
_DOUBLES_SPARSE_FROM: Final = 2.0**53  # from here on, doubles are further apart than ints


class NumberRange(Struct, frozen=True):
    """An interval of numbers from `low` to `high`, each end open or closed."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @classmethod
    def inside(cls, low: Fraction, high: Fraction) -> NumberRange:
        """The open interval between two numbers; if they are equal, that number alone."""
        return cls(low, high, low < high, low < high)

    @property
    def is_empty(self) -> bool:
        """Whether the interval contains no number."""
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    @property
    def whole(self) -> int | None:
        """The int nearest to 0 in the interval; None if it contains none."""
        low = math.floor(self.low) + 1 if self.low_open else math.ceil(self.low)
        high = math.ceil(self.high) - 1 if self.high_open else math.floor(self.high)
        return min(max(0, low), high) if low <= high else None

    def holds(self, number: Fraction) -> bool:
        """Whether a number is in the interval."""
        return not self.meets(NumberRange(number, number)).is_empty

    def times(self, factor: Fraction) -> NumberRange:
        """The interval times a factor other than 0."""
        ends = [(self.low * factor, self.low_open), (self.high * factor, self.high_open)]
        (low, low_open), (high, high_open) = ends if factor > 0 else reversed(ends)
        return NumberRange(low, high, low_open, high_open)

    def plus(self, other: NumberRange) -> NumberRange:
        """The interval of the sums of a number of each."""
        opens = self.low_open or other.low_open, self.high_open or other.high_open
        return NumberRange(self.low + other.low, self.high + other.high, *opens)

    def meets(self, other: NumberRange) -> NumberRange:
        """The intersection of both intervals."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return NumberRange(low, high, low_open, not closed)

    def joins(self, other: NumberRange) -> NumberRange:
        """The smallest interval that contains both."""
        low, low_open = min((self.low, self.low_open), (other.low, other.low_open))
        high, closed = max((self.high, not self.high_open), (other.high, not other.high_open))
        return NumberRange(low, high, low_open, not closed)


def divide(bounds: NumberRange, cuts: Iterable[Fraction]) -> list[NumberRange]:
    """The cells of an interval divided at the cuts, in order: every cut alone, and the open intervals between."""
    inner = ((cut, True) for cut in sorted(set(cuts)) if bounds.low <= cut <= bounds.high)
    cells: list[NumberRange] = []
    for (low, low_is_cut), (high, high_is_cut) in pairwise([(bounds.low, False), *inner, (bounds.high, False)]):
        cells += [NumberRange(low, low)] * low_is_cut
        cells.append(NumberRange(low, high, low_is_cut, high_is_cut))
    return [cell for each in cells if not (cell := each.meets(bounds)).is_empty]


def closed(low: Fraction, high: Fraction) -> tuple[NumberRange, ...]:
    """The numbers from `low` to `high`, each end alone."""
    return tuple(dict.fromkeys(map(NumberRange.inside, (low, low, high), (low, high, high))))


UNIT: Final = closed(Fraction(0), Fraction(1))


class Absent(Struct, frozen=True):
    """The value of an absent variable: the index of the path part that is missing."""

    part: int


class Domain(Struct, frozen=True):
    """The values of one variable.

    A score is on `pieces`; an int, uint or double between `low` and `high`, both included (None is the bound of the
    type; a double without bounds may be infinite and, unless `nan` is False, NaN). `optional` values are wrapped in an
    optional that may be empty; `null` ones may be null; `absent` are the indices of the path parts that may be missing.
    """

    kind: Kind
    pieces: tuple[NumberRange, ...] = UNIT
    low: Fraction | None = None
    high: Fraction | None = None
    nan: bool = True
    members: tuple[str, ...] = ()
    optional: bool = False
    null: bool = False
    absent: frozenset[int] = frozenset()

    @property
    def finite(self) -> bool:
        """Whether every cell is a single value."""
        return self.kind in ("bool", "enum")

    def cells(self, cuts: Iterable[Value]) -> list[Value]:
        """One value of each cell, for `cuts` that are Fractions or texts, in order."""
        values = [Optional(v) for v in self._values(cuts)] if self.optional else list(self._values(cuts))
        if self.optional:
            values.append(NONE)
        if self.null:
            values.append(None)
        values += map(Absent, sorted(self.absent, reverse=True))
        return values

    def _values(self, cuts: Iterable[Value]) -> Iterable[Value]:
        match self.kind:
            case "bool":
                return (True, False)
            case "enum":
                return self.members
            case "string":
                return _texts({cut for cut in cuts if isinstance(cut, str)})
            case "texts":
                texts = list(self.members) or _texts({cut for cut in cuts if isinstance(cut, str)})
                subsets = range(1 << len(texts))  # the empty one first
                return [[text for at, text in enumerate(texts) if number >> at & 1] for number in subsets]
            case "score":
                return [Score(each.numerator, each.denominator) for each in _on_pieces(self.pieces, _numbers(cuts))]
            case "int" | "uint":
                low, high = (INT_MIN, INT_MAX) if self.kind == "int" else (0, UINT_MAX)
                low = low if self.low is None else max(low, math.ceil(self.low))
                high = high if self.high is None else min(high, math.floor(self.high))
                spans = divide(NumberRange(Fraction(low), Fraction(high)), _numbers(cuts))
                whole = [each.whole for each in spans if each.whole is not None]
                return whole if self.kind == "int" else map(UInt, whole)
        found = _doubles(self.low, self.high, _numbers(cuts))
        return found if self.nan else (each for each in found if not math.isnan(each))


def score(*, absent: bool = False, pieces: tuple[NumberRange, ...] = UNIT) -> Domain:
    """A score from 0 to 1, or only on the pieces."""
    return Domain("score", pieces=pieces, absent=_first(absent))


def whole(low: int | None = None, high: int | None = None, *, absent: bool = False) -> Domain:
    bounds = [None if bound is None else Fraction(bound) for bound in (low, high)]
    return Domain("int", low=bounds[0], high=bounds[1], absent=_first(absent))


def number(low: float | None = None, high: float | None = None, *, absent: bool = False) -> Domain:
    """A double from `low` to `high`; without bounds also NaN and the infinities."""
    bounds = [None if bound is None else Fraction(bound) for bound in (low, high)]
    return Domain("double", low=bounds[0], high=bounds[1], absent=_first(absent))


def boolean(*, absent: bool = False) -> Domain:
    return Domain("bool", absent=_first(absent))


def text(*, absent: bool = False) -> Domain:
    return Domain("string", absent=_first(absent))


def _first(absent: bool) -> frozenset[int]:
    return frozenset({0}) if absent else frozenset()


class Domains(Struct, frozen=True):
    """The domains of variables: from their static `types`, or more exact ones in `known` for some paths. Some variables
    stand for parts of conditions (`standing`) that read other variables, and some may be `missing` as a whole. Where a
    path has a value, so have the parts of conditions that it has in `implied`, by their source text. The lists that are
    `filled` have at least one item. Of the numbers of an `ordered` pair the first is at most the second."""

    types: Mapping[str, Type] = field(default_factory=dict)
    known: Mapping[Path, Domain] = field(default_factory=dict)
    standing: Mapping[Path, Program] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    implied: Mapping[Path, frozenset[Path]] = field(default_factory=dict)
    filled: frozenset[Path] = frozenset()
    ordered: tuple[tuple[Path, Path], ...] = ()

    def find(self, path: Path) -> Domain | None:
        """The domain of the value at a path; None if it isn't a scalar or its type is unknown."""
        type_, absent = self.declared(path)
        known = self.known.get(path)
        domain = known if known is not None or type_ is None else domain_of(type_)
        absent = absent if known is None else known.absent | (absent & {0})
        return replace(domain, absent=absent) if domain is not None and absent else domain

    def declared(self, path: Path) -> tuple[Type | None, frozenset[int]]:
        """The static type of the value at a path, and the indices of the path parts that may be missing."""
        type_: Type | None = self.types.get(path[0])
        absent = {0} if path[0] in self.missing else set[int]()
        for part, name in enumerate(path[1:], start=1):
            match type_:
                case RecordType() if name in type_.fields:
                    absent |= {part} if name in type_.optional else set()
                    type_ = type_.fields[name]
                case MapType(key=key) if key == STRING:
                    absent.add(part)
                    type_ = type_.value
                case _:
                    return None, frozenset()
        return type_, frozenset(absent)


def domain_of(t: Type) -> Domain | None:
    """The domain of a type; None for records, maps, most lists, `dyn` and timestamps."""
    match t:
        case EnumType(members=members):
            return Domain("enum", members=members)
        case OptionalType(value=inner):
            domain = domain_of(inner)
            return None if domain is None or domain.optional or domain.null else replace(domain, optional=True)
        case WrapperType(of=inner):
            domain = domain_of(inner)
            return None if domain is None else replace(domain, null=True)
        case ListType(element=EnumType(members=members)) if len(members) <= MAX_TEXTS:
            return Domain("texts", members=members)
        case ListType(element=element) if element == STRING:
            return Domain("texts")
    simple: Mapping[Type, Kind] = {
        SCORE: "score", INT: "int", UINT: "uint", DOUBLE: "double", BOOL: "bool", STRING: "string",
    }  # fmt: skip
    kind = simple.get(t)
    return None if kind is None else Domain(kind)


def domain_of_parameter(parameter: Parameter) -> Domain:
    """The domain of a plan's parameter."""
    low, high = (None if bound is None else Fraction(str(bound)) for bound in (parameter.minimum, parameter.maximum))
    match parameter.type:
        case "bool":
            return boolean()
        case "score":
            least, most = max(Fraction(0), low or Fraction(0)), min(Fraction(1), Fraction(1) if high is None else high)
            return score(pieces=closed(least, most))
        case "integer":
            return Domain("int", low=low, high=high)
        case "number":
            return Domain("double", low=low, high=high)
    return text()


def _numbers(cuts: Iterable[Value]) -> list[Fraction]:
    return sorted({cut for cut in cuts if isinstance(cut, Fraction)})


def _texts(constants: set[str]) -> list[str]:
    other = "another text"
    while other in constants:
        other += "'"
    return [*sorted(constants), other]


def _on_pieces(pieces: tuple[NumberRange, ...], cuts: list[Fraction]) -> list[Fraction]:
    """A number of every cell of the pieces."""
    spans = [span for piece in pieces for span in divide(piece, cuts)]
    return sorted({span.low if span.low == span.high else between(span.low, span.high) for span in spans})


def between(low: Fraction, high: Fraction) -> Fraction:
    """The number strictly between two others with the fewest decimals."""
    power = 1
    while True:
        power *= 10
        step = math.floor(low * power) + 1
        last = math.ceil(high * power) - 1
        if step <= last:
            return Fraction((step + last) // 2, power)


def wholes_at(value: float) -> tuple[int, int]:
    """The least int that compares as `value` or more, and the greatest that compares as `value` or less: an int is
    compared as its nearest double. If no int compares as equal, the first is greater than the second."""
    low, high = math.ceil(value), math.floor(value)
    if not _DOUBLES_SPARSE_FROM <= abs(value) <= float(UINT_MAX):
        return low, high
    before, after = (Fraction(math.nextafter(value, to)) for to in (-math.inf, math.inf))
    low, high = math.ceil((low + before) / 2), math.floor((high + after) / 2)
    return low + (float(low) != value), high - (float(high) != value)


def _doubles(low: Fraction | None, high: Fraction | None, cuts: list[Fraction]) -> Iterator[float]:
    """Yield a double of every cell; without bounds also NaN and the infinities."""
    largest = Fraction(math.nextafter(math.inf, 0))
    least = max(-largest, low) if low is not None else -largest
    most = min(largest, high) if high is not None else largest
    if low is None:
        yield -math.inf
    for span in divide(NumberRange(least, most), [least, *cuts, most]):
        if (value := _double_in(span)) is not None:
            yield value
    if high is None:
        yield math.inf
    if low is None and high is None:
        yield math.nan


def _double_in(span: NumberRange) -> float | None:
    """A double in an interval without its ends, 0 or one with few digits if possible, or the only number of another
    one; None if there is none."""
    low, high = span.low, span.high
    if low == high:
        return float(low) if Fraction(float(low)) == low else None
    if low < 0 < high:
        return 0.0
    for value in (float(between(low, high)) if high - low > Fraction(1, 10**17) else float(low), _after(low)):
        if low < Fraction(value) < high:
            return value
    return None


def _after(low: Fraction) -> float:
    """The least double above a number."""
    value = float(low)
    return value if Fraction(value) > low else math.nextafter(value, math.inf)
