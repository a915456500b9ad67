"""The exact number type of the profile: a rational with input and output in [0, 1].

An input is read as the decimal of its shortest written form (`0.1` is one tenth), stays exact through arithmetic, and
is rounded once, on output. Inputs and outputs are in [0, 1]; intermediate values may be outside.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from rulewright_runtime.errors import EvaluationError

MAX_BITS: Final = 4096
Exact: TypeAlias = "Score | int | float | Fraction"


class Score:
    """An exact, immutable rational in lowest terms."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int = 1) -> None:
        """Raises EvaluationError for a zero denominator and for more than `MAX_BITS` bits."""
        if denominator == 0:
            raise EvaluationError("a score divided by zero", "divide_by_zero")
        divisor = math.gcd(numerator, denominator)
        if denominator < 0:
            divisor = -divisor
        if divisor != 1:
            numerator, denominator = numerator // divisor, denominator // divisor
        if denominator.bit_length() > MAX_BITS or numerator.bit_length() > MAX_BITS:
            raise EvaluationError(f"an exact score needs more than {MAX_BITS} bits", "limit")
        self.numerator: int = numerator
        self.denominator: int = denominator

    def __repr__(self) -> str:
        """As written in plans: `4/5`."""
        return f"Score({self})"

    def __str__(self) -> str:
        """`4/5`, the tagged literal of the instruction set."""
        return f"{self.numerator}/{self.denominator}"

    def __hash__(self) -> int:
        """Equal to the hash of the equal int or fraction."""
        return hash(Fraction(self.numerator, self.denominator))

    def __eq__(self, other: object) -> bool:
        """Whether the value is equal, also to the exact value of a number; never to a bool."""
        pair = _pair_or_none(other)
        return pair is not None and pair[0] * self.denominator == self.numerator * pair[1]

    def __lt__(self, other: Exact) -> bool:
        """Exact comparison, cross-wise."""
        n, d = exact_pair(other)
        return self.numerator * d < n * self.denominator

    def __le__(self, other: Exact) -> bool:
        """Exact comparison, cross-wise."""
        n, d = exact_pair(other)
        return self.numerator * d <= n * self.denominator

    def __gt__(self, other: Exact) -> bool:
        """Exact comparison, cross-wise."""
        n, d = exact_pair(other)
        return self.numerator * d > n * self.denominator

    def __ge__(self, other: Exact) -> bool:
        """Exact comparison, cross-wise."""
        n, d = exact_pair(other)
        return self.numerator * d >= n * self.denominator

    def __neg__(self) -> Score:
        """The negative."""
        return Score(-self.numerator, self.denominator)

    def __float__(self) -> float:
        """The nearest double, rounded once; no check of the interval (`leave` checks)."""
        try:
            return self.numerator / self.denominator
        except OverflowError:
            raise EvaluationError("a score is out of the range of a double", "overflow") from None


def parse_score(text: str) -> Score:
    """The score written as `4/5`, `0.8` or `1e-3`; any size. Raises EvaluationError for anything else."""
    try:
        if "/" in text:
            top, _, bottom = text.partition("/")
            return Score(int(top), int(bottom))
        value = Decimal(text)
        if not value.is_finite() or abs(value.adjusted()) > MAX_BITS:
            raise ValueError
        return Score(*value.as_integer_ratio())
    except (ValueError, ArithmeticError):
        raise EvaluationError(f"`{text}` is not a score", "not_a_score") from None


@lru_cache(maxsize=4096)
def _decimal_pair(value: float) -> tuple[int, int]:
    return Decimal(repr(value)).as_integer_ratio()


def _pair_or_none(value: object) -> tuple[int, int] | None:
    if isinstance(value, float):
        return _decimal_pair(value) if math.isfinite(value) else None
    if isinstance(value, int):
        return None if isinstance(value, bool) else (int(value), 1)
    return (value.numerator, value.denominator) if isinstance(value, (Score, Fraction)) else None


def exact_pair(value: object) -> tuple[int, int]:
    """Numerator and denominator of a number's exact value; a double is the decimal of its shortest written form.

    Raises EvaluationError for NaN, infinity and anything that is not a number.
    """
    pair = _pair_or_none(value)
    if pair is None:
        if isinstance(value, float):
            raise EvaluationError(f"`{value}` is not a score", "not_a_score")
        raise EvaluationError("a score is combined with something that is not a number", "no_such_overload")
    return pair


def score_of(value: object) -> Score:
    """The input `value`, a score or a number in [0, 1], as a score. Raises EvaluationError for anything else."""
    if isinstance(value, Score):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise EvaluationError("a score must be a number between 0 and 1", "not_a_score")
    if not 0 <= value <= 1:
        raise EvaluationError(f"a score must lie between 0 and 1, found `{value}`", "not_a_score")
    return Score(*exact_pair(value))


def leave(score: Score) -> float:
    """The double of a score for output (report, store, `dyn`), rounded once. Raises EvaluationError outside [0, 1]."""
    if not 0 <= score.numerator <= score.denominator:
        raise EvaluationError(f"a score must lie between 0 and 1, found `{float(score)!r}`", "not_a_score")
    return score.numerator / score.denominator


def add(left: object, right: object) -> Score:
    """The exact sum."""
    (a, b), (c, d) = exact_pair(left), exact_pair(right)
    return Score(a + c, b) if b == d else Score(a * d + c * b, b * d)


def subtract(left: object, right: object) -> Score:
    """The exact difference."""
    (a, b), (c, d) = exact_pair(left), exact_pair(right)
    return Score(a - c, b) if b == d else Score(a * d - c * b, b * d)


def multiply(left: object, right: object) -> Score:
    """The exact product."""
    (a, b), (c, d) = exact_pair(left), exact_pair(right)
    return Score(a * c, b * d)


def divide(left: object, right: object) -> Score:
    """The exact quotient. Raises EvaluationError for a zero divisor."""
    (a, b), (c, d) = exact_pair(left), exact_pair(right)
    return Score(a * d, b * c)
