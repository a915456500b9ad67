"""The published rules of workflows, run for real: each test cites the rows it holds to by their ids."""

import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.workflow.running import BROKEN, EVIDENCE, GATE, Bench, bench
from tests.shared_data import folder

from rulewright_runtime import EvalMetric, compute_confidence
from rulewright_runtime.errors import StateError
from rulewright_runtime.workflow.hil import QueueError
from rulewright_runtime.workflow.machine import step
from rulewright_runtime.workflow.run_database import Store

HERE = {
    "CL01", "CL03", "CL05", "CL07", "CL08", "CL09", "CL10",
    "PG01", "PG02", "PG03", "PG04", "PG05", "PG06", "PG09",
    "PW03", "PW04", "PW05", "PW06", "PW09",
    "AR01", "AR02", "AR04", "AR06",
    "HIL01", "HIL02", "HIL03", "HIL07", "HIL08", "HIL10",
    "OC01", "OC04", "OC05", "OC06", "OC07",
    "ST02", "ST04", "ST05", "EV02", "EV03",
}  # fmt: skip


def test_every_published_rule_about_running_is_held_here() -> None:
    rows = json.loads((folder("workflow") / "rules.json").read_text(encoding="utf-8"))
    running = {row["id"] for row in rows if row["id"].rstrip("0123456789") not in {"WL", "EX"}}
    text = Path(__file__).read_text(encoding="utf-8")
    cited = {rule for rule in HERE if text.count(rule) > 1}
    assert running == HERE == cited


def gate(tier: str = "T1", more: str = "", evidence: str = "acceptance: junit.xml, lint: ruff.json") -> str:
    return f"{{enabled: true, risk_tier: {tier}, evidence: {{{evidence}}}{more}}}"


def scored(threshold: float, bound: int, rest: str = "") -> str:
    metric = "{type: checklist_completion, source: list.md}"
    return f"{{enabled: true, threshold: {threshold}, max_iterations: {bound}, metrics: [{metric}]{rest}}}"


def task(*overlays: str, more: str = "") -> str:
    return f"tasks: {{build: {{agent: dev, {more} overlays: {{{', '.join(overlays)}}}}}}}"


def ticked(done: int, total: int) -> dict[str, Any]:
    items = ["- [x] yes"] * done + ["- [ ] no"] * (total - done)
    return {"summary": f"{done} of {total}", "files": {"list.md": "\n".join(items)}}


def test_the_mean_of_three_metrics() -> None:
    """CL01."""
    assert compute_confidence([EvalMetric("lint_score", value) for value in (0.9, 0.8, 0.7)]) == 0.8


def test_a_task_without_confidence_is_not_scored(tmp_path: Path) -> None:
    """CL03."""
    run = bench(tmp_path, task(f"policy_gate: {GATE}"))
    assert run.run().status == "COMPLETED"
    assert "score" not in run.places()
    assert run.events("confidence.advisory") == []
    report = run.store.reports("run-1")[0]
    assert (report.confidence_score, report.confidence_advisory, report.metrics) == (None, None, [])


def test_confidence_below_the_threshold_continues_without_an_advisory(tmp_path: Path) -> None:
    """CL05: 0.72 against 0.80."""
    text = task(f"policy_gate: {GATE}", f"confidence_loop: {scored(0.80, 3)}")
    run = bench(tmp_path, text, {"dev": [ticked(18, 25)]})
    for _ in ("ready", "worked", "scored"):
        run.run(resume=bool(run.store.runs()), one_step=True)
    assert run.record().context.confidence == "18/25"
    run.run(resume=True, one_step=True)
    assert run.events("confidence.advisory") == []
    assert run.events("overlay.iteration")[0].details["decision"] == "continue"
    assert run.record().state.place == "work"


def judged(evaluator_reply: str) -> dict[str, Any]:
    return {"dev": [{"files": {"out.md": "the output"}}], "reviewer": [{"text": evaluator_reply}]}


JUDGE = "{enabled: true, threshold: 0.8, max_iterations: 1, metrics: [{type: llm_judge, evaluator_agent: reviewer}]}"


