"""A profile that leaves out a gate's check leaves the gate open: what was not looked at has not passed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.shipped_plans import shipped_plan

from rulewright.check.project_check import compile_project
from rulewright.planning.scan import scan_plan
from rulewright.project import load_project
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode, seal
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import Summary, exit_status

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmark"


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
    import dataclasses

    return dataclasses.replace(profile, name="silent", **changes)


def test_a_scorecard_may_ignore_what_is_left_out() -> None:
    plan = shipped_plan(profile="smoke", scorecard="reference-compatible")
    assert plan.left_out == ()
    assert all("left_out" not in row for row in rows(plan).values())


def test_what_cannot_be_decided_about_a_left_out_check_leaves_the_gate_open() -> None:
    plan = smoke()
    unknown = tuple(replace(part, eligible=None) for part in plan.left_out)
    assert all(row["gates"]["safety"]["passed"] is None for row in rows(seal(replace(plan, left_out=unknown))).values())
