"""The ten scenarios of the confidence overlay (T007), each run for real; its words are those of the document."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.workflow.running import EVIDENCE, Bench, bench
from tests.shared_data import folder

from rulewright.errors import DocumentError
from rulewright_runtime import EvalMetric, compute_confidence, compute_raw

TITLES = (
    "Composite confidence score computation", "Raw mode bypasses aggregation", "Confidence is off by default",
    "Confidence loop overlay fires advisory", "Confidence below threshold — loop continues",
    "Confidence loop reaches MAX_ITERATION", "llm_judge requires a separate evaluator agent",
    "llm_judge evaluator must differ from task agent", "llm_judge with separate evaluator scores fairly",
    "Confidence score does not bypass policy gate",
)  # fmt: skip
ADVISORY = "confidence threshold met"
GATE = "{enabled: true, risk_tier: TIER, evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}}"


def test_these_are_the_scenarios_of_the_document() -> None:
    (seed,) = folder("seeds").glob("002_*")
    assert tuple(re.findall(r"^  Scenario: (.+)$", seed.read_text(encoding="utf-8"), re.MULTILINE)) == TITLES


def flow(loop: str, tier: str = "T1", overlays: str = "") -> str:
    gate = f"policy_gate: {GATE.replace('TIER', tier)}, "
    return f"tasks: {{build: {{agent: dev, overlays: {{{gate}{overlays}confidence_loop: {loop}}}}}}}"


def loop(threshold: float = 0.80, bound: int = 3, more: str = "") -> str:
    metric = "{type: checklist_completion, source: list.md}"
    return f"{{enabled: true, threshold: {threshold}, max_iterations: {bound}, metrics: [{metric}]{more}}}"


def scoring(*hundredths: int) -> dict[str, Any]:
    """An agent whose checklists are ticked to these shares, one after the other."""
    return {"dev": [{"files": {"list.md": "- [x] a\n" * n + "- [ ] b\n" * (100 - n)}} for n in hundredths]}


def advisories(run: Bench) -> list[str]:
    return [event.details["signal"] for event in run.events("confidence.advisory")]


def test_composite_confidence_score_computation() -> None:
    metrics = [EvalMetric("test_coverage", value) for value in (0.9, 0.8, 0.7)]
    assert compute_confidence(metrics) == 0.8


@pytest.mark.parametrize(("second", "met"), [(90, True), (79, False)])
def test_raw_mode_bypasses_aggregation(tmp_path: Path, second: int, met: bool) -> None:
    assert compute_raw([EvalMetric("lint_score", 0.85), EvalMetric("test_coverage", 0.90)]) == [0.85, 0.90]
    metrics = "{type: checklist_completion, source: list.md}, {type: llm_judge, evaluator_agent: reviewer}"
    raw = f"{{enabled: true, mode: raw, threshold: 0.8, max_iterations: 1, metrics: [{metrics}]}}"
    judge = {"reviewer": [{"text": f'{{"score": 0.{second}}}'}]}
    run = bench(tmp_path, flow(raw), {**scoring(85), **judge})
    assert run.run().status == ("COMPLETED" if met else "WAITING")
    assert advisories(run) == [ADVISORY] * met
    measured = {metric.type: metric.value for metric in run.record().context.metrics}
    assert measured == {"checklist_completion": 0.85, "llm_judge": second / 100}
    assert run.record().context.confidence is None


def test_confidence_is_off_by_default(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    assert run.run().status == "COMPLETED"
    assert run.record().context.metrics == ()
    assert advisories(run) == []


@pytest.mark.parametrize("passes", [True, False])
def test_confidence_loop_overlay_fires_advisory(tmp_path: Path, passes: bool) -> None:
    files = EVIDENCE if passes else {**EVIDENCE, "junit.xml": "<testsuite/>"}
    run = bench(tmp_path, flow(loop(0.80)), scoring(85), files)
    assert (run.run().status == "COMPLETED") == passes
    assert advisories(run)[0] == ADVISORY == "confidence threshold met"
    report = run.store.reports("run-1")[0]
    assert (report.confidence_advisory, report.confidence_score) == (ADVISORY, 0.85)
    assert report.verdict == ("PASS" if passes else "FAIL")


def test_confidence_below_threshold_loop_continues(tmp_path: Path) -> None:
    run = bench(tmp_path, flow(loop(0.80)), scoring(72, 85))
    assert run.run().status == "COMPLETED"
    decisions = run.events("overlay.iteration")
    assert [e.details["decision"] for e in decisions if e.details["overlay_type"] == "confidence_loop"] == [
        "continue",
        "exit",
    ]
    assert len(advisories(run)) == 1
    order = [event.event_type for event in run.events()]
    assert order.index("confidence.advisory") > order.index("overlay.iteration")


@pytest.mark.parametrize("people", [True, False])
def test_confidence_loop_reaches_max_iteration(tmp_path: Path, people: bool) -> None:
    off = "" if people else "hil: {enabled: false}, "
    run = bench(tmp_path, flow(loop(0.80, 3), overlays=off), scoring(10, 20, 30))
    result = run.run()
    assert len([brief for brief in run.recorder.briefs if brief.purpose == "work"]) == 3
    assert run.record().max_iterations_exceeded == ("confidence_loop",)
    if people:
        assert (result.status, result.waiting[0].trigger) == ("WAITING", "loop_exhaustion")
    else:
        assert (result.status, result.reasons["build"]) == ("FAILED", "max_iterations_exceeded")


def test_llm_judge_requires_a_separate_evaluator_agent(tmp_path: Path) -> None:
    judged = "{enabled: true, threshold: 0.8, max_iterations: 1, metrics: [{type: llm_judge}]}"
    with pytest.raises(DocumentError) as refused:
        bench(tmp_path, flow(judged))
    assert any("llm_judge metric requires evaluator_agent" in each.message for each in refused.value.diagnostics)


def test_llm_judge_evaluator_must_differ_from_task_agent(tmp_path: Path) -> None:
    judge = "{type: llm_judge, evaluator_agent: dev}"
    judged = f"{{enabled: true, threshold: 0.8, max_iterations: 1, metrics: [{judge}]}}"
    with pytest.raises(DocumentError) as refused:
        bench(tmp_path, flow(judged))
    message = "llm_judge evaluator_agent must differ from task agent"
    assert any(message in each.message for each in refused.value.diagnostics)


def test_llm_judge_with_separate_evaluator_scores_fairly(tmp_path: Path) -> None:
    judge = "{type: llm_judge, evaluator_agent: reviewer, criteria: [clear]}"
    judged = f"{{enabled: true, threshold: 0.7, max_iterations: 1, metrics: [{judge}]}}"
    run = bench(tmp_path, flow(judged), {"reviewer": [{"text": '{"score": 0.78}'}]})
    assert run.run().status == "COMPLETED"
    (question,) = [brief for brief in run.recorder.briefs if brief.purpose == "judge"]
    sessions = {brief.session_id for brief in run.recorder.briefs if brief.agent == "dev"}
    assert question.agent == "reviewer"
    assert question.session_id not in sessions
    assert question.prompt.startswith(
        "Score the following output against these criteria on a 0.0–1.0 scale. Return only a JSON score object."
    )
    (metric,) = run.store.reports("run-1")[0].metrics
    assert (metric["value"], metric["evaluator_agent"]) == (0.78, "reviewer")


def test_confidence_score_does_not_bypass_policy_gate(tmp_path: Path) -> None:
    run = bench(tmp_path, flow(loop(0.80), "T2"), scoring(99))
    result = run.run()
    assert (result.status, result.waiting[0].trigger) == ("WAITING", "t2_gate")
    report = run.store.reports("run-1")[0]
    assert (report.confidence_score, report.confidence_advisory, report.hil_required) == (0.99, ADVISORY, True)
    assert result.waiting[0].context["gate_reports"][0]["confidence_advisory"] == ADVISORY


def test_the_objective_metrics_need_no_judge(tmp_path: Path) -> None:
    run = bench(tmp_path, flow(loop(0.80)), scoring(90))
    assert run.run().status == "COMPLETED"
    assert {brief.purpose for brief in run.recorder.briefs} == {"work"}


@pytest.mark.parametrize("score", [0.3, 0.81, 0.99])
def test_the_gate_says_the_same_whatever_the_score(tmp_path: Path, score: float) -> None:
    verdicts = []
    for name, files in (("good", EVIDENCE), ("bad", {**EVIDENCE, "ruff.json": "no report"})):
        (tmp_path / name).mkdir()
        exits = ", exit_conditions: ['loop.iteration >= 1']"
        run = bench(tmp_path / name, flow(loop(0.80, 1, exits)), scoring(round(score * 100)), files)
        run.run()
        verdicts.append(run.store.reports("run-1")[0].verdict)
    assert verdicts == ["PASS", "FAIL"]
