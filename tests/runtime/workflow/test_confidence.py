"""Confidence: exact means, and what a failing measurement counts."""

import itertools
import logging

import pytest

from rulewright_runtime import EvalMetric, compute_confidence, compute_raw
from rulewright_runtime.workflow.confidence import MetricError, exact_confidence, measure_or_zero


def metrics(*values: float) -> list[EvalMetric]:
    return [EvalMetric("llm_judge", value) for value in values]


@pytest.mark.parametrize("order", list(itertools.permutations([0.9, 0.8, 0.7])))
def test_the_mean_of_decimals_is_decimal_in_every_order(order: tuple[float, ...]) -> None:
    assert compute_confidence(metrics(*order)) == 0.8
    assert exact_confidence(metrics(*order)) >= 0.80


def test_weights_count_exactly() -> None:
    mixed = [EvalMetric("lint_score", 1.0, 0.1), EvalMetric("test_coverage", 0.7, 0.2)]
    assert compute_confidence(mixed) == 0.8
    assert compute_confidence([EvalMetric("lint_score", 1, 3), EvalMetric("test_coverage", 0, 1)]) == 0.75


@pytest.mark.parametrize(
    ("none", "why"), [([], "no metrics"), ([EvalMetric("lint_score", 1.0, 0.0)], "add up to zero")]
)
def test_nothing_to_average_is_said_in_the_log(
    none: list[EvalMetric], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        compute_confidence(none)
    assert why in caplog.text


def test_all_zero_scores_are_a_score_of_zero_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert compute_confidence(metrics(0.0, 0.0)) == 0.0
    assert caplog.text == ""


def test_raw_mode_returns_each_value_in_order() -> None:
    assert compute_raw(metrics(0.85, 0.90)) == [0.85, 0.90]
    assert compute_raw([]) == []


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), True, "0.5", None])
def test_a_value_that_is_not_a_share_is_refused(value: object) -> None:
    with pytest.raises(MetricError):
        EvalMetric("lint_score", value)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), False])
def test_a_weight_must_be_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        EvalMetric("lint_score", 0.5, weight)


def test_a_failing_measurement_counts_as_zero_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def crash() -> float:
        raise RuntimeError("the tool is missing")

    metric, reason = measure_or_zero("lint_score", 0.5, crash)
    assert metric == EvalMetric("lint_score", 0.0, 0.5)
    assert reason == "the tool is missing"
    assert "counts as 0.0: the tool is missing" in caplog.text


@pytest.mark.parametrize("value", [1.5, float("nan"), True])
def test_a_measurement_outside_the_interval_is_a_failing_one(value: float) -> None:
    metric, reason = measure_or_zero("llm_judge", 1.0, lambda: value)
    assert metric.value == 0.0
    assert "between 0 and 1" in reason


def test_all_permutations_of_tenths_have_the_same_mean() -> None:
    for triple in itertools.combinations_with_replacement([n / 10 for n in range(11)], 3):
        means = {compute_confidence(metrics(*order)) for order in itertools.permutations(triple)}
        assert len(means) == 1
