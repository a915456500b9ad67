"""Whatever agents, tools and people do, a run ends, and COMPLETED means that everything around the task has passed."""

import random
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import rounds
from tests.runtime.workflow.running import BROKEN, JUNIT, Bench, bench

from rulewright_runtime.workflow.adapters import AgentReply, Brief
from rulewright_runtime.workflow.artifacts import hashes
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.workflow_plan import Artifact

RUNS = rounds(12, 400)


def composed(chance: random.Random) -> str:
    tier = chance.choice(["T0", "T1", "T2"])
    bound = chance.randint(1, 3)
    switch = chance.choice(["session", "subtask", "checkpoint"])
    evidence = "acceptance: junit.xml, lint: ruff.json, readiness: ready.md"
    overlays = [f"policy_gate: {{enabled: true, risk_tier: {tier}, evidence: {{{evidence}}}}}"]
    if chance.random() < 0.3:
        overlays.append("hil: {enabled: false}")
    if chance.random() < 0.7:
        metrics = "{type: checklist_completion, source: list.md}, {type: llm_judge, evaluator_agent: le}"
        mode = chance.choice(["composite", "raw"])
        overlays.append(
            f"confidence_loop: {{enabled: true, mode: {mode}, threshold: 0.6, max_iterations: {bound},"
            f" metrics: [{metrics}]}}"
        )
    kind = chance.choice(["", "review", "pair"])
    if kind == "review":
        overlays.append(f"agentic_review: {{enabled: true, reviewer_agent: pe, max_iterations: {bound}}}")
    if kind == "pair":
        overlays.append(
            f"paired_workflow: {{enabled: true, challenger_agent: pe, max_iterations: {bound}, role_switch: {switch}}}"
        )
    human = chance.choice(["true", "false"])
    return f"tasks: {{build: {{agent: dev, requires_human: {human}, overlays: {{{', '.join(overlays)}}}}}}}"


def script(chance: random.Random) -> dict[str, Any]:
    def answer() -> dict[str, Any]:
        if chance.random() < 0.1:
            return {"raise": "busy"}
        return {
            "decision": chance.choice(["GO", "NO_GO"]),
            "approved": chance.random() < 0.5,
            "files": {
                "list.md": chance.choice(["- [x] a", "- [ ] a"]),
                "junit.xml": chance.choice([JUNIT, JUNIT, BROKEN, "<"]),
                "ruff.json": chance.choice(["[]", "[]", '[{"filename": "a.py"}]']),
            },
        }

    judge = [{"text": chance.choice(['{"score": 0.9}', '{"score": 0.1}', "great"])} for _ in range(8)]
    return {"dev": [answer() for _ in range(8)], "pe": [answer() for _ in range(8)], "le": judge}


def brought_to_an_end(run: Bench, chance: random.Random) -> str:
    for _ in range(30):
        result = run.run(resume=bool(run.store.runs()))
        if result.status != "WAITING":
            return result.status
        run.decide("resolve" if chance.random() < 0.8 else "reject", "because")
    raise AssertionError("the run does not end")


@pytest.mark.parametrize("seed", range(RUNS))
def test_completed_means_that_everything_passed(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    run = bench(tmp_path, composed(chance), script(chance), max_retries=1)
    status = brought_to_an_end(run, chance)
    task, record = run.plan.task("build"), run.record()
    assert (status, run.status()) in {("COMPLETED", "COMPLETED"), ("FAILED", "FAILED")}
    for loop, used in zip(task.machine.loops, record.state.used, strict=True):
        assert used <= loop.max_iterations
    if status == "FAILED":
        assert record.reason
        return
    reports = run.store.reports("run-1")
    assert reports[-1].verdict == "PASS"
    assert set(record.passed) == set(task.overlays)
    triggers = [item.trigger for item in run.store.items() if item.status == "RESOLVED"]
    assert task.gate is not None
    if task.gate.sign_off:
        assert triggers[-1] == "t2_gate"
    if task.requires_human and "hil" in task.overlays:
        assert triggers[0] == "requires_human"
    if record.context.decision == "NO_GO" or record.context.challenger_approved is False:
        assert "loop_exhaustion" in triggers


TAMPERED = rounds(12, 1000)


def with_outputs(replies: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The script of agents that write outputs; the partner of the author sometimes does as well."""
    for agent, share in (("dev", 1.0), ("pe", 0.2)):
        for reply in replies[agent]:
            if "files" in reply and chance.random() < share:
                reply["files"]["out/a.md"] = str(chance.random())
    return replies


class Approvals:
    """The contents of the outputs that reviewers and challengers were given when they agreed."""

    def __init__(self, run: Bench) -> None:
        self._adapter, self._run = run.recorder.adapter, run
        self.approved: list[dict[str, str]] = []
        run.recorder.adapter = self

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        given = digests(self._run.folder)
        reply = self._adapter.call(brief, timeout)
        if (brief.purpose == "review" and reply.decision == "GO") or (brief.purpose == "challenge" and reply.approved):
            self.approved.append(given)
        return reply


def digests(folder: Path) -> dict[str, str]:
    return hashes(folder, [Artifact("out")])


def disturb(folder: Path, chance: random.Random) -> None:
    """Sometimes change the outputs as nobody is asked about."""
    if chance.random() < 0.15 and (folder / "out").is_dir():
        name = chance.choice(["a.md", "a.md", "b.md", ".hidden"])
        (folder / "out" / name).write_text(str(chance.random()), encoding="utf-8")


@pytest.mark.parametrize("seed", range(TAMPERED))
def test_no_task_is_completed_with_outputs_that_nobody_was_shown(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    text = composed(chance).replace("agent: dev,", "agent: dev, outputs: [out],")
    run = bench(tmp_path, text, with_outputs(script(chance), chance), max_retries=1)
    approvals = Approvals(run)
    signed = []
    for _ in range(200):
        try:
            status = run.run(resume=bool(run.store.runs()), one_step=True).status
        except StoreError:  # the outputs changed after the approval, just before the end
            assert run.record().locked != digests(tmp_path)
            return
        if status in {"COMPLETED", "FAILED"}:
            break
        disturb(tmp_path, chance)
        for item in run.store.items(waiting=True):
            signed.append(item.context.get("outputs"))
            run.decide("resolve" if chance.random() < 0.9 else "reject", "because")
            disturb(tmp_path, chance)
    task = run.plan.task("build")
    assert task.gate is not None
    if status == "COMPLETED" and task.gate.sign_off:
        assert digests(tmp_path) in signed
    if status == "COMPLETED" and (task.review or task.pair):
        assert digests(tmp_path) in [*signed, *approvals.approved]
