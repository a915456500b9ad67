"""Judges, contracts and gates at their edges: what is asked again, what counts as nothing, what is refused."""

import os
import re
from contextlib import ExitStack, closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.model_server import chat, model_server
from tests.runtime.workflow.running import EVIDENCE, GATE, bench, plan_of

from rulewright_runtime.calls.budget import Price
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.models.http import HttpModel
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.runs.live import JudgeSettings, LiveJudge, WaitingJudge
from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.adapters import AgentReply, Brief
from rulewright_runtime.workflow.artifacts import breaches
from rulewright_runtime.workflow.confidence import LOG
from rulewright_runtime.workflow.gate import judge_evidence
from rulewright_runtime.workflow.hil_text import describe
from rulewright_runtime.workflow.run_settings import AdapterSettings
from rulewright_runtime.workflow.task_context import MeasuredMetric, TaskContext
from rulewright_runtime.workflow.task_scoring import parse_score
from rulewright_runtime.workflow.workflow_plan import Artifact, Contract

JUDGED = """
tasks:
  build:
    agent: dev
    outputs: [{path: out.md, contract: {required_sections: [Goal], required_fields: [owner]}}]
    overlays:
      policy_gate: {enabled: true, risk_tier: T0, evidence: {acceptance: junit.xml}}
      confidence_loop:
        enabled: true
        threshold: 0.5
        max_iterations: 1
        metrics:
          - {type: llm_judge, weight: 1, evaluator_agent: reviewer}
          - {type: checklist_completion, weight: 3, source: ready.md}
"""
OUTPUT = {"dev": [{"files": {"out.md": "# Goal\nowner: ana\n"}}]}


def test_a_judge_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    script = {**OUTPUT, "reviewer": [[{"raise": "busy"}, {"text": '{"score": 0.6}'}]]}
    run = bench(tmp_path, JUDGED, script, max_retries=1)
    assert run.run().status == "COMPLETED"
    assert run.record().context.confidence == "9/10"
    assert [brief.purpose for brief in run.recorder.briefs] == ["work", "judge", "judge"]


def test_a_model_scores_in_place_of_the_evaluators_and_does_no_other_work(tmp_path: Path) -> None:
    run = bench(tmp_path, JUDGED)
    dev = AdapterSettings(type="mock", script=OUTPUT)
    settings = replace(run.settings, adapters={"dev": dev})
    with model_server(lambda *_: chat('{"rationale": "short", "score": 0.6}')) as server, ExitStack() as stack:
        live = LiveJudge(HttpModel("openai", "m", server.base, None), JudgeSettings(str(tmp_path / "ledger.sqlite3")))
        judge = WaitingJudge(live)
        stack.callback(judge.close)
        result = engine.run(run.plan, run.store, settings, judge=judge)
        assert [each["messages"][0]["content"][:5] for each in server.requests] == ["Score"]
    assert (result.status, run.record().context.confidence) == ("COMPLETED", "9/10")


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_what_a_model_costs_as_judge_is_in_the_budget_whatever_it_says(tmp_path: Path, finish: str) -> None:
    run = bench(tmp_path, JUDGED)
    settings = replace(run.settings, adapters={"dev": AdapterSettings(type="mock", script=OUTPUT)})
    said = '{"score": 0.6, "usage": {"tokens": 0, "cost_usd": 0}}'
    with model_server(lambda *_: chat(said, finish=finish)) as server, ExitStack() as stack:
        model = HttpModel("openai", "m", server.base, None)
        priced = JudgeSettings(str(tmp_path / "ledger.sqlite3"), price=Price(Decimal(1_000_000), Decimal(1_000_000)))
        judge = WaitingJudge(LiveJudge(model, priced))
        stack.callback(judge.close)
        engine.run(run.plan, run.store, settings, judge=judge)
    (stored,) = run.store.runs()
    assert stored.tokens_used > 0
    assert stored.cost_usd == stored.tokens_used
    assert [event.event_type for event in run.events("cost.exceeded")] == ["cost.exceeded"]


