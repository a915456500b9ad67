"""Lowers a checked workflow to its plan: every task with its machine, gate, scoring and contracts."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic
from rulewright.documents.agents import Registry
from rulewright.documents.base import fraction, one_or_more, optional_text, value
from rulewright.documents.workflow import (
    EVIDENCE_KEYS,
    OPTIONAL,
    REQUIRED,
    ArtifactDocument,
    ContractRegistry,
    TaskDocument,
    WorkflowDocument,
    contract_of,
)
from rulewright.expression.build import Built
from rulewright.load import Mapping, Node, Scalar
from rulewright.lower.workflow_guards import Guards, TaskFeatures, condition_of, features_of
from rulewright.lower.workflow_machine import LoopShape, LoweredTask, machine_of
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.workflow.machine import Guard, Machine
from rulewright_runtime.workflow.workflow_plan import (
    METRIC_TYPES,
    Agent,
    Artifact,
    Confidence,
    Gate,
    Pair,
    ProcessMetric,
    Review,
    RunLimits,
    TaskPlan,
    WorkflowPlan,
)

Part = TypeVar("Part", bound=PlanPart)

LANGUAGE: Final = "1"
SOURCES: Final = (*chain.from_iterable(EVIDENCE_KEYS.values()), "implemented")
HUMAN_BYPASSED: Final = "`requires_human` is set, but `hil` is off: the task runs without a pause"


class WorkflowResources(Struct, frozen=True):
    """The agents, contracts and limits that the project gives a workflow."""

    agents: Registry
    contracts: ContractRegistry
    limits: RunLimits


class LoweredWorkflow(Struct, frozen=True):
    """A lowered workflow: its sealed plan, its tasks in file order, and its findings. With findings the plan serves
    only further checks."""

    plan: WorkflowPlan
    tasks: tuple[LoweredTask, ...]
    findings: tuple[Diagnostic, ...]


def lower_workflow(document: WorkflowDocument, resources: WorkflowResources) -> LoweredWorkflow:
    """Lower a workflow; mistakes in its expressions and contracts become findings."""
    findings: list[Diagnostic] = []
    lowering = _WorkflowLowering(resources, findings, Guards(findings))
    lowered = tuple(lowering.lowered(task) for task in document.tasks)
    tasks = {each.task.id: each.task for each in lowered}
    used = {name for task in tasks.values() for name in task.agents}
    plan = WorkflowPlan(
        name=document.name,
        tasks=tuple(tasks[name] for name in order(document)),
        groups=tuple(waves(document)),
        agents={
            name: _agent(name, resources.agents.agents[name]) for name in sorted(used & resources.agents.agents.keys())
        },
        limits=resources.limits,
        language=LANGUAGE,
    )
    return LoweredWorkflow(seal(plan), lowered, tuple(findings))


@dataclass(slots=True)
class _WorkflowLowering:
    resources: WorkflowResources
    findings: list[Diagnostic]
    guards: Guards

    def lowered(self, task: TaskDocument) -> LoweredTask:
        features = features_of(task)
        threshold = self.guards.threshold(task, features)
        loops = self.loops(task, features, threshold)
        passed = condition_of("policy_gate.verdict == PASS", features).program if features.gate else None
        lowered = LoweredTask(self.task(task, features, threshold), loops, passed)
        return replace(lowered, task=msgspec.structs.replace(lowered.task, machine=machine_of(lowered)))

    def task(self, task: TaskDocument, features: TaskFeatures, threshold: Built | None) -> TaskPlan:
        enabled = task.enabled
        return TaskPlan(
            id=task.id,
            agent=_name(task.agent),
            machine=Machine((), ()),
            overlays=enabled,  # type: ignore[arg-type]
            description=task.description,
            dependencies=tuple(dict.fromkeys(each.text for each in task.dependencies)),
            inputs=self.artifacts(task, task.inputs),
            outputs=self.artifacts(task, task.outputs),
            requires_human=task.requires_human,
            confidence=_confidence(task, threshold),
            gate=self.gate(task, features) if "policy_gate" in enabled else None,
            pair=_pair(task),
            review=Review(_name(task.coder), _name(task.reviewer)) if task.on("agentic_review") else None,
            warnings=(HUMAN_BYPASSED,) if task.requires_human and "hil" not in enabled else (),
        )

    def loops(self, task: TaskDocument, features: TaskFeatures, threshold: Built | None) -> tuple[LoopShape, ...]:
        shapes = []
        for loop in task.loops:
            name: Any = loop.name
            each = self.guards.conditions(task, loop, features)
            if name == "confidence_loop" and threshold is not None:
                each = [threshold, *each]
            exit_ = Guard(tuple(built.program for built in each), loop.mode if each else "any", name)
            reads = frozenset(path[0] for built in each for path in built.reads)
            always = name == "loop" and not loop.conditions
            shapes.append(LoopShape(name, loop.max_iterations or 1, None if always else exit_, reads))
        return tuple(shapes)

    def artifacts(self, task: TaskDocument, artifacts: tuple[ArtifactDocument, ...]) -> tuple[Artifact, ...]:
        return tuple(
            Artifact(each.path, contract_of(task, each, self.resources.contracts, self.findings)) for each in artifacts
        )

    def gate(self, task: TaskDocument, features: TaskFeatures) -> Gate:
        overlay = task.overlays["policy_gate"]
        written = overlay.find("evidence") if overlay.enabled else None
        sources = {name: names for name in SOURCES if (names := one_or_more(written, name))}
        tier: Any = task.tier if task.tier in REQUIRED else "T1"
        required: list[Any] = list(task.required_evidence)
        optional: list[Any] = [
            name for name in OPTIONAL[tier] if name not in required and sources.get(EVIDENCE_KEYS[name][0])
        ]
        limit = overlay.number("coverage_threshold") if overlay.enabled else None
        return Gate(
            risk_tier=tier,
            verdict=self.guards.verdict(task, features, required, optional),
            required=tuple(required),
            looked_at=(*required, *optional),
            sources=sources,
            coverage_threshold=_unit(limit, 0.90) if "requirement_coverage" in (*required, *optional) else None,
            sign_off=tier == "T2",
            stale_evidence="fail" if overlay.enabled and overlay.text("stale_evidence") == "fail" else "warn",
            implicit=not overlay.enabled,
        )


def _confidence(task: TaskDocument, threshold: Built | None) -> Confidence | None:
    loop = task.on("confidence_loop")
    if loop is None:
        return None
    return Confidence(
        mode="raw" if loop.text("mode") == "raw" else "composite",
        metrics=tuple(_metric(each.type, each.node) for each in task.metrics if each.type in METRIC_TYPES),
        threshold=None if threshold is None else _unit(loop.number("threshold"), 0.0),
        met=None if threshold is None else threshold.program,
    )


def _metric(kind: Any, node: Mapping) -> ProcessMetric:
    weight = fraction(node, "weight")
    return ProcessMetric(
        type=kind,
        weight=1.0 if weight is None else weight,
        sources=one_or_more(node, "source"),
        requirements=one_or_more(node, "requirements"),
        evaluator_agent=optional_text(node, "evaluator_agent"),
        criteria=one_or_more(node, "criteria"),
    )


def _pair(task: TaskDocument) -> Pair | None:
    overlay = task.on("paired_workflow")
    if overlay is None:
        return None
    switch: Any = overlay.text("role_switch") or "session"
    return Pair(_name(task.driver), _name(task.challenger), switch)


def _agent(name: str, fields: dict[str, Any]) -> Agent:
    return _part(Agent, {**fields, **fields["role"], "name": name})


def limits_of(engine: Node | None) -> RunLimits:
    """The limits that a project file's `workflow.engine` sets; missing keys keep their defaults."""
    return _part(RunLimits, {name: value(engine, name) for name in RunLimits.__struct_fields__})


