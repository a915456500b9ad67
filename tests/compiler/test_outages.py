"""An outage is not a verdict: a row that failed because nobody could judge it awaits a person, and is never valid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.file import seal
from rulewright_runtime.report.summary import Summary, exit_status
from rulewright_runtime.transcript_execution import TranscriptResult

BENCHMARK = ROOT / "benchmark"


class Nobody:
    """A judge whose server is down."""

    def ask(self, request: Any) -> str:
        raise OSError("connection refused")


class WithoutQuotes:
    """A judge that says FAIL and quotes what nobody said."""

    def ask(self, request: Any) -> str:
        quote = {"role": "assistant", "turn": 1, "quote": "words that are not in this talk"}
        return json.dumps({"verdict": "FAIL", "evidence": [quote]})


def summary_of(results: Mapping[str, TranscriptResult]) -> dict[str, Any]:
    summary = Summary()
    for result in results.values():
        summary.add(result.scores or {}, result.verdicts)
    return summary.result()


def judged(judge: Any) -> dict[str, TranscriptResult]:
    results = execute(shipped_plan(profile="publish"), [BENCHMARK / "transcripts"], judge)
    return {result.transcript_id: result for result in results}


@pytest.mark.parametrize(("judge", "cause"), [(Nobody(), "error"), (WithoutQuotes(), "unverified")])
def test_a_hard_fail_that_nobody_found_awaits_a_person(judge: Any, cause: str) -> None:
    results = judged(judge)
    unproven = {name: (result.scores or {})["engine"]["unproven"] for name, result in results.items()}
    assert cause in {each for causes in unproven.values() for each in causes.values()}
    for name, causes in unproven.items():
        if causes:
            assert (results[name].scores or {})["status"] == "needs_adjudication"
    found = summary_of(results)
    assert found["failed"]["unproven"] > 0
    assert exit_status(found) == 1  # the gate stays closed
    assert found["totals"]["unverified" if cause == "unverified" else "fail_closed"] > 0


def test_a_hard_fail_with_a_quote_that_occurs_is_no_outage() -> None:
    results = judged(open_judge(f"replay:{BENCHMARK}/judge_replies/replies.json"))
    found = summary_of(results)
    assert (found["failed"]["count"] > 0, found["failed"]["unproven"]) == (True, 0)


def test_where_the_plan_says_so_the_row_keeps_the_status_of_its_scorecard() -> None:
    compiled = shipped_plan(profile="publish", scorecard="reference-compatible")
    assert compiled.scorecard is not None
    as_the_reference = seal(replace(compiled, scorecard=replace(compiled.scorecard, unproven="keep")))
    results = execute(as_the_reference, [BENCHMARK / "transcripts"], Nobody())
    assert "needs_adjudication" not in {(result.scores or {})["status"] for result in results}
