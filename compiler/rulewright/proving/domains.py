"""What values a variable can take, cut into cells on which a condition can't change.

A number's line is cut at the constants it is compared with: every cut is a cell of its own, and so is everything
between two neighbours. A bool and an enum have a cell for each value, a text one for each constant it is compared with
and one for any other text, a list of texts one for each choice among these. What may be absent or null has a cell for
that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal, TypeAlias

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
)  # fmt: skip
from rulewright_runtime.plan.parameters import Parameter
from rulewright_runtime.score import Score
from rulewright_runtime.values import INT_MAX, INT_MIN, NONE, UINT_MAX, Optional, UInt, Value

Kind: TypeAlias = Literal["score", "int", "uint", "double", "bool", "string", "enum", "texts"]
Path: TypeAlias = tuple[str, ...]

MOST_TEXTS: Final = 10  # that conditions may look for in one list
_WHOLE_FROM: Final = 2.0**53  # from here on doubles are further apart than ints


@dataclass(frozen=True, slots=True)
class DomainPiece:
    """The numbers from `low` to `high`: that one number when they are equal, else the open interval between them."""

    low: Fraction
    high: Fraction


UNIT: Final = (
    DomainPiece(Fraction(0), Fraction(0)),
    DomainPiece(Fraction(0), Fraction(1)),
    DomainPiece(Fraction(1), Fraction(1)),
)


@dataclass(frozen=True, slots=True)
class Absent:
    """The value of a variable that is not there: the part of its path that is missing, counted from 0."""

    part: int


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of one variable.

    A score lies on `pieces`; an int, uint or double between `low` and `high`, both included (None: whatever the type
    holds; a double without bounds may be NaN and infinite). `optional` values are wrapped in an optional that may be
    empty; `null` ones may be null; `absent` are the parts of the path that may be missing, counted from 0.
    """

    kind: Kind
    pieces: tuple[DomainPiece, ...] = UNIT
    low: Fraction | None = None
    high: Fraction | None = None
    members: tuple[str, ...] = ()
    optional: bool = False
    null: bool = False
    absent: frozenset[int] = frozenset()

    @property
    def finite(self) -> bool:
        """Whether every cell is a single value."""
        return self.kind in ("bool", "enum")

    def cells(self, cuts: Iterable[Value]) -> list[Value]:
        """One value of each cell, when the line is cut at `cuts` (numbers as Fractions, or texts), in order."""
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
                known = list(self.members) or _texts({cut for cut in cuts if isinstance(cut, str)})
                return _choices(known)
            case "score":
                return [Score(v.numerator, v.denominator) for v in _on_pieces(self.pieces, _numbers(cuts))]
            case "int" | "uint":
                low, high = (INT_MIN, INT_MAX) if self.kind == "int" else (0, UINT_MAX)
                low = low if self.low is None else max(low, math.ceil(self.low))
                high = high if self.high is None else min(high, math.floor(self.high))
                whole = _integers(low, high, _numbers(cuts))
                return whole if self.kind == "int" else map(UInt, whole)
        return _doubles(self.low, self.high, _numbers(cuts))


def score(*, absent: bool = False, pieces: tuple[DomainPiece, ...] = UNIT) -> Domain:
    """A score from 0 to 1, or what of it the pieces leave."""
    return Domain("score", pieces=pieces, absent=_first(absent))


def whole(low: int | None = None, high: int | None = None, *, absent: bool = False) -> Domain:
    """An int from `low` to `high`."""
    bounds = [None if bound is None else Fraction(bound) for bound in (low, high)]
    return Domain("int", low=bounds[0], high=bounds[1], absent=_first(absent))


def number(low: float | None = None, high: float | None = None, *, absent: bool = False) -> Domain:
    """A double from `low` to `high`; without any bound also NaN and the infinities."""
    bounds = [None if bound is None else Fraction(bound) for bound in (low, high)]
    return Domain("double", low=bounds[0], high=bounds[1], absent=_first(absent))


def boolean(*, absent: bool = False) -> Domain:
    """True or false."""
    return Domain("bool", absent=_first(absent))


def text(*, absent: bool = False) -> Domain:
    """Any text."""
    return Domain("string", absent=_first(absent))


def _first(absent: bool) -> frozenset[int]:
    return frozenset({0}) if absent else frozenset()


@dataclass(frozen=True, slots=True)
class Domains:
    """The domains of a place: from the static `types` of its variables, and for some paths `known` more exactly."""

    types: Mapping[str, Type] = field(default_factory=dict)
    known: Mapping[Path, Domain] = field(default_factory=dict)

    @classmethod
    def of(cls, **known: Domain) -> Domains:
        """Domains by the names of variables."""
        return cls({}, {(name,): domain for name, domain in known.items()})

    def find(self, path: Path) -> Domain | None:
        """The domain of what stands at a path; None when it is not a single value or nothing is known of it."""
        if path in self.known:
            return self.known[path]
        here: Type | None = self.types.get(path[0])
        absent: set[int] = set()
        for part, name in enumerate(path[1:], start=1):
            match here:
                case RecordType() if name in here.fields:
                    absent |= {part} if name in here.optional else set()
                    here = here.fields[name]
                case MapType(key=key) if key == STRING:
                    absent.add(part)
                    here = here.value
                case _:
                    return None
        domain = None if here is None else domain_of(here)
        return replace(domain, absent=frozenset(absent)) if domain is not None and absent else domain