@pytest.mark.parametrize(
    ("said", "finish"), [('{"score": 0.6}', "length"), ("Sure!", "stop"), ('{"score": 7}', "stop")]
)
def test_a_model_that_gives_no_score_scores_nothing(tmp_path: Path, said: str, finish: str) -> None:
    run = bench(tmp_path, JUDGED)
    settings = replace(run.settings, adapters={"dev": AdapterSettings(type="mock", script=OUTPUT)})
    with model_server(lambda *_: chat(said, finish=finish)) as server, ExitStack() as stack:
        live = LiveJudge(HttpModel("openai", "m", server.base, None), JudgeSettings(str(tmp_path / "ledger.sqlite3")))
        judge = WaitingJudge(live, parse_score)
        stack.callback(judge.close)
        engine.run(run.plan, run.store, settings, judge=judge)
    assert run.record().context.confidence == "0/1"
    with closing(Ledger(tmp_path / "ledger.sqlite3")) as ledger:  # the next run asks again
        assert {state for (state,) in ledger.rows("select state from calls")} == {"new"}


def test_an_output_whose_name_is_not_utf_8_is_asked_for_again(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, outputs: [out]}}")

    class Careless:
        def call(self, brief: Brief, timeout: float) -> AgentReply:
            (tmp_path / "out").mkdir()
            Path(os.fsdecode(os.fsencode(tmp_path / "out") + b"/\xff.md")).write_text("x", encoding="utf-8")
            return AgentReply()

    result = engine.run(run.plan, run.store, run.settings, adapter=lambda _: Careless())
    assert result.status == "FAILED"
    assert result.reasons["build"] == "outputs: `out` contains `\\xff.md`, a name that is not UTF-8"


def gated(more: str) -> str:
    gate = f"enabled: true, risk_tier: T1, evidence: {{acceptance: junit.xml, lint: ruff.json}}{more}"
    return f"tasks: {{build: {{agent: dev, overlays: {{policy_gate: {{{gate}}}}}}}}}"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1e9, "is older than the task's start"),
        (1e10, "has a date in the future, so it may be older than the task's start"),
    ],
)
@pytest.mark.parametrize(
    ("more", "verdict"), [("", "PASS"), (", stale_evidence: warn", "PASS"), (", stale_evidence: fail", "FAIL")]
)
def test_evidence_that_may_be_from_before_the_task_is_a_warning_and_on_request_a_failure(
    tmp_path: Path, more: str, verdict: str, seconds: float, words: str
) -> None:
    run = bench(tmp_path, gated(more))
    os.utime(tmp_path / "junit.xml", (seconds, seconds))
    run.run()
    report = run.store.reports("run-1")[0]
    words = f"stale evidence: `junit.xml` {words}"
    assert report.verdict == verdict
    assert (report.reasons, report.warnings) == (((), (words,)) if verdict == "PASS" else ((words,), ()))
    warned = [event.details["warning"] for event in run.events("task.warning")]
    assert warned == ([words] if verdict == "PASS" else [])


def test_evidence_that_the_task_wrote_is_fresh(tmp_path: Path) -> None:
    run = bench(tmp_path, gated(", stale_evidence: fail"), {"dev": [{"files": {"junit.xml": EVIDENCE["junit.xml"]}}]})
    assert run.run().status == "COMPLETED"


SAYING = JUDGED.replace(
    "outputs: [{path: out.md, contract: {required_sections: [Goal], required_fields: [owner]}}]", "description: Answer."
)


def test_a_task_without_outputs_is_judged_on_the_reply_of_its_agent(tmp_path: Path) -> None:
    run = bench(tmp_path, SAYING, {"dev": ["It is `REQ-1`.\n```"], "reviewer": [{"text": '{"score": 0.6}'}]})
    assert run.run().status == "COMPLETED"
    prompt = run.recorder.briefs[-1].prompt
    assert "````\nfile: the agent's reply\n\nIt is `REQ-1`.\n```\n````" in prompt
    assert run.store.reports("run-1")[0].metrics[0]["value"] == 0.6


@pytest.mark.parametrize("reply", ["", "  \n"])
def test_an_empty_reply_is_not_judged(tmp_path: Path, reply: str) -> None:
    run = bench(tmp_path, SAYING, {"dev": [reply], "reviewer": [{"text": '{"score": 0.9}'}]})
    run.run()
    assert [brief.purpose for brief in run.recorder.briefs] == ["work"]
    assert "there is nothing to judge" in run.events("metric.failed")[0].details["reason"]


