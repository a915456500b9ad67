"""Gates as intervals, by the errors of a judge that people's labels measure."""

import random
from typing import Any

import pytest
from tests.rounds import rounds

from rulewright.calibration import propagate
from rulewright.calibration.propagate import (
    FailureShare,
    GateRow,
    MeasuredErrors,
    RowKind,
    TransportedShares,
    gate_interval,
    next_item,
)


def gate_row(name: str, *doubts: tuple[Any, Any], unknown: bool = False) -> GateRow:
    """A row with doubtful verdicts, each an item and its stratum."""
    kind = RowKind(False, unknown, False, False, tuple(stratum for _, stratum in doubts))
    return GateRow(name, kind, doubts, ())


def after(rows: list[GateRow], shares: dict[Any, FailureShare], label: Any) -> float:
    """The variance of the share of failing rows that is left on average once an item has been labelled; rows of one
    doubt each, so that it can be worked out."""
    item_, stratum = label
    total = 0.0
    for failed in (0, 1):
        chance = shares[stratum].mean if failed else 1 - shares[stratum].mean
        known = {**shares, stratum: FailureShare(shares[stratum].failed + failed, shares[stratum].labelled + 1)}
        left = [row for row in rows if row.doubts[0][0] != item_]
        variance = 0.0
        for each, share in known.items():
            count = sum(row.kind.doubts == (each,) for row in left)
            inner = share.mean * (1 - share.mean) - share.variance
            variance += (count / len(rows)) ** 2 * share.variance + count * inner / len(rows) ** 2
        total += chance * variance
    return total


def test_the_next_item_is_the_one_that_takes_away_most_of_a_gates_uncertainty() -> None:
    chance = random.Random(2)
    for _ in range(100):
        strata = [(f"C{at}", verdict) for at in range(2) for verdict in ("FAIL", "PASS")]
        sizes = {each: chance.randint(1, 25) for each in strata}
        items = [(each, (f"t{at}", "".join(each))) for each in strata for at in range(sizes[each])]
        rows = [gate_row(item_[0], (item_, each)) for each, item_ in items]
        shares = {}
        for each in strata:
            count = chance.randint(0, 12)
            shares[each] = FailureShare(chance.randint(0, count), count)
        found = next_item(rows, shares)
        assert found is not None
        left = {row.doubts[0][0]: after(rows, shares, row.doubts[0]) for row in rows}
        assert left[found[0]] == pytest.approx(min(left.values()), rel=1e-9)


def test_a_gate_of_two_doubtful_checks_fails_as_often_as_either() -> None:
    one, two = ("A", "FAIL"), ("B", "FAIL")
    rows = [gate_row(f"t{at}", ((f"t{at}", "A"), one), ((f"t{at}", "B"), two)) for at in range(400)]
    shares = {one: FailureShare(50_000, 100_000), two: FailureShare(20_000, 100_000)}
    found = gate_interval(rows, MeasuredErrors(shares, {}))
    assert found["value"] == pytest.approx(0.6, abs=1e-4)
    assert found["low"] == pytest.approx(0.6 - 1.96 * (0.24 / 400) ** 0.5, abs=5e-3)
    missing = [gate_row("u", unknown=True), *rows[:1]]
    assert gate_interval(missing, MeasuredErrors(shares, {}))["high"] == 1.0


def test_failures_and_passes_that_labels_show_bound_the_share_of_failures() -> None:
    stratum = ("A", "PASS")
    shown = [GateRow(f"l{at}", RowKind(at < 9, False, False, False, ()), (), ()) for at in range(30)]
    rows = [*shown, *(gate_row(f"t{at}", ((f"t{at}", "A"), stratum)) for at in range(18))]
    found = gate_interval(rows, MeasuredErrors({stratum: FailureShare(1, 21)}, {}))
    assert found["low"] == 9 / 48
    assert gate_interval(rows, MeasuredErrors({stratum: FailureShare(9, 9)}, {}))["high"] == 27 / 48


def test_a_gate_without_a_verdict_has_no_share_of_failures() -> None:
    found = gate_interval([gate_row("u", unknown=True)], MeasuredErrors({}, {}), refused=1)
    assert found == {"value": None, "low": 0.0, "high": 1.0}


@pytest.mark.parametrize("labels", [1, 2, 10])
def test_a_judge_that_no_label_contradicts_fails_no_gate_by_the_number_of_its_checks(labels: int) -> None:
    strata = [(check, "PASS") for check in "ABCDEFGH"]
    rows = [gate_row(f"t{at}", *(((f"t{at}", check), (check, word)) for check, word in strata)) for at in range(100)]
    found = gate_interval(rows, MeasuredErrors(dict.fromkeys(strata, FailureShare(0, labels)), {}))
    assert (found["value"], found["low"]) == (0.0, 0.0)
    assert found["high"] > 0.5


