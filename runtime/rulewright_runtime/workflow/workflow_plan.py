"""The plan of a workflow: its tasks with their machines, agents and contracts, as one hashed JSON document.

    WorkflowPlan
    |-- agents      name -> Agent             the people and models of the registry that the workflow names
    `-- tasks       TaskPlan, in the order of their dependencies
        |-- machine      Machine      the states and transitions (see `machine`)
        |-- confidence   Confidence   the metrics that are scored
        |-- gate         Gate         the evidence that decides
        |-- pair         Pair         driver and challenger
        `-- review       Review       coder and reviewer

Like every plan it names no command, callable, key or address; the project file binds agents to adapters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan import envelope
from rulewright_runtime.plan.envelope import Kind
from rulewright_runtime.plan.part import PlanPart, programs_of
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.machine import FOLLOWS, TERMINAL, Machine

FORMAT: Final = "rulewright-workflow"
VERSION: Final = 1

ADVISORY: Final = "confidence threshold met"

Tier = Literal["T0", "T1", "T2"]
Overlay = Literal["hil", "policy_gate", "agentic_review", "paired_workflow", "confidence_loop"]  # outermost first
OVERLAYS: Final[tuple[str, ...]] = get_args(Overlay)
Evidence = Literal["acceptance_evidence", "verification", "operational_readiness", "requirement_coverage"]
MetricType = Literal[
    "test_coverage", "lint_score", "security_score", "checklist_completion", "llm_judge", "requirement_coverage"
]
EVIDENCE: Final[tuple[Evidence, ...]] = get_args(Evidence)
METRIC_TYPES: Final[tuple[MetricType, ...]] = get_args(MetricType)
Unit = Annotated[float, Meta(ge=0, le=1)]


class Contract(PlanPart, frozen=True):
    """The required content of an artifact. `type` is `name@version`, or empty for an inline contract."""

    type: str = ""
    required_sections: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()
    file_format: str | None = None


class Artifact(PlanPart, frozen=True):
    """A file that a task reads or writes, relative to the working folder."""

    path: str
    contract: Contract | None = None


class ProcessMetric(PlanPart, frozen=True):
    """One metric of a task: `sources` are the files its collector reads, `requirements` those that list the ids.

    `criteria` are what a judge scores; by default the task's description and contracts.
    """

    type: MetricType
    weight: Annotated[float, Meta(ge=0)] = 1.0
    sources: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    evaluator_agent: str | None = None
    criteria: tuple[str, ...] = ()

    def is_measurable(self, outputs: Sequence[Artifact]) -> bool:
        """Whether the metric names a judge or files to read; otherwise it is always 0.0."""
        if self.type == "llm_judge":
            return bool(self.evaluator_agent)
        if self.type == "requirement_coverage":
            return bool(self.requirements and (self.sources or outputs))
        return bool(self.sources)


class Confidence(PlanPart, frozen=True):
    """The scoring of a task. `met` is the threshold as an expression. Without a threshold, an advisory is not made."""

    mode: Literal["composite", "raw"]
    metrics: tuple[ProcessMetric, ...]
    threshold: Unit | None = None
    met: Program | None = None


class Gate(PlanPart, frozen=True):
    """The policy gate. `verdict` holds for PASS; an undecidable verdict is FAIL.

    `verdict` sees `evidence` (each check's status), `coverage` (the share of requirements met, absent when it was not
    collected) and, where those overlays are enabled, `review` and `pair`. It never sees confidence. `looked_at` are
    the checks that are collected: those the tier requires, and optional ones with sources. `sources` are their files:
    `acceptance`, `lint`, `security`, `readiness`, `requirements`, `implemented`.
    """

    risk_tier: Tier
    verdict: Program
    required: tuple[Evidence, ...]
    looked_at: tuple[Evidence, ...]
    sources: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    coverage_threshold: Unit | None = None
    sign_off: bool = False
    stale_evidence: Literal["warn", "fail"] = "warn"  # for evidence older than the task's start
    implicit: bool = False  # added because a confidence loop has no enabled gate


class Pair(PlanPart, frozen=True):
    """The driver, the challenger, and when they switch roles."""

    driver_agent: str
    challenger_agent: str
    role_switch: Literal["session", "subtask", "checkpoint"] = "session"


class Review(PlanPart, frozen=True):
    """The agent that writes and the agent that reviews."""

    coder_agent: str
    reviewer_agent: str


class TaskPlan(PlanPart, frozen=True):
    """One task. `overlays` are the enabled ones, outermost first. `agent` does the work unless a pair or a review
    names another."""

    id: str
    agent: str
    machine: Machine
    overlays: tuple[Overlay, ...] = ()
    description: str = ""
    dependencies: tuple[str, ...] = ()
    inputs: tuple[Artifact, ...] = ()
    outputs: tuple[Artifact, ...] = ()
    requires_human: bool = False
    confidence: Confidence | None = None
    gate: Gate | None = None
    pair: Pair | None = None
    review: Review | None = None
    warnings: tuple[str, ...] = ()  # logged when the task starts

    @property
    def agents(self) -> frozenset[str]:
        return frozenset({self.agent, *(agent for _, agent in self.roles)} - {""})

    @property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """Role and name of every agent that may be called; `agent` only when no pair or review names the worker."""
        roles = [("agent", self.agent)]
        if self.pair is not None:
            roles = [("driver", self.pair.driver_agent), ("challenger", self.pair.challenger_agent)]
        elif self.review is not None:
            roles = [("coder", self.review.coder_agent), ("reviewer", self.review.reviewer_agent)]
        metrics = self.confidence.metrics if self.confidence is not None else ()
        return (*roles, *(("evaluator", each.evaluator_agent) for each in metrics if each.evaluator_agent))


class Agent(PlanPart, frozen=True):
    """A role of the registry, with the roles it extends already merged."""

    name: str
    display_name: str = ""
    description: str = ""
    expertise: tuple[str, ...] = ()
    responsibilities: tuple[str, ...] = ()
    llm: JsonObject = msgspec.field(default_factory=dict)


class RunLimits(PlanPart, frozen=True):
    """Limits of a run on time and money."""

    max_concurrent_tasks: Annotated[int, Meta(ge=1, le=1000)] = 3
    max_retries: Annotated[int, Meta(ge=0, le=100)] = 3
    retry_backoff_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 5.0
    timeout_seconds: Annotated[float, Meta(gt=0, le=604_800)] = 120.0
    cost_budget_per_run_usd: Annotated[float, Meta(ge=0)] = 10.0
    cost_enforcement: Literal["warn", "pause", "stop"] = "pause"
    context_warning_threshold_pct: Annotated[float, Meta(gt=0, le=100)] = 80.0


class WorkflowPlan(PlanPart, frozen=True):
    """A compiled workflow. `groups` are the tasks that may run concurrently, wave by wave."""

    name: str
    tasks: tuple[TaskPlan, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    agents: dict[str, Agent] = msgspec.field(default_factory=dict)
    limits: RunLimits = RunLimits()
    language: str = ""
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""

    def task(self, name: str) -> TaskPlan:
        """Return the task `name`. Raises KeyError when there is none."""
        for task in self.tasks:
            if task.id == name:
                return task
        raise KeyError(name)


KIND: Final = Kind(WorkflowPlan, FORMAT, VERSION, "rulewright workflow run")


def decode(data: bytes) -> WorkflowPlan:
    """Decode a plan. Raises PlanError for anything that the compiler never writes."""
    plan = envelope.decode(data, KIND)
    _guard(plan)
    return plan


def _guard(plan: WorkflowPlan) -> None:
    ids = [task.id for task in plan.tasks]
    if not ids:
        raise PlanError("the workflow has no task: nothing could be COMPLETED")
    if len(set(ids)) != len(ids):
        raise PlanError("two tasks have the same id")
    for number, task in enumerate(plan.tasks):
        if not set(task.dependencies) <= set(ids[:number]):
            raise PlanError(f"task `{task.id}` depends on a task that does not come before it")
        if task.gate and "requirement_coverage" in task.gate.required and task.gate.coverage_threshold is None:
            raise PlanError(f"task `{task.id}`: its gate requires a coverage of requirements without a threshold")
        _guard_machine(task)
        for program in programs_of(task):
            validate(program)


def _guard_machine(task: TaskPlan) -> None:
    machine = task.machine
    places = {place.name: place.status for place in machine.places}
    loops = {loop.name for loop in machine.loops}
    if not places or len(places) != len(machine.places) or len(loops) != len(machine.loops):
        raise PlanError(f"task `{task.id}`: a machine without places, or with two of one name")
    for place in machine.places:
        if (place.activity == "none") != (place.status in TERMINAL):
            does = "does nothing" if place.activity == "none" else f"does `{place.activity}`"
            raise PlanError(f"task `{task.id}`: `{place.name}` is {place.status} and {does}")
    for each in machine.transitions:
        used_loops = set(each.counts) | ({each.guard.loop} if each.guard and each.guard.loop else set())
        if not {each.source, each.target} <= places.keys() or not used_loops <= loops:
            raise PlanError(f"task `{task.id}`: a transition of `{each.source}` names a place or loop it does not have")
        before, after = places[each.source], places[each.target]
        if after not in FOLLOWS[before]:
            raise PlanError(f"task `{task.id}`: {after} can't follow {before} (`{each.source}` to `{each.target}`)")
