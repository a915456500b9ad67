"""Workflows written in place: what the tests of the compiler's workflow side share."""

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.folders import write

from rulewright.check.workflow_check import check, compile_workflow
from rulewright.claims.workflow import REACHABLE
from rulewright.diagnostics import Diagnostic, Severity
from rulewright.errors import DocumentError
from rulewright.load import load_text
from rulewright.proving.results import Property, Proved
from rulewright.workflow import Workflow, load_workflow, workflow_of
from rulewright_runtime.workflow.machine import Machine, TaskState, activity, start, status, step
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan

METRICS = "metrics: [{type: lint_score, source: ruff.json}]"
OVERLAYS = {
    "hil": "{enabled: true}",
    "policy_gate": "{enabled: true, risk_tier: TIER, "
    "evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}}",
    "agentic_review": "{enabled: true, reviewer_agent: reviewer, max_iterations: 3}",
    "paired_workflow": "{enabled: true, challenger_agent: le, max_iterations: 3}",
    "confidence_loop": f"{{enabled: true, threshold: 0.80, max_iterations: 3, {METRICS}}}",
}


def workflow(text: str) -> Workflow:
    return workflow_of(load_text(textwrap.dedent(text), "workflow.yaml"))


def plan_of(text: str) -> WorkflowPlan:
    return compile_workflow(workflow(text))


def task_of(text: str) -> TaskPlan:
    """The only task of a workflow."""
    (task,) = plan_of(text).tasks
    return task


def errors(text: str) -> list[str]:
    """The messages of the errors of a workflow, in the order of the file."""
    return [each.message for each in check(workflow(text)) if each.severity is Severity.ERROR]


def warnings(text: str) -> list[str]:
    return [each.message for each in check(workflow(text)) if each.severity is Severity.WARNING]


def refused(text: str) -> tuple[Diagnostic, ...]:
    """What stands in the way of a plan; there must be something."""
    try:
        compile_workflow(workflow(text))
    except DocumentError as failure:
        return failure.diagnostics
    raise AssertionError("the workflow compiles")


def files(folder: Path, **texts: str) -> Workflow:
    """A project on disk, file by file (`__` stands for `/`, a dot and `yaml` are added), and its default workflow."""
    write(folder, {f"{name.replace('__', '/')}.yaml": textwrap.dedent(text) for name, text in texts.items()})
    return load_workflow(folder=folder)


def composed(on: tuple[str, ...], tier: str = "T1", *, human: bool = False, loop: bool = False) -> str:
    """A workflow of one task with just these overlays."""
    lines = ["tasks:", "  build:", "    agent: dev", f"    requires_human: {str(human).lower()}"]
    lines += ["    loop: {max_iterations: 3}"] if loop else []
    lines.append("    overlays:")
    lines += ["      hil: {enabled: false}"] if "hil" not in on else []
    lines += [f"      {name}: {OVERLAYS[name].replace('TIER', tier)}" for name in OVERLAYS if name in on]
    return "\n".join(lines) + "\n"


def broken(properties: Iterable[Property], but: str = REACHABLE) -> list[str]:
    """The claims that are not proved; without that of reachability, which speaks of evidence and not of the machine."""
    return [each.claim for each in properties if each.claim != but and not isinstance(each.result, Proved)]


class Walk:
    """A task led through its machine by hand: what each activity says is scripted by the caller."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.state: TaskState = start(machine)
        self.trace = [f"{self.status} {self.state.place}"]
        self.effects: list[str] = []

    @property
    def status(self) -> str:
        return status(self.machine, self.state)

    @property
    def activity(self) -> str:
        return activity(self.machine, self.state)

    def take(self, event: Any, **context: Any) -> None:
        """One step, and those that follow by themselves."""
        taken = step(self.machine, self.state, event, context)
        self.state = taken.state
        self.effects += [f"{each.kind} {each.subject}".strip() for each in taken.effects]
        said = " ".join(f"[{each.kind}{' ' + each.subject if each.subject else ''}]" for each in taken.effects)
        self.trace.append(f"{event} -> {self.status} {self.state.place} {said}".rstrip())
        if self.activity == "decide":
            self.take("decide", **context)