def test_gates_of_several_checks_hold_the_truth_as_often_as_they_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propagate, "DRAWS", 400)
    chance, held = random.Random(4), 0
    for _ in range(TRUTHS):
        strata = [(check, word) for check in "ABCD"[: chance.randint(1, 4)] for word in ("FAIL", "PASS")]
        truths = {
            each: chance.choice([0.0, 0.02, 0.2]) if each[1] == "PASS" else chance.uniform(0.5, 1) for each in strata
        }
        labels = {each: chance.randint(1, 12) for each in strata}
        shares = {
            each: FailureShare(sum(chance.random() < truths[each] for _ in range(count)), count)
            for each, count in labels.items()
        }
        rows, failing = [], 0
        for at in range(60):
            verdicts = [
                (check, "FAIL" if chance.random() < 0.1 else "PASS") for check in sorted({name for name, _ in strata})
            ]
            rows.append(gate_row(f"t{at}", *(((f"t{at}", each[0]), each) for each in verdicts)))
            failing += any(chance.random() < truths[each] for each in verdicts)
        found = gate_interval(rows, MeasuredErrors(shares, {}))
        held += found["low"] <= failing / 60 <= found["high"]
    assert held >= 0.93 * TRUTHS


@pytest.mark.parametrize(("failed", "value"), [(0, 0.0), (10, 1.0)])
def test_labels_of_one_class_from_another_run_give_the_value_that_they_say(failed: int, value: float) -> None:
    labelled, words = FailureShare(failed, 10), FailureShare(5, 10)
    moved = TransportedShares((labelled, labelled), words, words)
    rows = [gate_row(f"t{at}", ((f"t{at}", "C"), ("C", ("FAIL", "PASS")[at % 2]))) for at in range(10)]
    found = gate_interval(rows, MeasuredErrors({}, {"C": moved}))
    assert (found["low"], found["value"], found["high"]) == (0.0, value, 1.0)


def test_a_judge_of_which_no_label_of_another_run_shows_an_error_adds_no_failures() -> None:
    right = FailureShare(20, 20), FailureShare(0, 20)
    moved = {check: TransportedShares(right, FailureShare(50, 500), FailureShare(0, 100)) for check in "ABCDEFGH"}
    rows = [gate_row(f"t{at}", *(((f"t{at}", check), (check, "PASS")) for check in moved)) for at in range(100)]
    assert gate_interval(rows, MeasuredErrors({}, moved))["value"] == 0.0


def test_a_check_without_verdicts_in_this_run_leaves_the_gate_as_it_is() -> None:
    labelled = FailureShare(8, 10), FailureShare(1, 10)
    moved = TransportedShares(labelled, FailureShare(5, 10), FailureShare(0, 0))
    rows = [GateRow("t", RowKind(True, False, False, False, ()), (), ())]
    assert gate_interval(rows, MeasuredErrors({}, {"C": moved})) == {"value": 1.0, "low": 1.0, "high": 1.0}


TRUTHS = rounds(50, 2_000)


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "prevalence", "labels"),
    [((0.7, 0.95), (0.8, 0.98), (0.05, 0.6), 80), ((0.7, 0.7), (1.0, 1.0), (0.02, 0.02), 5)],
)
def test_gates_by_labels_of_another_run_hold_the_truth_as_often_as_they_claim(
    sensitivity: tuple[float, float],
    specificity: tuple[float, float],
    prevalence: tuple[float, float],
    labels: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(propagate, "DRAWS", 400)
    chance = random.Random(9)

    def judged(count: int, prevalence: float, sensitivity: float, specificity: float) -> list[tuple[bool, bool]]:
        true = [chance.random() < prevalence for _ in range(count)]
        return [(each, chance.random() < (sensitivity if each else 1 - specificity)) for each in true]

    def share(found: list[tuple[bool, bool]], said: bool, of: int) -> FailureShare:
        kind = [true for true, word in found if word == said][:of]
        return FailureShare(sum(kind), len(kind))

    held = 0
    for _ in range(TRUTHS):
        errors = chance.uniform(*sensitivity), chance.uniform(*specificity)
        there, here = judged(1000, chance.uniform(0.2, 0.6), *errors), judged(300, chance.uniform(*prevalence), *errors)
        fails = [FailureShare(sum(word for _, word in found), len(found)) for found in (there, here)]
        shares = share(there, said=True, of=labels), share(there, said=False, of=labels)
        measured = MeasuredErrors({}, {"C": TransportedShares(shares, *fails)})
        rows = [gate_row("t", (("t", "C"), ("C", "FAIL" if word else "PASS"))) for _, word in here]
        found = gate_interval(rows, measured)
        held += found["low"] <= sum(true for true, _ in here) / len(here) <= found["high"]
    assert held >= 0.93 * TRUTHS