def test_an_empty_folder_is_nothing_to_judge(tmp_path: Path) -> None:
    text = JUDGED.replace("{path: out.md, contract: {required_sections: [Goal], required_fields: [owner]}}", "out")
    (tmp_path / "out").mkdir()
    run = bench(tmp_path, text, {"dev": ["I wrote it all."], "reviewer": [{"text": '{"score": 0.9}'}]})
    run.run()
    assert [brief.purpose for brief in run.recorder.briefs] == ["work"]


def test_what_a_judge_is_not_shown_of_an_output_is_reported(tmp_path: Path) -> None:
    run = bench(tmp_path, JUDGED, {"dev": [{"files": {"out.md": "# Goal\nowner: ana\n" + "x" * 200_000}}]})
    run.run()
    assert "x\n[18 characters are left out]\n```" in run.recorder.briefs[-1].prompt


def test_without_criteria_a_judge_is_given_the_contracts(tmp_path: Path) -> None:
    run = bench(tmp_path, JUDGED, {**OUTPUT, "reviewer": [{"text": '{"score": 0.6}'}]})
    run.run()
    judge = run.recorder.briefs[-1]
    assert "- `out.md`: has the section `Goal`, has the field `owner`" in judge.prompt
    assert (judge.feedback, judge.agent) == ([], "reviewer")