def test_a_judge_is_asked_in_a_session_of_its_own(tmp_path: Path) -> None:
    """CL07."""
    text = task(f"policy_gate: {GATE}", f"confidence_loop: {JUDGE}", more="outputs: [out.md], description: Write it.,")
    run = bench(tmp_path, text, judged('{"score": 0.85}'))
    assert run.run().status == "COMPLETED"
    work = [brief for brief in run.recorder.briefs if brief.purpose == "work"]
    judge = [brief for brief in run.recorder.briefs if brief.purpose == "judge"]
    assert [brief.agent for brief in judge] == ["reviewer"]
    assert judge[0].prompt.startswith("Score the following output against these criteria on a 0.0–1.0 scale.")
    assert "- Write it." in judge[0].prompt
    assert "the output" in judge[0].prompt
    for name in ("session_id", "attempt_id", "operation_id"):
        assert not {getattr(brief, name) for brief in work} & {getattr(brief, name) for brief in judge}
    metric = run.store.reports("run-1")[0].metrics[0]
    assert (metric["type"], metric["value"], metric["evaluator_agent"]) == ("llm_judge", 0.85, "reviewer")


def test_high_confidence_does_not_bypass_sign_off(tmp_path: Path) -> None:
    """CL08, PG03, OC04: confidence is noted as advice, and a person has to sign."""
    ready = gate("T2", evidence="acceptance: junit.xml, lint: ruff.json, readiness: ready.md")
    text = task(f"policy_gate: {ready}", f"confidence_loop: {scored(0.85, 2)}")
    run = bench(tmp_path, text, {"dev": [ticked(99, 100)]})
    assert run.run().status == "WAITING"
    item = run.store.items(waiting=True)[0]
    assert (item.trigger, item.status) == ("t2_gate", "PENDING")
    report = run.store.reports("run-1")[0]
    assert (report.verdict, report.hil_required) == ("PASS", True)
    assert (report.confidence_score, report.confidence_advisory) == (0.99, "confidence threshold met")
    assert run.status() == "HIL_PENDING"
    assert run.run(resume=True).status == "WAITING"
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


@pytest.mark.parametrize("reply", ["no object", '{"score": NaN}', '{"score": 2}', '{"score": 1} {"score": 1}'])
def test_a_confidence_that_can_not_be_computed_is_zero_with_a_warning(
    tmp_path: Path, reply: str, caplog: pytest.LogCaptureFixture
) -> None:
    """CL09."""
    run = bench(tmp_path, task(f"policy_gate: {GATE}", f"confidence_loop: {JUDGE}"), judged(reply))
    with caplog.at_level(logging.WARNING):
        assert run.run().status == "WAITING"
    assert run.record().context.confidence == "0/1"
    assert "counts as 0.0" in caplog.text
    assert run.events("metric.failed")[0].level == "warning"


@pytest.mark.parametrize(
    "metrics", [[], [EvalMetric("lint_score", 0.0), EvalMetric("llm_judge", 0.0)], [EvalMetric("lint_score", 1.0, 0.0)]]
)
def test_nothing_to_average_is_zero(metrics: list[EvalMetric]) -> None:
    """CL10."""
    assert compute_confidence(metrics) == 0.0


def test_evidence_lets_a_task_pass(tmp_path: Path) -> None:
    """PG01."""
    run = bench(tmp_path, task(f"policy_gate: {GATE}"))
    assert run.run().status == "COMPLETED"
    assert run.store.reports("run-1")[0].verdict == "PASS"


@pytest.mark.parametrize("evidence", ["acceptance: junit.xml", "acceptance: junit.xml, lint: gone.json"])
def test_missing_verification_fails_the_gate(tmp_path: Path, evidence: str) -> None:
    """PG02, PG04: however high the confidence is."""
    text = task(f"policy_gate: {gate(evidence=evidence)}", f"confidence_loop: {scored(0.8, 1)}")
    run = bench(tmp_path, text, {"dev": [ticked(99, 100)]})
    assert run.run().status == "WAITING"
    report = run.store.reports("run-1")[0]
    assert (report.verdict, report.confidence_score) == ("FAIL", 0.99)
    assert "missing verification evidence" in report.evidence_checks["verification"].details
    assert any("missing verification evidence" in reason for reason in report.reasons)
    assert "NEEDS_REWORK" in [step["after"] for step in run.store.transitions("run-1", "build")]


def test_evidence_that_can_not_be_read_names_its_file(tmp_path: Path) -> None:
    run = bench(tmp_path, task(f"policy_gate: {GATE}"), files={**EVIDENCE, "ruff.json": "{"})
    run.run()
    details = run.store.reports("run-1")[0].evidence_checks["verification"].details
    assert "evidence collection error: `ruff.json`" in details


