"""Tests and intervals agree with scipy and statsmodels, whose values stand in `inference.json`."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from rulewright_runtime.aggregate.inference import (
    UNIT,
    clustered_mean,
    holm,
    mcnemar,
    student_below,
    student_quantile,
    two_sided,
    wilson,
)

REFERENCE: dict[str, Any] = json.loads(Path(__file__).with_name("inference.json").read_text(encoding="utf-8"))

TRUTHS = 2_000


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def test_students_quantiles_and_probabilities_are_those_of_scipy() -> None:
    for share, freedom, value in REFERENCE["t_ppf"]:
        assert student_quantile(share, freedom) == near(value)
    for value, freedom, share in REFERENCE["t_cdf"]:
        assert student_below(value, freedom) == near(share)


def test_mcnemars_exact_test_is_that_of_statsmodels() -> None:
    for only_before, only_after, p_value in REFERENCE["mcnemar"]:
        assert mcnemar(only_before, only_after) == near(p_value)


def test_holms_correction_is_that_of_statsmodels() -> None:
    for p_values, corrected in REFERENCE["holm"]:
        assert holm(p_values) == near(corrected)
    assert holm([]) == []


@pytest.mark.parametrize("case", REFERENCE["clustered"], ids=lambda case: f"{len(case['values'])} values")
def test_a_clustered_mean_is_the_robust_regression_of_statsmodels(case: dict[str, Any]) -> None:
    found = clustered_mean(zip(case["groups"], case["values"], strict=True))
    assert [found.mean, found.error, found.low, found.high] == near([case[k] for k in ("mean", "error", "low", "high")])


def test_wilsons_interval_is_that_of_statsmodels() -> None:
    for count, total, low, high in REFERENCE["wilson"]:
        found = wilson(count, total)
        assert [found["low"], found["high"]] == near([low, high])


def test_one_cluster_says_nothing_about_its_error() -> None:
    assert (clustered_mean([("a", 0.5), ("a", 0.7)]).mean, clustered_mean([("a", 0.5)]).low) == (near(0.6), None)
    assert clustered_mean([]).mean is None


def test_equal_values_have_an_interval_without_width() -> None:
    found = clustered_mean([(name, 0.25) for name in "abc"])
    assert (found.low, found.high, found.detectable) == (0.25, 0.25, 0.0)


def test_equal_values_of_few_clusters_allow_for_other_values() -> None:
    for count in (2, 3, 10, 60):
        low, high = (clustered_mean(enumerate([value] * count), span=UNIT) for value in (1.0, 0.0))
        assert (low.low, low.high) == (near(wilson(count, count)["low"]), 1.0)
        assert (high.low, high.high) == (0.0, near(wilson(0, count)["high"]))
    found = clustered_mean(enumerate([0.1] * 3), span=(-1.0, 1.0))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


def test_equal_differences_are_as_likely_as_equal_coin_tosses() -> None:
    assert [two_sided(clustered_mean(enumerate([0.1] * count))) for count in (2, 6)] == [0.5, 1 / 32]
    assert two_sided(clustered_mean(enumerate([0.0] * 6))) == two_sided(clustered_mean([("a", 1.0)])) == 1.0


@pytest.mark.parametrize("count", [2, 3, 5, 10, 20, 50])
def test_an_interval_of_a_mean_of_scores_holds_the_truth_as_often_as_it_claims(count: int) -> None:
    chance = random.Random(count)
    held = 0
    for _ in range(TRUTHS):
        share = chance.random()
        found = clustered_mean(((at, float(chance.random() < share)) for at in range(count)), span=UNIT)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= share <= found.high
    assert held >= 0.93 * TRUTHS


def test_equal_scores_at_the_end_of_their_span_could_hide_a_difference_all_the_same() -> None:
    highest, middle = (clustered_mean([(f"s{at}", value) for at in range(8)], span=UNIT) for value in (1.0, 0.5))
    assert highest.high == 1.0
    assert (highest.detectable or 0) > 1 - (highest.low or 0)
    assert highest.detectable == pytest.approx(2 * (middle.detectable or 0))