@pytest.mark.parametrize("reply", [{"raise": "gone"}, {"text": "very good"}])
def test_where_a_metric_can_not_be_measured_confidence_is_nothing(
    tmp_path: Path, reply: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    run = bench(tmp_path, JUDGED, {**OUTPUT, "reviewer": [reply]})
    (item,) = run.run().waiting
    assert re.search(r"confidence 0 \(.*llm_judge 0: \w", describe(item))
    assert run.record().context.confidence == "0/1"
    assert "metric `llm_judge` counts as 0.0: " in caplog.text
    assert run.events("confidence.advisory") == []
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    failed, good = run.store.reports("run-1")[0].metrics
    assert (failed["value"], good["value"]) == (0.0, 1.0)
    assert failed["failure"]
    assert run.events("metric.failed")[0].details["counts_as"] == 0.0


def test_a_metric_without_a_source_is_nothing_itself_and_keeps_its_weight(tmp_path: Path) -> None:
    run = bench(
        tmp_path, JUDGED.replace(", source: ready.md", ""), {**OUTPUT, "reviewer": [{"text": '{"score": 0.8}'}]}
    )
    run.run()
    assert run.record().context.confidence == "1/5"


def test_a_plan_that_lets_an_author_judge_scores_nothing(tmp_path: Path) -> None:
    run = bench(tmp_path, JUDGED, {**OUTPUT, "dev": OUTPUT["dev"]})
    (task,) = run.plan.tasks
    assert task.confidence is not None
    for evaluator in ("dev", None):
        metric = replace(task.confidence.metrics[0], evaluator_agent=evaluator)
        bent = replace(task, confidence=replace(task.confidence, metrics=(metric,)))
        run.plan = seal(replace(run.plan, tasks=(bent,)))
        assert run.run().status == "WAITING"
        record = run.record(run=run.store.runs()[-1].run_id)
        assert record.context.confidence == "0/1"
        assert "evaluator_agent" in record.context.metrics[0].failure
    assert {brief.purpose for brief in run.recorder.briefs} == {"work"}


def test_missing_metrics_give_no_confidence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = bench(tmp_path, JUDGED, OUTPUT)
    (task,) = run.plan.tasks
    assert task.confidence is not None
    run.plan = seal(replace(run.plan, tasks=(replace(task, confidence=replace(task.confidence, metrics=())),)))
    assert run.run().status == "WAITING"
    assert run.record().context.confidence == "0/1"
    assert any(record.name == LOG.name and "no metrics" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    ("contract", "path", "content", "lacks"),
    [
        (Contract(required_fields=("name",)), "a.yaml", "name: x\n", []),
        (Contract(required_fields=("name",)), "a.yaml", "  name: nested\n", ["`a.yaml` lacks the field `name`"]),
        (Contract(required_fields=("name",)), "a.json", '{"title": 1}', ["`a.json` lacks the field `name`"]),
        (Contract(file_format="json"), "a.json", "{", ["`a.json` is not a JSON object"]),
        (Contract(file_format="json"), "a.md", "{}", ["`a.md` is not a `json` file"]),
        (Contract(file_format="markdown"), "a.md", "text", []),
        (Contract(file_format="python"), "a.py", "x = 1", []),
        (Contract(required_sections=("Goal",)), "a.md", "", ["`a.md` is empty"]),
        (Contract(required_sections=("Goal",)), "a.md", "```\n# Goal\n```\n", ["`a.md` lacks the section `Goal`"]),
        (Contract(required_sections=("Goal",)), "a.md", "Goal\n====\n", []),
        (Contract(type="note@1"), "../out", "", ["`../out` is outside the project"]),
    ],
)
def test_contracts(tmp_path: Path, contract: Contract, path: str, content: str, lacks: list[str]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / path).write_text(content, encoding="utf-8")
    assert list(breaches([Artifact(path, contract)], root)) == lacks


def test_a_folder_is_an_artifact_too(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert list(breaches([Artifact("src")], tmp_path)) == []
    run = bench(tmp_path, "tasks: {build: {agent: dev, outputs: [src]}}", {"dev": [{"files": {"src/a.py": "1"}}]})
    assert run.run().status == "COMPLETED"
    assert [path for _, path, _, _ in run.store.outputs("run-1", "build")] == ["src/a.py"]


def test_confidence_does_not_reach_what_decides_the_verdict() -> None:
    """Even a context full of praise adds nothing to what the gate's expression sees."""
    praise = TaskContext(
        confidence="1/1", metrics=(MeasuredMetric("lint_score", 1.0, 1.0),), advisory="confidence threshold met"
    )
    assert praise.gate_bindings() == {}
    assert {"confidence_score", "metrics"} <= set(praise.bindings())


def test_a_gate_without_evidence_says_everything_that_is_missing(tmp_path: Path) -> None:
    text = f"tasks: {{build: {{agent: dev, overlays: {{policy_gate: {GATE}}}}}}}"
    report = judge_evidence(plan_of(text).task("build"), TaskContext(), tmp_path, "now")
    assert report.verdict == "FAIL"
    assert [reason.partition(":")[0] for reason in report.reasons] == ["acceptance_evidence", "verification"]
    assert "evidence collection error: `junit.xml`: no such file" in report.reasons[0]


def test_optional_evidence_that_can_not_be_read_fails_the_gate(tmp_path: Path) -> None:
    evidence = "acceptance: junit.xml, lint: ruff.json, readiness: gone.md"
    text = f"tasks: {{build: {{agent: dev, overlays: {{policy_gate: {{enabled: true, evidence: {{{evidence}}}}}}}}}}}"
    run = bench(tmp_path, text)
    run.run()
    report = run.store.reports("run-1")[0]
    assert report.verdict == "FAIL"
    assert "`gone.md`" in report.reasons[0]


def test_a_condition_of_the_gate_that_can_not_be_decided_is_not_met(tmp_path: Path) -> None:
    text = (
        f"tasks: {{build: {{agent: dev, overlays: {{policy_gate: {GATE[:-1]}, conditions: ['coverage >= 0.5']}}}}}}}}"
    )
    run = bench(tmp_path, text)
    run.run()
    report = run.store.reports("run-1")[0]
    assert report.verdict == "FAIL"
    assert any("can't be decided" in reason for reason in report.reasons)


def test_a_judge_without_a_readable_score_is_asked_again(tmp_path: Path) -> None:
    script = {**OUTPUT, "reviewer": [[{"text": "I would say 0.6"}, {"text": '{"score": 0.6}'}]]}
    run = bench(tmp_path, JUDGED, script, max_retries=1)
    run.run()
    assert run.record().context.confidence == "9/10"
    assert [brief.retry for brief in run.recorder.briefs if brief.purpose == "judge"] == [0, 1]


def test_a_judge_that_never_gave_a_score_is_asked_about_the_next_output_in_a_new_session(tmp_path: Path) -> None:
    text = JUDGED.replace("max_iterations: 1", "max_iterations: 2")
    run = bench(
        tmp_path, text, {**OUTPUT, "reviewer": [{"text": "no idea"}, {"text": '{"score": 0.6}'}]}, max_retries=1
    )
    assert run.run().status == "COMPLETED"
    assert [score["confidence_score"] for score in run.record().history if score["step"] == "score"] == [0.0, 0.9]
    sessions = [brief.session_id for brief in run.recorder.briefs if brief.purpose == "judge"]
    assert sessions[0] == sessions[1] != sessions[2]