def test_the_lowest_tier_asks_for_acceptance_only(tmp_path: Path) -> None:
    """PG05."""
    run = bench(tmp_path, task(f"policy_gate: {gate('T0', evidence='acceptance: junit.xml')}"))
    assert run.run().status == "COMPLETED"
    checks = run.store.reports("run-1")[0].evidence_checks
    assert {name: check.status for name, check in checks.items()} == {
        "acceptance_evidence": "PASS",
        "verification": "SKIPPED",
        "operational_readiness": "SKIPPED",
        "requirement_coverage": "SKIPPED",
    }


@pytest.mark.parametrize(
    ("required", "threshold", "verdict"), [("true", 0.90, "FAIL"), ("true", 0.5, "PASS"), ("false", 0.90, "PASS")]
)
def test_requirements_below_the_threshold_fail_where_they_are_required(
    tmp_path: Path, required: str, threshold: float, verdict: str
) -> None:
    """PG06."""
    files = {**EVIDENCE, "req.md": "REQ-1 REQ-2", "code.py": "# REQ-1"}
    evidence = "acceptance: junit.xml, lint: ruff.json, requirements: req.md, implemented: code.py"
    more = f", require_coverage: {required}, coverage_threshold: {threshold}"
    run = bench(tmp_path, task(f"policy_gate: {gate(more=more, evidence=evidence)}"), files=files)
    run.run()
    report = run.store.reports("run-1")[0]
    assert (report.verdict, report.coverage) == (verdict, 0.5)
    details = report.evidence_checks["requirement_coverage"].details
    assert ("requirement coverage below threshold" in details) == (verdict == "FAIL")
    assert ("(not required)" in details) == (required == "false")


def test_what_is_not_asked_for_is_skipped_with_its_reason(tmp_path: Path) -> None:
    """PG09."""
    run = bench(tmp_path, task(f"policy_gate: {GATE}"))
    run.run()
    checks = run.store.reports("run-1")[0].evidence_checks
    assert (checks["operational_readiness"].status, checks["operational_readiness"].details) == (
        "SKIPPED",
        "not required for T1",
    )
    assert (checks["requirement_coverage"].status, checks["requirement_coverage"].details) == (
        "SKIPPED",
        "not configured",
    )


def pair(bound: int, more: str = "") -> str:
    agents = "driver_agent: dev, challenger_agent: reviewer"
    return f"paired_workflow: {{enabled: true, {agents}, max_iterations: {bound}{more}}}"


NO = {"approved": False, "critique": "not yet"}
YES = {"approved": True, "critique": "fine"}


def test_a_pair_with_confidence_still_needs_the_gate(tmp_path: Path) -> None:
    """PW03: 0.85 against 0.82."""
    text = task(f"policy_gate: {GATE}", pair(2), f"confidence_loop: {scored(0.82, 2)}")
    run = bench(tmp_path, text, {"dev": [ticked(17, 20)], "reviewer": [YES]}, {**EVIDENCE, "junit.xml": BROKEN})
    assert run.run().status == "WAITING"
    assert run.events("confidence.advisory")[0].details["signal"] == "confidence threshold met"
    assert run.status() == "HIL_PENDING"
    assert run.store.reports("run-1")[0].verdict == "FAIL"


@pytest.mark.parametrize("partner", ["", pair(1)])
def test_a_loop_inside_the_task_s_own_uses_only_its_own_iterations(tmp_path: Path, partner: str) -> None:
    overlays = [f"policy_gate: {GATE}", *filter(None, [partner]), f"confidence_loop: {scored(0.8, 3)}"]
    text = task(*overlays, more="loop: {max_iterations: 1},")
    run = bench(tmp_path, text, {"dev": [ticked(0, 2), ticked(1, 2), ticked(2, 2)], "reviewer": [YES]})
    assert (run.run().status, run.status()) == ("COMPLETED", "COMPLETED")
    assert run.record().state.used[-1] == 3


def drivers(run: Bench) -> list[str]:
    return [brief.agent for brief in run.recorder.briefs if brief.purpose == "work"]


