"""Agreement and corrected rates: as scikit-learn, statsmodels and krippendorff say, and right as often as claimed."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import rounds

from rulewright.calibration.measures import (
    Confusion,
    Estimate,
    clustered_rate,
    cohens_kappa,
    krippendorffs_alpha,
    prediction_powered,
    rate,
    rogan_gladen,
    weighted,
)

REFERENCE: dict[str, Any] = json.loads(Path(__file__).with_name("measures.json").read_text(encoding="utf-8"))
TRUTHS = 2_000
DRAWN = rounds(100, TRUTHS)  # how many of them with intervals that are drawn
Z = 1.959963984540054


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("case", REFERENCE["confusions"], ids=lambda case: str(case["cells"]))
def test_a_confusion_is_measured_as_scikit_learn_measures_it(case: dict[str, Any]) -> None:
    found = Confusion(*case["cells"], *case["weights"])
    for name in ("precision", "recall", "specificity", "balanced_accuracy"):
        estimate: Estimate = getattr(found, name)
        assert estimate.value == near(case[name])
        ends = [each for each in (estimate.low, estimate.value, estimate.high) if each is not None]
        assert [0.0, *ends, 1.0] == sorted([0.0, *ends, 1.0])
        assert len(ends) == 3
    assert found.kappa == near(case["kappa"])


def test_kappa_and_alpha_are_those_of_statsmodels_and_krippendorff() -> None:
    for case in REFERENCE["kappa"]:
        table: dict[Any, float] = {(i, j): n for i, row in enumerate(case["table"]) for j, n in enumerate(row)}
        assert cohens_kappa(table) == near(case["kappa"])
    for case in REFERENCE["alpha"]:
        units = [[each for each in unit if each is not None] for unit in zip(*case["answers"], strict=True)]
        assert krippendorffs_alpha(units) == near(case["alpha"])
    for count, of, low, high in REFERENCE["wilson"]:
        assert [rate(count, of).low, rate(count, of).high] == near([low, high])


@pytest.mark.parametrize(("chats", "labels", "alike"), [(20, 5, 0.3), (20, 5, 0.0), (50, 3, 0.4)])
def test_the_interval_of_a_share_holds_the_truth_although_the_labels_of_a_chat_are_alike(
    chats: int, labels: int, alike: float
) -> None:
    chance, truth, held = random.Random(7), 0.8, 0
    for _ in range(draws := 400):
        seen = []
        for chat in range(chats):
            usual = chance.random() < truth
            seen += [(chat, usual if chance.random() < alike**0.5 else chance.random() < truth) for _ in range(labels)]
        found = clustered_rate(seen)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held >= 0.93 * draws


def test_equal_labels_of_few_chats_leave_as_much_open_as_one_label_of_each() -> None:
    assert clustered_rate([(chat, True) for chat in "abc" for _ in range(9)]) == rate(3, 3)
    assert clustered_rate([(chat, chat < "c") for chat in "abcd"]) == rate(2, 4)
    assert clustered_rate([("a", True), ("a", False)]) == rate(0.5, 1)
    assert clustered_rate([]) == Estimate(None, None, None)


def test_each_side_of_the_interval_of_a_sum_combines_the_distances_of_its_parts() -> None:
    one, other = Estimate(0.3, 0.1, 0.6), Estimate(0.8, 0.5, 0.9)
    unknown, noise = Estimate(None, None, None), 0.1 * Z
    for parts, variance, expected in (
        ([(1.0, one)], 0.0, (0.3, 0.1, 0.6)),
        ([(0.5, one), (0.5, other)], 0.0, (0.55, 0.55 - math.hypot(0.1, 0.15), 0.55 + math.hypot(0.15, 0.05))),
        ([(0.0, unknown), (1.0, one)], 0.01, (0.3, 0.3 - math.hypot(0.2, noise), 0.3 + math.hypot(0.3, noise))),
    ):
        found = weighted(parts, variance)
        assert (found.value, found.low, found.high) == near(expected)


def test_labels_of_one_class_give_no_kappa_and_nothing_gives_no_rate() -> None:
    for found in (Confusion(9, 0, 3, 0), Confusion(0, 4, 0, 8), Confusion(5, 5, 0, 0), Confusion(0, 0, 0, 0)):
        assert found.kappa is None
    assert krippendorffs_alpha([["FAIL", "FAIL"], ["FAIL"]]) is None
    assert Confusion(0, 0, 0, 0).precision == Estimate(None, None, None)
    assert prediction_powered(3, 10, Confusion(0, 0, 1, 9)).value is None  # no FAIL was ever labelled
    assert rogan_gladen(3, 10, Confusion(1, 5, 1, 5)).value is None  # no better than chance
    assert rogan_gladen(3, 10, Confusion(1, 9, 0, 1)) == Estimate(0.0, 0.0, 1.0)  # too few labels for an interval
    assert Confusion(3, 0, 1, 0, 2.0, 3.0).specificity == Estimate(None, None, None)  # no non-failure was labelled


def rates(chance: random.Random) -> tuple[float, float, float]:
    return chance.uniform(0.05, 0.5), chance.uniform(0.6, 0.97), chance.uniform(0.75, 0.98)


def judged(chance: random.Random, truths: list[bool], sensitivity: float, specificity: float) -> list[bool]:
    return [chance.random() < sensitivity if each else chance.random() >= specificity for each in truths]


def confusion(verdicts: list[bool], truths: list[bool]) -> Confusion:
    words = {True: "FAIL", False: "PASS"}
    return Confusion.of([(words[one], words[other]) for one, other in zip(verdicts, truths, strict=True)])


def holds(found: list[tuple[Estimate, float, float]]) -> tuple[float, float]:
    """How often the interval holds the truth, and its mean width in widths of the reference method."""
    inside = [e.low is not None and e.high is not None and e.low <= truth <= e.high for e, truth, _ in found]
    widths = [e.high - e.low for e, _, _ in found if e.low is not None and e.high is not None]
    return sum(inside) / len(found), math.fsum(widths) / math.fsum(width for _, _, width in found)


def test_the_interval_of_a_corrected_rate_holds_it_even_for_few_labels() -> None:
    for failed, judged, measured in ((86, 100, Confusion(1, 0, 0, 20)), (1, 1, Confusion(20, 0, 0, 1))):
        found = rogan_gladen(failed, judged, measured)
        assert found.low is not None
        assert found.value is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high


def test_corrected_intervals_have_their_coverage_and_are_little_wider_than_plain_ones() -> None:
    chance = random.Random(3)
    powered: list[tuple[Estimate, float, float]] = []
    gladen: list[tuple[Estimate, float, float]] = []
    of_labels: dict[str, list[tuple[Estimate, float, float]]] = {}
    for number in range(TRUTHS):
        true_share, sensitivity, specificity = rates(chance)
        size, labelled = chance.choice((200, 500, 1000)), chance.choice((60, 100, 200))
        truths = [chance.random() < true_share for _ in range(size)]
        verdicts = judged(chance, truths, sensitivity, specificity)
        fails, passes = ([at for at in range(size) if verdicts[at] is kind] for kind in (True, False))
        drawn = chance.sample(fails, min(labelled // 2, len(fails))) + chance.sample(
            passes, min(labelled // 2, len(passes))
        )
        c = confusion([verdicts[at] for at in drawn], [truths[at] for at in drawn])
        f, p = c.hits + c.false_alarms, c.misses + c.clear
        w, a, b = len(fails) / size, c.hits / f, c.misses / p
        plain = w * w * a * (1 - a) / f + (1 - w) ** 2 * b * (1 - b) / p + (a - b) ** 2 * w * (1 - w) / size
        powered.append((prediction_powered(len(fails), size, c), true_share, 2 * Z * math.sqrt(plain)))
        weighed = Confusion(c.hits, c.false_alarms, c.misses, c.clear, len(fails) / f, len(passes) / p)
        accuracy = (sensitivity + specificity) / 2
        shown = (("recall", sensitivity), ("specificity", specificity), ("balanced_accuracy", accuracy))
        for name, truth in shown if number < DRAWN else ():
            of_labels.setdefault(name, []).append((getattr(weighed, name), truth, 1.0))
        elsewhere = [chance.random() < true_share for _ in range(labelled)]
        c = confusion(judged(chance, elsewhere, sensitivity, specificity), elsewhere)
        sick, well = c.hits + c.misses, c.clear + c.false_alarms
        estimate = rogan_gladen(len(fails), size, c)
        if estimate.value is None or not (sick and well):
            continue
        se, sp = c.hits / sick, c.clear / well
        value, power = (w + sp - 1) / (se + sp - 1), se + sp - 1
        plain = w * (1 - w) / size + value**2 * se * (1 - se) / sick + (1 - value) ** 2 * sp * (1 - sp) / well
        reach = Z * math.sqrt(plain) / power
        gladen.append((estimate, true_share, max(0.0, min(1.0, value + reach) - max(0.0, value - reach))))
    for found in (powered, gladen):
        coverage, width = holds(found)
        assert coverage >= 0.93
        assert width <= 1.15
    assert min(holds(found)[0] for found in of_labels.values()) >= 0.93
