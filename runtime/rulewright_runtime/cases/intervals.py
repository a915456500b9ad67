"""Confidence intervals: Wilson's for a rate, a seeded bootstrap for a mean."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Final

SEED: Final = 20250115
RESAMPLES: Final = 1000
BOOTSTRAP_UP_TO: Final = 200


def wilson(count: int, total: int, level: float = 0.95) -> dict[str, Any]:
    """Wilson's score interval of a share; null ends without any case."""
    if not total:
        return {"low": None, "high": None, "method": "wilson"}
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = count / total
    scale = 1 + z * z / total
    middle = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == total else min(1.0, middle + half)
    return {"low": low, "high": high, "method": "wilson"}


def mean_interval(
    counts: Sequence[tuple[float, int]], level: float = 0.95, up_to: int = BOOTSTRAP_UP_TO
) -> dict[str, Any]:
    """The interval of a mean of values given with how often each occurs.

    For `up_to` values a percentile bootstrap with a fixed seed; for more, where the two agree, the normal interval.
    """
    total = sum(count for _, count in counts)
    if not total:
        return {"low": None, "high": None, "method": "bootstrap"}
    values = sorted(counts)
    mean = math.fsum(value * count for value, count in values) / total
    if len({value for value, _ in values}) == 1:
        return {"low": mean, "high": mean, "method": "bootstrap"}
    if total > up_to:
        spread = math.fsum(count * (value - mean) ** 2 for value, count in values) / (total - 1)
        half = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(spread / total)
        return {"low": max(0.0, mean - half), "high": min(1.0, mean + half), "method": "normal"}
    chance = random.Random(SEED)
    each = [value for value, count in values for _ in range(count)]
    means = sorted(math.fsum(chance.choices(each, k=total)) / total for _ in range(RESAMPLES))
    cut = round((1 - level) / 2 * RESAMPLES)
    return {"low": means[cut], "high": means[RESAMPLES - 1 - cut], "method": "bootstrap"}