def _part(kind: type[Part], written: dict[str, Any]) -> Part:
    """Return the part of the plan with the fields of `written`. Values that validation refuses are kept: such a plan is
    not run, and must not look like one with default values."""
    fields = {name: _whole(written[name]) for name in kind.__struct_fields__ if written.get(name) is not None}
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError:
        return kind(**fields)


def _whole(value: object) -> Any:
    """Return a float without a fraction as an int, any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unit(scalar: Scalar | None, default: float) -> float:
    number = None if scalar is None else scalar.value
    return float(number) if isinstance(number, (int, float)) and 0 <= number <= 1 else default


def _name(scalar: Scalar | None) -> str:
    return "" if scalar is None else scalar.text


def edges(document: WorkflowDocument) -> dict[str, tuple[str, ...]]:
    """Return the known dependencies of each task, in file order."""
    ids = {task.id for task in document.tasks}
    return {
        task.id: tuple(dict.fromkeys(each.text for each in task.dependencies if each.value in ids))
        for task in document.tasks
    }


def cycles(document: WorkflowDocument) -> list[tuple[str, ...]]:
    """Return the cycles of dependencies as ids, the first not repeated; of overlapping cycles, one."""
    dependencies = edges(document)
    done: set[str] = set()
    result: list[tuple[str, ...]] = []
    for root in dependencies:
        path: dict[str, None] = {}  # an ordered set
        walk: list[Iterator[str]] = [iter((root,))]
        while walk:
            name = next(walk[-1], None)
            if name is None:
                walk.pop()
                if path:
                    done.add(path.popitem()[0])
            elif name in path:
                result.append(tuple(path)[list(path).index(name) :])
            elif name not in done:
                path[name] = None
                walk.append(iter(dependencies[name]))
    return result


def order(document: WorkflowDocument) -> tuple[str, ...]:
    """Return the tasks in topological order; those in or after cycles come last, in file order."""
    placed = tuple(name for wave in waves(document) for name in wave)
    return placed + tuple(task.id for task in document.tasks if task.id not in set(placed))


def waves(document: WorkflowDocument) -> list[tuple[str, ...]]:
    """Return the tasks in waves: each wave depends only on earlier ones, so that its tasks may run in parallel."""
    dependencies = edges(document)
    position = {name: number for number, name in enumerate(dependencies)}
    sorter = TopologicalSorter(dependencies)
    with suppress(CycleError):  # tasks outside cycles are ordered all the same
        sorter.prepare()
    result: list[tuple[str, ...]] = []
    while wave := sorter.get_ready():
        result.append(tuple(sorted(wave, key=position.__getitem__)))
        sorter.done(*wave)
    return result


def ancestors(document: WorkflowDocument) -> dict[str, frozenset[str]]:
    """Return for each task all those that are COMPLETED before it starts; a task in a cycle waits for none."""
    dependencies = edges(document)
    result: dict[str, frozenset[str]] = {name: frozenset() for name in dependencies}
    for name in order(document):
        result[name] = frozenset(dependencies[name]).union(*(result[each] for each in dependencies[name]))
    return result


def unawaited_inputs(
    document: WorkflowDocument,
) -> Iterator[tuple[TaskDocument, list[tuple[ArtifactDocument, TaskDocument]]]]:
    """Yield each task that reads files of tasks it does not wait for, with these files and the tasks that write
    them."""
    writers = {artifact.path: task for task in reversed(document.tasks) for artifact in task.outputs}
    above = ancestors(document) if writers else {}
    for task in document.tasks:
        pairs = [(each, writers[each.path]) for each in task.inputs if each.path in writers]
        early = [(each, writer) for each, writer in pairs if writer is not task and writer.id not in above[task.id]]
        if early:
            yield task, early