def test_driver_and_challenger_swap_after_each_subtask(tmp_path: Path) -> None:
    """PW04."""
    script = {who: [{**NO, "summary": "x"}] for who in ("dev", "reviewer")}
    run = bench(tmp_path, task(pair(3, ", role_switch: subtask")), script)
    run.run()
    assert drivers(run) == ["dev", "reviewer", "dev"]
    challengers = [brief.agent for brief in run.recorder.briefs if brief.purpose == "challenge"]
    assert challengers == ["reviewer", "dev", "reviewer"]


def test_a_session_keeps_its_roles(tmp_path: Path) -> None:
    """PW05."""
    run = bench(tmp_path, task(pair(3)), {"reviewer": [NO]})
    run.run()
    assert drivers(run) == ["dev", "dev", "dev"]
    assert run.events("pair.roles_switched") == []


def test_every_challenge_is_an_iteration_of_the_pair(tmp_path: Path) -> None:
    """Also where the pair is decided only after the gate, and another loop repeats the challenge before it."""
    loop = "loop: {max_iterations: 3, exit_conditions: [pair.challenger_approved]},"
    ends = ", exit_conditions: ['policy_gate.verdict == PASS']"
    run = bench(tmp_path, task(f"policy_gate: {GATE}", pair(4, ends), more=loop), {"reviewer": [NO, YES]})
    assert (run.run().status, run.record().state.used) == ("COMPLETED", (2, 2))


def test_every_score_is_an_iteration_of_the_confidence_loop(tmp_path: Path) -> None:
    """Also where that loop is decided only after the gate, and the pair repeats the score before it."""
    ends = ", exit_when: all, exit_conditions: ['policy_gate.verdict == PASS']"
    text = task(f"policy_gate: {GATE}", pair(4), f"confidence_loop: {scored(0.8, 2, ends)}")
    run = bench(tmp_path, text, {"dev": [ticked(2, 2)], "reviewer": [NO]})
    assert run.run().status == "WAITING"
    assert run.record().state.used == (2, 2)
    assert run.places()[-1] == "exhausted:paired_workflow"


def test_a_pair_without_an_end_goes_to_a_person_with_its_history(tmp_path: Path) -> None:
    """PW06."""
    run = bench(tmp_path, task(pair(4)), {"reviewer": [NO]})
    assert run.run().status == "WAITING"
    assert len(drivers(run)) == 4
    item = run.store.items(waiting=True)[0]
    assert item.trigger == "loop_exhaustion"
    session = item.context["overlay_state"]["pair_session"]
    assert [entry["iteration"] for entry in session["history"]] == [1, 2, 3, 4]
    assert {entry["challenger_critique"] for entry in session["history"]} == {"not yet"}
    assert item.context["overlay_state"]["max_iterations_exceeded"] is True


def test_a_pair_without_an_end_and_without_people_fails_with_a_flag(tmp_path: Path) -> None:
    """PW09."""
    run = bench(tmp_path, task("hil: {enabled: false}", pair(2)), {"reviewer": [NO]})
    result = run.run()
    assert result.status == "FAILED"
    assert run.record().max_iterations_exceeded == ("paired_workflow",)
    assert run.events("task.failed")[0].details["max_iterations_exceeded"] is True
    assert result.reasons["build"] == "max_iterations_exceeded"


def review(bound: int = 3) -> str:
    return f"agentic_review: {{enabled: true, coder_agent: dev, reviewer_agent: reviewer, max_iterations: {bound}}}"


GO = {"decision": "GO", "feedback": "good"}
NO_GO = {"decision": "NO_GO", "feedback": "name the units"}


def test_a_reviewer_says_go(tmp_path: Path) -> None:
    """AR01."""
    script = {"dev": [{"files": {"out.md": "x"}}], "reviewer": [GO]}
    run = bench(tmp_path, task(review(), more="outputs: [out.md],"), script)
    assert run.run().status == "COMPLETED"
    assert list(run.record().locked or ()) == ["out.md"]
    assert run.events("artifact.locked")[0].details == {"outputs": ["out.md"]}
    assert run.store.review_log("run-1", "build")["final_decision"] == "GO"


def test_what_is_locked_must_not_change_before_the_gate(tmp_path: Path) -> None:
    text = task(f"policy_gate: {GATE}", review(), more="outputs: [out.md],")
    run = bench(tmp_path, text, {"dev": [{"files": {"out.md": "x"}}], "reviewer": [GO]})
    run.run(one_step=True)
    while run.record().state.place != "gate":
        run.run(resume=True, one_step=True)
    (tmp_path / "out.md").write_text("changed", encoding="utf-8")
    run.run(resume=True, one_step=True)
    report = run.store.reports("run-1")[0]
    assert report.verdict == "FAIL"
    assert "locked output `out.md` was changed after its review" in report.reasons


