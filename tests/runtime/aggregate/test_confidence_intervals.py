"""Confidence intervals: every mean and every rate has one, however many cases there are."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.rounds import rounds
from tests.safe_cases import settings

from rulewright_runtime.aggregate.inference import Sample, wilson
from rulewright_runtime.cases.scoring import CaseOutcome, CaseScorer, Scored
from rulewright_runtime.cases.tally import CaseGroup, Tally

TRUTHS = rounds(80, 2_000)


def sample(*values: tuple[float, int]) -> Sample:
    result = Sample()
    result.add(values)
    return result


def resampled(values: list[float], draws: int) -> tuple[float, float]:
    """The percentiles of a plain bootstrap."""
    chance = random.Random(7)
    means = sorted(math.fsum(chance.choices(values, k=len(values))) / len(values) for _ in range(draws))
    return means[round(0.025 * draws)], means[round(0.975 * draws)]


def test_a_rate_has_the_interval_of_wilson() -> None:
    assert wilson(8, 10) == {"low": pytest.approx(0.4902, abs=1e-4), "high": pytest.approx(0.9433, abs=1e-4),
                             "method": "wilson"}  # fmt: skip
    assert (wilson(0, 5)["low"], wilson(5, 5)["high"], wilson(0, 0)["low"]) == (0.0, 1.0, None)


def test_the_mean_of_few_values_has_a_seeded_bootstrap() -> None:
    few = sample((0.2, 10), (0.8, 10)).interval()
    assert few["method"] == "bootstrap"
    assert 0.3 < few["low"] < 0.5 < few["high"] < 0.7
    assert few == sample((0.8, 10), (0.2, 10)).interval()
    assert sample((1.0, 3)).interval() == {**wilson(3, 3), "method": "wilson"}
    assert sample((0.5, 1)).interval()["low"] < 0.2 < 0.8 < sample((0.5, 1)).interval()["high"]
    assert sample().interval() == {"low": None, "high": None, "method": "bootstrap"}


@pytest.mark.parametrize("shares", [(0.0, 0.5), (0.7, 0.97), (0.1, 0.99)])
@pytest.mark.parametrize("number", [201, 600])
def test_the_mean_of_many_values_has_the_interval_that_a_bootstrap_would_give(
    shares: tuple[float, float], number: int
) -> None:
    low, high = (round(share * number) for share in shares)
    values = [0.0] * low + [0.5] * (high - low) + [1.0] * (number - high)
    found = sample((0.0, low), (0.5, high - low), (1.0, number - high)).interval()
    one, two = resampled(values, 2000)
    width = two - one
    assert found["method"] == "normal"
    assert found["low"] == pytest.approx(one, abs=0.08 * width)
    assert found["high"] == pytest.approx(two, abs=0.08 * width)


def test_an_interval_stays_within_the_values_and_a_lone_miss_among_many_widens_it_downwards() -> None:
    found = sample((1.0, 999), (0.0, 1)).interval()
    assert found["high"] == 1.0
    assert 0.99 < found["low"] < 0.999
    many = sample((0.3, 100_000)).interval()
    assert (many["low"], many["high"]) == (pytest.approx(0.3, abs=1e-4), pytest.approx(0.3, abs=1e-4))


@pytest.mark.parametrize(
    ("draw", "truth"), [(random.Random.random, 0.5), (lambda chance: (chance.random() < 0.9) * 0.5 + 0.5, 0.95)]
)
@pytest.mark.parametrize("count", [2, 4, 12, 40])
def test_an_interval_holds_the_true_mean_as_often_as_it_claims(
    count: int, draw: Callable[[random.Random], float], truth: float
) -> None:
    chance, held = random.Random(count), 0
    for _ in range(TRUTHS):
        found = sample(*((draw(chance), 1) for _ in range(count))).interval()
        held += found["low"] <= truth <= found["high"]
    assert held >= 0.9 * TRUTHS


def test_a_sample_in_parts_is_the_sample_as_a_whole() -> None:
    chance = random.Random(3)
    values = [(chance.random(), chance.randrange(1, 4)) for _ in range(90)]
    whole, parts, merged = sample(*values), Sample(), Sample()
    for each in values:
        parts.add([each])
        merged.merge(sample(each))
    for other in (parts, merged):
        assert other.mean == pytest.approx(whole.mean, abs=1e-12)
        assert other.interval() == pytest.approx(whole.interval(), abs=1e-9)


def tallied(found: list[int], settle_every: int, monkeypatch: pytest.MonkeyPatch) -> Tally:
    from rulewright_runtime.cases import tally

    monkeypatch.setattr(tally, "_SETTLE_EVERY", settle_every)
    plan = settings().plan
    scorer: CaseScorer = settings().scorer(None, None)
    result = Tally(plan)
    for number in found:
        outcome: CaseOutcome = scorer.decide(((number, 7), (number % 2, 3), (7 - number, 7)))
        scored = Scored(outcome, ([], [], []), ([], [], []))
        result.add(result.batch("b"), "A", scored, {"test_id": str(number)})
    return result


def test_adding_up_on_the_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [random.Random(5).randrange(8) for _ in range(150)]

    def tallies(group: CaseGroup) -> dict[str, Any]:
        return {"rates": group.pass_rates(), "labels": group.labels, "count": group.total}

    at_once, often = (tallied(found, every, monkeypatch) for every in (10_000, 4))
    assert tallies(at_once.all_cases()) == tallies(often.all_cases())
    assert often.all_cases().means() == pytest.approx(at_once.all_cases().means(), abs=1e-12)
    for one, two in zip(
        at_once.all_cases().intervals(0.95, 200)["mean_scores"].values(),
        often.all_cases().intervals(0.95, 200)["mean_scores"].values(),
        strict=True,
    ):
        assert one == pytest.approx(two, abs=1e-12)
