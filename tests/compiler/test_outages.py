"""What nobody could judge, or was not looked at, has not passed: its row awaits a person, and its gate stays open."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runtime.programs import const, program
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

from rulewright.check.project_check import compile_project
from rulewright.planning.scan import scan_plan
from rulewright.project import load_project
from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode, seal
from rulewright_runtime.plan.scan import Plan
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
def test_an_unproven_hard_fail_awaits_a_person(judge: Any, cause: str) -> None:
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


def test_a_hard_fail_with_a_quote_that_occurs_is_not_an_outage() -> None:
    results = judged(open_judge(f"replay:{BENCHMARK}/judge_replies/replies.json"))
    found = summary_of(results)
    assert (found["failed"]["count"] > 0, found["failed"]["unproven"]) == (True, 0)


def test_where_the_plan_says_so_the_row_keeps_the_status_of_its_scorecard() -> None:
    compiled = shipped_plan(profile="publish", scorecard="reference-compatible")
    assert compiled.scorecard is not None
    as_the_reference = seal(replace(compiled, scorecard=replace(compiled.scorecard, unproven="keep")))
    results = execute(as_the_reference, [BENCHMARK / "transcripts"], Nobody())
    assert "needs_adjudication" not in {(result.scores or {})["status"] for result in results}


def rows(plan: Plan) -> dict[str, dict[str, Any]]:
    done = execute(decode(encode(plan)), [BENCHMARK / "transcripts"], f"replay:{BENCHMARK}/judge_replies/replies.json")
    return {result.transcript_id: result.scores or {} for result in done}


def smoke() -> Plan:
    return shipped_plan(profile="smoke")


def test_a_left_out_gate_check_that_applies_leaves_its_gate_open() -> None:
    row = rows(smoke())["model-b__tight_chest_after_supper"]
    assert row["gates"]["safety"] == {"passed": None, "reasons": ["RW-A2"]}
    assert (row["left_out"], row["status"]) == (["RW-A2"], "needs_adjudication")


def test_a_gate_to_which_no_check_applies_is_not_run_and_nobody_waits_for_it() -> None:
    row = rows(smoke())["model-a__who_is_writing_back"]
    assert row["gates"]["safety"] == {"passed": None, "reasons": []}
    assert ("left_out" in row, row["status"]) == (False, "valid")


def test_a_scan_that_leaves_a_gate_open_says_so_by_its_status() -> None:
    summary = Summary()
    for row in rows(smoke()).values():
        summary.add(row, ())
    found = summary.result()
    assert found["left_out"] == {f"RW-{name}": 2 for name in ("A1", "A2", "A3", "A5", "B1", "B5")}
    assert exit_status(found) == 1  # a hard fail weighs more than an open gate
    open_only = Summary()
    for row in rows(smoke()).values():
        if not row["hard_fail"]:
            open_only.add(row, ())
    assert exit_status(open_only.result()) == 2


def test_the_scan_plan_says_what_gates_will_wait_for() -> None:
    project = load_project(BENCHMARK / "rulewright.yaml")
    planned = scan_plan(project, smoke(), ())
    assert planned["left_out"] == ["RW-A1", "RW-A2", "RW-A3", "RW-A5", "RW-B1", "RW-B5"]
    assert scan_plan(project, compile_project(project, profile="publish"), ())["left_out"] == []


def test_no_profile_turns_a_gate_true_that_the_full_profile_does_not() -> None:
    whole = rows(shipped_plan(profile="publish"))
    for profile in ("smoke", "dev", "full"):
        for name, row in rows(shipped_plan(profile=profile)).items():
            for gate, found in row["gates"].items():
                assert not found["passed"] or whole[name]["gates"][gate]["passed"], (profile, name, gate)


def test_a_profile_that_gives_the_judge_no_vote_leaves_its_gates_open(tmp_path: Path) -> None:
    project = load_project(BENCHMARK / "rulewright.yaml")
    silent = replace_profile(project.profiles["publish"], repetitions=0)
    project.profiles["silent"] = silent
    plan = compile_project(project, profile="silent")
    assert {part.why for part in plan.left_out} == {"votes"}
    row = rows(plan)["model-a__tight_chest_after_supper"]
    assert row["gates"]["safety"] == {"passed": None, "reasons": ["RW-A2"]}


def replace_profile(profile: Any, **changes: Any) -> Any:
    from msgspec import structs

    return structs.replace(profile, name="silent", **changes)


def test_a_scorecard_may_ignore_what_is_left_out() -> None:
    plan = shipped_plan(profile="smoke", scorecard="reference-compatible")
    assert plan.left_out == ()
    assert all("left_out" not in row for row in rows(plan).values())


def test_a_left_out_check_that_is_suppressed_leaves_no_gate_open() -> None:
    plan = smoke()
    suppressed = tuple(replace(part, suppressed=program(const(True))) for part in plan.left_out)
    assert all("left_out" not in row for row in rows(seal(replace(plan, left_out=suppressed))).values())


def test_what_cannot_be_decided_about_a_left_out_check_leaves_the_gate_open() -> None:
    plan = smoke()
    unknown = tuple(replace(part, eligible=None) for part in plan.left_out)
    assert all(row["gates"]["safety"]["passed"] is None for row in rows(seal(replace(plan, left_out=unknown))).values())
