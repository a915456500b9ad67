"""Confidence: the exact weighted mean of metrics. It is advice only; a policy gate always decides."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from rulewright_runtime.errors import OutageError, RuntimeFailure
from rulewright_runtime.score import Score, add, divide, leave, multiply, score_of
from rulewright_runtime.workflow.events import IS_EVENT

LOG: Final = logging.getLogger("rulewright.workflow")
ZERO: Final = Score(0)


class MetricError(RuntimeFailure, ValueError):
    """A metric whose value is outside [0, 1], or whose weight is negative, infinite or not a number."""


class EvalMetric(Struct, frozen=True):
    """A metric: `type` as in a workflow (`test_coverage`, ...), a value in [0, 1] and its weight in the mean.

    Raises MetricError for a value outside [0, 1], for NaN and booleans, and for a weight that is negative or infinite.
    """

    type: str
    value: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not _is_number(self.value) or not 0 <= self.value <= 1:
            raise MetricError(f"metric `{self.type}`: a value must lie between 0 and 1, found `{self.value}`")
        if not _is_number(self.weight) or not 0 <= self.weight < math.inf:
            raise MetricError(f"metric `{self.type}`: a weight must be a number of at least 0, found `{self.weight}`")


def compute_confidence(metrics: list[EvalMetric]) -> float:
    """Return the weighted mean of all metrics, in [0.0, 1.0], rounded once: 0.9, 0.8 and 0.7 of equal weight give 0.8.

    No metrics, or weights that add up to zero, give 0.0 and a warning in the log.
    """
    return leave(exact_confidence(metrics))


def exact_confidence(metrics: Sequence[EvalMetric]) -> Score:
    """As `compute_confidence`, but not rounded; thresholds are compared with this value."""
    top, bottom = ZERO, ZERO
    for metric in metrics:
        top = add(top, multiply(metric.weight, score_of(metric.value)))
        bottom = add(bottom, metric.weight)
    if bottom == 0:
        LOG.warning("confidence is 0.0: %s", "the weights add up to zero" if metrics else "the task has no metrics")
        return ZERO
    return divide(top, bottom)


def compute_raw(metrics: list[EvalMetric]) -> list[float]:
    """Return the value of each metric, in order, not aggregated. No metrics give an empty list and a warning."""
    if not metrics:
        LOG.warning("no metric can be scored")
    return [float(metric.value) for metric in metrics]


def measure_or_zero(kind: str, weight: float, measure: Callable[[], float]) -> tuple[EvalMetric, str]:
    """Return the measured metric and an empty string, or on failure a metric of value 0.0 and the reason.

    0.0 is the lowest value, so a failed measurement can't raise the score. Raises OutageError when the judge can't be
    reached: the run stops and can be resumed.
    """
    try:
        return EvalMetric(kind, measure(), weight), ""
    except OutageError:
        raise
    except Exception as error:  # a collector may be third-party code: its errors must not end the run
        reason = str(error) or type(error).__name__
        LOG.warning("metric `%s` counts as 0.0: %s", kind, reason, extra=IS_EVENT)
        return EvalMetric(kind, 0.0, weight), reason


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, int) and not isinstance(value, bool)