def test_feedback_reaches_the_coder_and_the_log_keeps_every_iteration(tmp_path: Path) -> None:
    """AR02, AR04."""
    run = bench(tmp_path, task(review()), {"reviewer": [NO_GO, GO]})
    assert run.run().status == "COMPLETED"
    work = [brief for brief in run.recorder.briefs if brief.purpose == "work"]
    assert work[0].feedback == []
    assert work[1].feedback == [{"from": "reviewer", "text": "name the units"}]
    log = run.store.review_log("run-1", "build")
    assert [(e["iteration"], e["decision"], e["feedback"]) for e in log["iterations"]] == [
        (1, "NO_GO", "name the units"),
        (2, "GO", "good"),
    ]
    assert all(entry["timestamp"] for entry in log["iterations"])
    assert log["final_decision"] == "GO"
    assert [event.details for event in run.events("overlay.iteration")] == [
        {"overlay_type": "agentic_review", "iteration": 1, "decision": "NO_GO", "outcome": "continue"},
        {"overlay_type": "agentic_review", "iteration": 2, "decision": "GO", "outcome": "exit"},
    ]
    with sqlite3.connect(run.store.path) as other:
        for change in ("update review_log set body = ''", "delete from review_log"):
            with pytest.raises(sqlite3.IntegrityError, match="only ever added to"):
                other.execute(change)
    other.close()


def test_a_review_log_that_can_not_be_written_is_only_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """AR06."""
    run = bench(tmp_path, task(review()), {"reviewer": [GO]})
    with run.store.transaction() as db:
        db.execute("create trigger full before insert on review_log begin select raise(abort, 'disk full'); end")
    assert run.run().status == "COMPLETED"
    assert "the review log of `build` can't be written: disk full" in caplog.text


def test_a_person_releases_a_task_before_it_runs(tmp_path: Path) -> None:
    """HIL01, HIL02, HIL08, ST05."""
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    assert run.run().status == "WAITING"
    item = run.store.items()[0]
    assert (item.status, item.trigger, item.task_id) == ("PENDING", "requires_human", "build")
    assert run.recorder.briefs == []
    assert (run.status(), set(item.context)) == (
        "HIL_PENDING",
        {"task_definition", "loop_history", "overlay_state", "gate_reports"},
    )
    run.decide("ack")
    assert run.store.items()[0].status == "ACKED"
    with pytest.raises(QueueError, match=r"`run-1-build-1` is ACKED already, by ana"):
        run.decide("ack")
    assert run.run(resume=True).status == "WAITING"
    run.decide("resolve", "go ahead")
    decided = run.store.items()[0]
    assert (decided.status, decided.resolved_by, decided.resolution_notes) == ("RESOLVED", "ana", "go ahead")
    assert run.run(resume=True).status == "COMPLETED"
    assert [s["after"] for s in run.store.transitions("run-1", "build")] == ["HIL_PENDING", "RUNNING", "COMPLETED"]


def test_a_rejection_fails_the_task_and_nothing_after_it_runs(tmp_path: Path) -> None:
    """HIL03, ST05."""
    text = "tasks: {build: {agent: dev, requires_human: true}, ship: {agent: dev, dependencies: [build]}}"
    run = bench(tmp_path, text)
    run.run()
    for reason in ("", "\u200b"):
        with pytest.raises(QueueError, match="needs a reason"):
            run.decide("reject", reason)
        with pytest.raises(QueueError, match="needs a reason"):
            run.decide("resolve", reason)
    run.decide("reject", "too risky")
    result = run.run(resume=True)
    assert (result.status, result.blocked) == ("FAILED", ("ship",))
    assert "too risky" in result.reasons["build"]
    assert (run.status("build"), run.status("ship"), run.recorder.briefs) == ("FAILED", "PENDING", [])
    assert run.events("hil.rejected")[0].details["notes"] == "too risky"