def domain_of(t: Type) -> Domain | None:
    """The domain of a type; None for records, maps, most lists, `dyn` and moments."""
    match t:
        case EnumType(members=members):
            return Domain("enum", members=members)
        case OptionalType(value=inner):
            domain = domain_of(inner)
            return None if domain is None or domain.optional or domain.null else replace(domain, optional=True)
        case WrapperType(of=inner):
            domain = domain_of(inner)
            return None if domain is None else replace(domain, null=True)
        case ListType(element=EnumType(members=members)) if len(members) <= MOST_TEXTS:
            return Domain("texts", members=members)
        case ListType(element=element) if element == STRING:
            return Domain("texts")
    simple: Mapping[Type, Kind] = {
        SCORE: "score", INT: "int", UINT: "uint", DOUBLE: "double", BOOL: "bool", STRING: "string",
    }  # fmt: skip
    kind = simple.get(t)
    return None if kind is None else Domain(kind)


def domain_of_parameter(parameter: Parameter) -> Domain:
    """What a plan's parameter can be set to."""
    low, high = (None if bound is None else Fraction(str(bound)) for bound in (parameter.minimum, parameter.maximum))
    match parameter.type:
        case "bool":
            return boolean()
        case "score":
            least, most = max(Fraction(0), low or Fraction(0)), min(Fraction(1), Fraction(1) if high is None else high)
            return score(
                pieces=tuple(
                    dict.fromkeys((DomainPiece(least, least), DomainPiece(least, most), DomainPiece(most, most)))
                )
            )
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


def _choices(texts: list[str]) -> list[list[str]]:
    """The lists that hold each choice among the texts once, the empty one first."""
    return [[text for at, text in enumerate(texts) if number >> at & 1] for number in range(1 << len(texts))]


def _on_pieces(pieces: tuple[DomainPiece, ...], cuts: list[Fraction]) -> list[Fraction]:
    """A number of every place among the cuts that the pieces reach."""
    found: set[Fraction] = set()
    for piece in pieces:
        if piece.low == piece.high:
            found.add(piece.low)
            continue
        inside = [cut for cut in cuts if piece.low < cut < piece.high]
        found.update(inside)
        found.update(between(low, high) for low, high in pairwise([piece.low, *inside, piece.high]))
    return sorted(found)


def between(low: Fraction, high: Fraction) -> Fraction:
    """A number strictly between two others with as few decimals as possible."""
    power = 1
    while True:
        power *= 10
        step = math.floor(low * power) + 1
        last = math.ceil(high * power) - 1
        if step <= last:
            return Fraction((step + last) // 2, power)


def _integers(low: int, high: int, cuts: list[Fraction]) -> list[int]:
    """An int of every place among the cuts, from `low` to `high`."""
    found: set[int] = set()
    edge = low
    for cut in cuts:
        before, after = math.ceil(cut) - 1, math.floor(cut) + 1
        if edge <= min(before, high):
            found.add(_plain(edge, min(before, high)))
        if cut.denominator == 1 and low <= cut <= high:
            found.add(int(cut))
        edge = max(edge, after)
    if edge <= high:
        found.add(_plain(edge, high))
    return sorted(found)


def wholes_at(value: float) -> tuple[int, int]:
    """The least and the greatest int that count as `value` or more, and as `value` or less, beside a double: an int
    counts as its nearest double. For what no int counts as, the first is the greater one."""
    low, high = math.ceil(value), math.floor(value)
    if not _WHOLE_FROM <= abs(value) <= UINT_MAX:
        return low, high
    before, after = (Fraction(math.nextafter(value, to)) for to in (-math.inf, math.inf))
    low, high = math.ceil((low + before) / 2), math.floor((high + after) / 2)
    return low + (float(low) != value), high - (float(high) != value)


def _plain(low: int, high: int) -> int:
    """The int nearest to 0 from `low` to `high`."""
    return min(max(0, low), high)


def _doubles(low: Fraction | None, high: Fraction | None, cuts: list[Fraction]) -> Iterator[float]:
    """A double of every place among the cuts; NaN and the infinities when there are no bounds."""
    largest = Fraction(math.nextafter(math.inf, 0))
    least = max(-largest, low) if low is not None else -largest
    most = min(largest, high) if high is not None else largest
    if low is None:
        yield -math.inf
    edges = list(dict.fromkeys((least, *(cut for cut in cuts if least < cut < most), most)))
    for at, edge in enumerate(edges):
        if at and (between_them := _double_between(edges[at - 1], edge)) is not None:
            yield between_them
        if Fraction(float(edge)) == edge:
            yield float(edge)
    if high is None:
        yield math.inf
    if low is None and high is None:
        yield math.nan


def _double_between(low: Fraction, high: Fraction) -> float | None:
    """A double strictly between two numbers, 0 or one of few digits where that is possible."""
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
