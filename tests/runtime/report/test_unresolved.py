"""What is not resolved is reported with the numbers that it leaves open, and with the answers that would decide."""

import random
from collections import Counter
from itertools import chain, combinations, product
from typing import Any

import pytest

from rulewright_runtime.report.accumulators import (
    RunningSum,
    Unresolved,
    gate_result,
    lowest_mean,
    merge,
    unresolved_lines,
)


def row(name: str, state: str, score: float | None, **bounds: Any) -> dict[str, Any]:
    engine: dict[str, Any] = {"outcome": "passed", "gates": {"safety": {"state": state, "reasons": []}}}
    if bounds:
        states, answers = bounds["states"], bounds["answers"]
        low, high = bounds["ends"]
        engine["bounds"] = {
            "unknown": ["IB-A4"],
            "exact": bounds.get("exact", True),
            "gates": {"safety": {"states": states, "decided_by": answers}},
            "overall_score": {"low": low, "high": high, "absent": bounds.get("absent", False)},
        }
    return {"transcript_id": name, "overall_score": score, "engine": engine}


def report_lines(*rows: dict[str, Any], refused: int = 0) -> list[str]:
    unresolved = Unresolved()
    for each in rows:
        unresolved.add(each)
    return unresolved_lines(unresolved.result(refused))


OPEN = row("T31", "undecided", 0.9, states=["failed", "passed"], answers=["IB-A4"], ends=(0.0, 0.9))


def test_the_answers_that_decide_a_gate_are_named() -> None:
    assert report_lines(row("T1", "passed", 0.5), OPEN) == [
        "1 answer missing in 1 transcript: overall 0.25 to 0.70",
        "gate safety: failed or passed; 1 answer decides it: T31 x IB-A4",
    ]


def test_a_gate_that_failed_elsewhere_has_failed_whatever_is_missing() -> None:
    assert report_lines(row("T1", "failed", 0.0), OPEN)[1] == "gate safety: failed whatever the missing answers say"


def test_a_gate_that_no_answer_can_stop_holds_whatever_is_missing() -> None:
    harmless = row("T2", "passed", 0.5, states=["passed"], answers=[], ends=(0.5, 1.0))
    assert report_lines(harmless)[1] == "gate safety: passed whatever the missing answers say"


def test_a_gate_that_ran_for_no_transcript_has_not_passed() -> None:
    def result(*states: str, refused: int = 0) -> str:
        unresolved, later = Unresolved(), Unresolved()
        for part, state in zip((unresolved, later), states, strict=False):
            part.add(row("T1", state, 0.5))
        merge(unresolved, later)
        return gate_result(unresolved.result(refused)["gates"]["safety"])

    assert result("not_run") == result("not_run", "not_run") == "not run"
    assert result("not_run", "passed") == result("passed", "not_run") == "passed"
    assert result("not_run", "failed") == "failed"
    assert result("not_run", "undecided") == result("not_run", refused=1) == "inconclusive"
    idle = row("T2", "not_run", 0.5, states=["not_run"], answers=[], ends=(0.5, 1.0))
    assert report_lines(idle)[1] == "gate safety: not run whatever the missing answers say"


def test_an_input_that_was_refused_may_have_had_any_score_and_failed_any_gate() -> None:
    assert report_lines(row("T1", "passed", 0.5), refused=1) == [
        "1 input refused: overall 0.25 to 0.75",
        "gate safety: failed or passed",
    ]


def test_what_is_bounded_is_the_headline_and_is_called_by_its_name() -> None:
    rows = [{**row("T1", "passed", None), "service": 0.5}, {**OPEN, "service": 0.9}]
    unresolved = Unresolved()
    for each in rows:
        unresolved.add(each, "service")
    said = unresolved_lines(unresolved.result(0, "service"))
    assert said[0] == "1 answer missing in 1 transcript: service 0.25 to 0.70"
    assert unresolved_lines(unresolved.result(0, None))[0] == "1 answer missing in 1 transcript"


def test_a_score_that_no_transcript_is_certain_to_have_is_one_number_or_none() -> None:
    one = row("T1", "passed", None, states=["failed", "passed"], answers=["IB-A4"], ends=(0.0, 0.0), absent=True)
    assert report_lines(one)[0] == "1 answer missing in 1 transcript: overall 0.00 or none"
    assert report_lines(row("T2", "failed", 0.0), one)[0].endswith(": overall 0.00 whatever they say")


def test_an_outer_bound_is_called_so() -> None:
    outer = row("T1", "passed", 0.5, states=["passed"], answers=[], ends=(0.0, 1.0), exact=False)
    assert report_lines(outer)[0].endswith("overall 0.00 to 1.00 (an outer bound)")


def test_nothing_is_reported_where_everything_is_known() -> None:
    assert report_lines(row("T1", "passed", 0.5)) == []


def summed(values: list[float]) -> RunningSum:
    found = RunningSum()
    for value in values:
        found.add(value)
    return found


def test_the_lowest_mean_is_that_of_the_best_choice_of_what_may_be_absent() -> None:
    chance = random.Random(7)
    for _ in range(200):
        fixed = [chance.randint(0, 8) / 8 for _ in range(chance.randint(0, 4))]
        optional = [chance.randint(0, 8) / 8 for _ in range(chance.randint(0, 5))]
        chosen = chain.from_iterable(combinations(optional, size) for size in range(len(optional) + 1))
        means = [(sum(fixed) + sum(each)) / len([*fixed, *each]) for each in chosen if [*fixed, *each]]
        found = lowest_mean(summed(fixed), Counter(optional))
        assert found == (pytest.approx(min(means)) if means else None)


def test_a_gate_of_a_run_has_every_state_that_the_answers_leave_it() -> None:
    chance = random.Random(11)
    for _ in range(300):
        words = ("failed", "passed", "undecided", "not_run")
        rows = [sorted(chance.sample(words, chance.randint(1, 3))) for _ in range(chance.randint(1, 4))]
        unresolved = Unresolved()
        for number, states in enumerate(rows):
            unresolved.add(row(f"T{number}", states[0], 0.5, states=states, answers=[], ends=(0.5, 0.5)))
        possible = {
            next(word for word in (*words[:1], "undecided", "passed", "not_run") if word in each)
            for each in product(*rows)
        }
        assert unresolved.result(0)["gates"]["safety"]["states"] == sorted(possible)