def test_a_second_decision_is_refused(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    run.run()
    run.decide("resolve")
    with pytest.raises(QueueError, match="RESOLVED already"):
        run.store.decide("run-1-build-1", "reject", by="ben", notes="no", now="")
    assert len(run.events("hil.resolved")) == 1


def test_without_people_a_task_runs_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """HIL07."""
    run = bench(tmp_path, task("hil: {enabled: false}", more="requires_human: true,"))
    assert run.run().status == "COMPLETED"
    assert run.store.items() == []
    assert "requires_human" in caplog.text
    assert run.events("task.warning")[0].level == "warning"


def test_a_queue_that_can_not_be_written_stops_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """HIL10."""
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    (tmp_path / "queue").write_text("a file where the folder should be", encoding="utf-8")
    run.store = Store(tmp_path / "state" / "runs.db", queue_path=tmp_path / "queue")
    with pytest.raises(QueueError, match="can't be written"):
        run.run()
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]
    assert (run.status(), run.store.items(), run.recorder.briefs) == ("PENDING", [], [])
    (tmp_path / "queue").unlink()
    assert run.run(resume=True).status == "WAITING"
    assert (tmp_path / "queue" / "run-1-build-1.json").is_file()


EVERYTHING = task(
    f"policy_gate: {gate('T2', evidence='acceptance: junit.xml, lint: ruff.json, readiness: ready.md')}",
    review(),
    f"confidence_loop: {scored(0.8, 3)}",
    more="requires_human: true,",
)


def test_the_order_of_the_overlays_is_fixed(tmp_path: Path) -> None:
    """OC01: people outside, the agent inside; results flow from the inside out."""
    run = bench(tmp_path, EVERYTHING, {"dev": [ticked(9, 10)], "reviewer": [GO]})
    run.run()
    run.decide("resolve")
    run.run(resume=True)
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    assert run.events("task.started")[0].details["overlays"] == [
        "hil",
        "policy_gate",
        "agentic_review",
        "confidence_loop",
    ]
    stages = [place for place in run.places() if ":" not in place]
    assert stages == ["before", "work", "score", "review", "gate", "sign_off", "signed", "done"]


def test_exhausted_loops_go_to_a_person_with_everything(tmp_path: Path) -> None:
    """OC05."""
    run = bench(tmp_path, EVERYTHING, {"dev": [ticked(9, 10)], "reviewer": [NO_GO]})
    run.run()
    run.decide("resolve")
    assert run.run(resume=True).status == "WAITING"
    item = run.store.items(waiting=True)[0]
    assert (item.trigger, item.reason) == ("loop_exhaustion", "max_iterations_exceeded")
    history = item.context["loop_history"]
    assert [entry["confidence_score"] for entry in history if entry["step"] == "score"] == [0.9, 0.9, 0.9]
    assert [entry["decision"] for entry in history if entry["step"] == "review"] == ["NO_GO"] * 3
    assert "gate_reports" in item.context


def test_gate_reports_reach_the_person_when_rework_is_used_up(tmp_path: Path) -> None:
    """OC05."""
    text = task(f"policy_gate: {GATE}", f"confidence_loop: {scored(0.8, 3)}")
    run = bench(tmp_path, text, {"dev": [ticked(9, 10)]}, {**EVIDENCE, "junit.xml": BROKEN})
    assert run.run().status == "WAITING"
    reports = run.store.items(waiting=True)[0].context["gate_reports"]
    assert [report["verdict"] for report in reports] == ["FAIL"] * 3
    assert [report["confidence_score"] for report in reports] == [0.9] * 3


def test_the_reason_names_the_gate_where_it_used_up_the_iterations(tmp_path: Path) -> None:
    """OC05, PG02."""
    text = task(f"policy_gate: {GATE}", f"confidence_loop: {scored(0.8, 2)}")
    run = bench(tmp_path, text, {"dev": [ticked(9, 10)]}, {**EVIDENCE, "junit.xml": BROKEN})
    assert run.run().status == "WAITING"
    words = "max_iterations_exceeded: the policy gate failed: acceptance_evidence: 0 tests passed, 1 failed"
    assert run.store.items(waiting=True)[0].reason.startswith(words)
    run.decide("resolve")
    assert (
        run.run(resume=True).reasons["build"].startswith("the policy gate failed again: acceptance_evidence: 0 tests")
    )
    (tmp_path / "without").mkdir()
    text = task("hil: {enabled: false}", f"policy_gate: {GATE}", f"confidence_loop: {scored(0.8, 2)}")
    run = bench(tmp_path / "without", text, {"dev": [ticked(9, 10)]}, {**EVIDENCE, "junit.xml": BROKEN})
    assert run.run().reasons["build"].startswith(words)
    assert run.events("task.failed")[0].details["reason"].startswith(words)


