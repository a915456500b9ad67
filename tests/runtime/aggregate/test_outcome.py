"""The engine's own results: what decides a transcript, with gates and without."""

from typing import Any

import pytest
from tests.runtime.report.test_reports import Record

from rulewright_runtime.aggregate.outcome import engine_results, request_adjudication
from rulewright_runtime.score import Score


def gate(state: str, *reasons: str) -> dict[str, Any]:
    return {"state": state, "reasons": list(reasons)}


def test_gates_decide_where_one_holds_a_check() -> None:
    found = engine_results([Record("A1"), Record("C1", "FAIL")], {"safety": gate("passed")})
    assert (found["outcome"], found["decided_by"], found["because"]) == ("passed", "gates", [])
    found = engine_results([Record("A1", "FAIL")], {"safety": gate("failed", "A1"), "other": gate("undecided", "B1")})
    assert (found["outcome"], found["because"]) == ("failed", ["A1"])
    found = engine_results([Record("C1")], {"safety": gate("undecided", "A1")})
    assert (found["outcome"], found["because"]) == ("undecided", ["A1"])


@pytest.mark.parametrize(
    ("verdicts", "outcome", "because"),
    [
        ((), "nothing_applied", []),
        (("PASS",), "passed", []),
        (("PASS", "FAIL", "UNCLEAR"), "failed", ["C1"]),
        (("PASS", "PASS", "PASS", "PASS", "PASS", "UNCLEAR"), "undecided", ["C5"]),
        (("PASS", "NO_RECORD"), "undecided", ["C1"]),
        (("PASS", "MAYBE"), "undecided", ["C1"]),
        (("NOT_APPLICABLE",), "undecided", []),  # the judge answered, and nothing was resolved
    ],
)
def test_without_gates_every_check_decides(verdicts: tuple[str, ...], outcome: str, because: list[str]) -> None:
    found = engine_results([Record(f"C{number}", verdict) for number, verdict in enumerate(verdicts)])
    assert (found["outcome"], found["decided_by"], found["because"]) == (outcome, "checks", because)


def test_a_check_that_does_not_apply_decides_nothing() -> None:
    assert engine_results([Record("C1", "FAIL", eligible=False)])["outcome"] == "nothing_applied"


def test_too_few_answers_leave_a_transcript_undecided_whatever_its_gates_say() -> None:
    verdicts = [Record("A1"), Record("C1"), Record("C2", "UNCLEAR")]
    passed = {"safety": gate("passed")}
    assert engine_results(verdicts, passed)["outcome"] == "undecided"
    assert engine_results(verdicts, passed)["coverage"] == pytest.approx(2 / 3)
    assert engine_results(verdicts, passed, Score(2, 3))["outcome"] == "passed"


def test_a_gate_that_did_not_run_leaves_a_transcript_undecided_that_no_gate_fails() -> None:
    gates = {"safety": gate("passed"), "care": gate("not_run")}
    assert engine_results([Record("A1")], gates)["outcome"] == "undecided"
    assert engine_results([], gates)["outcome"] == "undecided"
    failed = engine_results([Record("A1", "FAIL")], {**gates, "safety": gate("failed", "A1")})
    assert failed["outcome"] == "failed"


@pytest.mark.parametrize("cause", ["error", "missing", "unverified", "unclear"])
def test_an_unproven_failure_is_reported_with_its_cause(cause: str) -> None:
    outage = Record("A1", "FAIL")
    outage.cause = cause
    found = engine_results([outage, Record("A2", "FAIL")], {"safety": gate("failed", "A1", "A2")})
    assert (found["outcome"], found["unproven"]) == ("failed", {"A1": cause})
    assert engine_results([outage])["unproven"] == {"A1": cause}


def test_a_gate_that_stops_on_an_unclear_answer_has_not_been_shown_a_failure() -> None:
    found = engine_results([Record("A1", "UNCLEAR")], {"safety": gate("failed", "A1")})
    assert found["unproven"] == {"A1": "unclear"}


def test_what_a_scorecard_could_not_decide_leaves_the_transcript_undecided() -> None:
    assert engine_results([Record("A1")], {"safety": gate("passed")}, undecided=True)["outcome"] == "undecided"


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({"status": "valid"}, "needs_adjudication"),
        ({"status": "invalid"}, "invalid"),
        ({"status": None}, "needs_adjudication"),
        ({}, "needs_adjudication"),
    ],
)
def test_only_a_status_that_says_nothing_bad_is_replaced_by_a_request(row: dict[str, Any], status: str) -> None:
    request_adjudication(row)
    assert row["status"] == status
