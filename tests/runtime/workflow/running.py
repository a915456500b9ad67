"""Workflows written in place and run with scripted agents: what the tests of the engine share."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rulewright.check.workflow_check import compile_workflow
from rulewright.load import load_text
from rulewright.workflow import workflow_of
from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.adapters import AgentAdapter, AgentReply, Brief
from rulewright_runtime.workflow.adapters.in_process import MockAdapter
from rulewright_runtime.workflow.engine import Result
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.task_context import TaskRecord
from rulewright_runtime.workflow.workflow_plan import RunLimits, WorkflowPlan

JUNIT = '<testsuite><testcase name="works"/></testsuite>'
BROKEN = '<testsuite><testcase name="works"><failure/></testcase></testsuite>'
EVIDENCE = {"junit.xml": JUNIT, "ruff.json": "[]", "ready.md": "- [x] runbook", "tool.py": ""}
GATE = "{enabled: true, risk_tier: T1, evidence: {acceptance: junit.xml, lint: ruff.json}}"


def plan_of(text: str, **limits: Any) -> WorkflowPlan:
    """The plan of a workflow; calls are not repeated unless `limits` say so."""
    from msgspec.structs import replace

    from rulewright_runtime.plan.envelope import seal

    plan = compile_workflow(
        workflow_of(load_text("version: '1'\nname: flow\n" + textwrap.dedent(text), "workflow.yaml"))
    )
    usual: dict[str, Any] = {"max_retries": 0, "retry_backoff_seconds": 0.0, "max_concurrent_tasks": 1}
    return seal(replace(plan, limits=RunLimits(**{**usual, **limits})))


@dataclass
class Recorder:
    """An adapter that keeps every brief."""

    adapter: AgentAdapter
    briefs: list[Brief] = field(default_factory=list)

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        self.briefs.append(brief)
        return self.adapter.call(brief, timeout)


@dataclass
class Bench:
    """A workflow with its scripted agents in a folder."""

    plan: WorkflowPlan
    folder: Path
    script: Mapping[str, Any]
    settings: RunSettings
    store: Store
    recorder: Recorder

    def run(self, **how: Any) -> Result:
        return engine.run(self.plan, self.store, self.settings, adapter=lambda _: self.recorder, **how)

    def record(self, task: str = "build", run: str = "run-1") -> TaskRecord:
        return self.store.records(run)[task][1]

    def status(self, task: str = "build", run: str = "run-1") -> str:
        return self.store.records(run)[task][0]

    def events(self, kind: str | None = None, run: str = "run-1") -> list[Any]:
        return [event for event in self.store.events(run) if kind in (None, event.event_type)]

    def places(self, task: str = "build", run: str = "run-1") -> list[str]:
        return [step["target"] for step in self.store.transitions(run, task)]

    def decide(self, move: Any, notes: str = "fine", by: str = "ana") -> None:
        for item in self.store.items(waiting=True):
            self.store.decide(item.id, move, by=by, notes=notes, now="2026-01-01T00:00:00.000Z")


def bench(
    folder: Path,
    text: str,
    script: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    **limits: Any,
) -> Bench:
    """Everything for a run: without a script every agent answers with nothing but "done"."""
    for name, content in (EVIDENCE if files is None else files).items():
        (folder / name).write_text(content, encoding="utf-8")
    written = {} if script is None else dict(script)
    for agent in ("ba", "architect", "pe", "le", "dev", "reviewer"):
        written.setdefault(agent, [{"summary": "done", "decision": "GO", "approved": True}])
    return Bench(
        plan=plan_of(text, **limits),
        folder=folder,
        script=written,
        settings=RunSettings(folder=str(folder), **(settings or {})),
        store=Store(folder / "state" / "runs.db"),
        recorder=Recorder(MockAdapter(written, folder)),
    )