def test_an_export_gives_numbers_as_numbers(tmp_path: Path) -> None:
    run = bench(tmp_path, task(f"policy_gate: {GATE}", f"confidence_loop: {scored(0.8, 2)}"), {"dev": [ticked(9, 10)]})
    run.run()
    context = run.store.export("run-1")["tasks"]["build"]["record"]["context"]
    assert (context["confidence"], context["confidence_exact"]) == (0.9, "9/10")


def test_a_listener_that_fails_does_not_end_a_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def publish(_: Any) -> None:
        raise OSError("no space left on device")

    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    assert run.run(publish=publish).status == "COMPLETED"
    assert "events could not be published: OSError: no space left on device" in caplog.text


def test_the_same_inputs_give_the_same_sequence_and_outcome(tmp_path: Path) -> None:
    """OC06."""
    traces = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        run = bench(tmp_path / name, EVERYTHING, {"dev": [ticked(9, 10)], "reviewer": [NO_GO, GO]})
        run.run()
        run.decide("resolve")
        run.run(resume=True)
        run.decide("resolve")
        run.run(resume=True)
        traces.append((run.places(), [(e.event_type, e.details.get("decision")) for e in run.events()]))
    assert traces[0] == traces[1]
    assert traces[0][0][-1] == "done"


def test_a_task_completes_only_after_all_its_overlays_passed(tmp_path: Path) -> None:
    """OC07."""
    run = bench(tmp_path, EVERYTHING, {"dev": [ticked(9, 10)], "reviewer": [GO]})
    while run.run(resume=bool(run.store.runs())).status == "WAITING":
        run.decide("resolve")
    assert run.status() == "COMPLETED"
    assert set(run.record().passed) >= {"policy_gate", "agentic_review", "confidence_loop"}


@pytest.mark.parametrize("event", ["ready", "worked", "gated", "resolved", "rejected", "failed", "decide"])
def test_nothing_leads_on_from_completed(tmp_path: Path, event: Any) -> None:
    """ST02."""
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    run.run()
    with pytest.raises(StateError, match="COMPLETED"):
        step(run.plan.task("build").machine, run.record().state, event, {})


def test_a_restart_continues_where_the_run_was(tmp_path: Path) -> None:
    """ST04."""
    run = bench(tmp_path, "tasks: {a: {agent: dev}, b: {agent: dev, dependencies: [a]}}")
    run.run(only="a")
    assert (run.status("a"), run.status("b")) == ("COMPLETED", "PENDING")
    run.recorder.briefs.clear()
    assert run.run(resume=True).status == "COMPLETED"
    assert [brief.task_id for brief in run.recorder.briefs] == ["b"]


def test_a_completed_task_says_what_it_cost(tmp_path: Path) -> None:
    """EV02."""
    spent = {"usage": {"tokens": 120, "cost_usd": 0.5}}
    script = {"dev": [[{"raise": "busy"}, {**spent}], spent], "reviewer": [NO_GO, GO]}
    run = bench(tmp_path, task(review()), script, max_retries=1)
    assert run.run().status == "COMPLETED"
    details = run.events("task.completed")[0].details
    assert details.pop("duration_ms") >= 0
    assert details == {"tokens_used": 240, "estimated_cost_usd": 1.0, "retry_count": 1, "loop_count": 2}
    assert run.events("task.retrying")[0].details == {"retry": 1, "reason": "busy"}


@pytest.mark.parametrize(("cost", "kinds"), [(7.9, []), (8.0, [80.0]), (9.0, [90.0])])
def test_eighty_percent_of_the_budget_are_a_warning(tmp_path: Path, cost: float, kinds: list[float]) -> None:
    """EV03."""
    run = bench(tmp_path, "tasks: {build: {agent: dev}}", {"dev": [{"usage": {"cost_usd": cost}}]})
    assert run.run().status == "COMPLETED"
    warnings = run.events("cost.budget_warning")
    assert [event.details["pct_used"] for event in warnings] == kinds
    if warnings:
        assert warnings[0].details == {"current_cost": cost, "budget": 10.0, "pct_used": kinds[0]}
