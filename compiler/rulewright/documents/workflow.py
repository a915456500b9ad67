"""The workflow document: tasks with their loops, overlays and artifacts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partialmethod
from typing import Annotated, Any, Final, Literal

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Located, Severity, Span, finding
from rulewright.documents.base import (
    Document,
    Step,
    descend,
    entries,
    flag,
    items,
    number,
    numeric,
    one_or_more,
    place_of,
    scalar,
    text,
    value,
)
from rulewright.documents.base import text as text_of
from rulewright.documents.typed_reader import At, mappings_in, read
from rulewright.load import Mapping, Node, Scalar, is_text
from rulewright.spelling import did_you_mean
from rulewright_runtime.workflow.workflow_plan import OVERLAYS, Contract

VERSIONS: Final = ("1", 1)
LOOPING: Final = ("agentic_review", "paired_workflow", "confidence_loop")  # the overlays that repeat the work
# The checks that a tier requires, those that it makes where files are named, and the keys of `evidence` of each check.
REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "T0": ("acceptance_evidence",),
    "T1": ("acceptance_evidence", "verification"),
    "T2": ("acceptance_evidence", "verification", "operational_readiness"),
}
OPTIONAL: Final[dict[str, tuple[str, ...]]] = {
    "T0": (),
    "T1": ("operational_readiness", "requirement_coverage"),
    "T2": ("requirement_coverage",),
}
EVIDENCE_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "acceptance_evidence": ("acceptance",),
    "verification": ("lint", "security"),
    "operational_readiness": ("readiness",),
    "requirement_coverage": ("requirements",),
}


class ArtifactDocument(Struct, frozen=True):
    """A file a task reads or writes; `contract` is a name, an inline mapping, or absent. `field` is its path
    in the task it stands."""

    path: str
    node: Node
    contract: Node | None
    field: str


class TaskMetricDocument(Struct, frozen=True):
    """One metric of a confidence loop. `field` is its path in the task."""

    type: str
    node: Mapping
    evaluator: Annotated[Scalar | None, At("evaluator_agent")]
    field: str


class Named(Struct, frozen=True):
    """An agent that a task names, and the key that names it."""

    agent: Scalar
    field: str


class TaskDocument(Document, frozen=True, eq=False):
    """One task; its overlays include the defaults of the workflow and the project."""

    id: str
    key: Scalar
    agent: Scalar | None
    description: str
    dependencies: tuple[Scalar, ...]
    requires_human: bool
    inputs: tuple[ArtifactDocument, ...]
    outputs: tuple[ArtifactDocument, ...]
    overlays: dict[str, Overlay]
    enabled: tuple[str, ...]  # overlays, outermost first; a confidence loop implies a gate
    loops: tuple[Overlay, ...]  # the enabled ones that repeat the work, outermost first
    metrics: tuple[TaskMetricDocument, ...]  # what is measured, where the confidence loop is enabled

    def on(self, name: str) -> Overlay | None:
        """The overlay called `name` if it is enabled, else None."""
        found = self.overlays[name]
        return found if found.enabled else None

    @property
    def gate_is_implicit(self) -> bool:
        """Whether the task has a gate only because confidence alone must never complete it."""
        return self.overlays["confidence_loop"].enabled and not self.overlays["policy_gate"].enabled

    @property
    def tier(self) -> str | None:
        """The risk tier of the task's gate, or None without one."""
        gate = self.overlays["policy_gate"]
        if not gate.enabled:
            return "T1" if self.gate_is_implicit else None
        return gate.text("risk_tier") or gate.text("default_risk_tier") or "T1"

    @property
    def required_evidence(self) -> tuple[str, ...]:
        """The checks that the task's gate requires; none without a gate."""
        covered = value(self.overlays["policy_gate"].find("require_coverage")) is True and not self.gate_is_implicit
        return (*REQUIRED.get(self.tier or "", ()), *(("requirement_coverage",) if covered else ()))

    @property
    def missing_evidence(self) -> tuple[str, ...]:
        """The required checks for which the gate names no file; with any of them, the gate never passes."""
        gate = self.on("policy_gate")
        written = None if gate is None else gate.find("evidence")
        named = {key for key in (key for keys in EVIDENCE_KEYS.values() for key in keys) if names(written, key)}
        return tuple(check for check in self.required_evidence if not named & set(EVIDENCE_KEYS[check]))

    @property
    def evidence_read(self) -> frozenset[str]:
        """The keys of `evidence` that the task's gate reads."""
        gate = self.on("policy_gate")
        checks = (*self.required_evidence, *OPTIONAL.get(self.tier or "", ()))
        read = {key for check in checks for key in EVIDENCE_KEYS[check]}
        listed = gate is not None and names(gate.find("evidence"), "requirements")
        return frozenset({*read, "implemented"} if listed and "requirements" in read else read)

    @property
    def driver(self) -> Scalar | None:
        """The driver of a pair: the one named, else the task's agent."""
        return self._agent("paired_workflow", "driver_agent") or self.agent

    @property
    def challenger(self) -> Scalar | None:
        return self._agent("paired_workflow", "challenger_agent")

    @property
    def coder(self) -> Scalar | None:
        """The author of what is reviewed: the coder named, else the task's agent."""
        return self._agent("agentic_review", "coder_agent") or self.agent

    @property
    def reviewer(self) -> Scalar | None:
        return self._agent("agentic_review", "reviewer_agent")

    @property
    def authors(self) -> tuple[Named, ...]:
        """All agents whose work a judge of this task scores."""
        found = [("agent", self.agent)]
        if pair := self.on("paired_workflow"):
            found.append(("overlays.paired_workflow.driver_agent", self.driver))
            if pair.text("role_switch") in ("subtask", "checkpoint"):
                found.append(("overlays.paired_workflow.challenger_agent", self.challenger))
        if self.on("agentic_review"):
            found.append(("overlays.agentic_review.coder_agent", self.coder))
        return tuple(Named(agent, field) for field, agent in found if agent is not None)

    @property
    def agents(self) -> Iterator[Named]:
        """Every agent that the enabled parts of the task name."""
        if self.agent is not None:
            yield Named(self.agent, "agent")
        for name, keys in (
            ("paired_workflow", ("driver_agent", "challenger_agent")),
            ("agentic_review", ("coder_agent", "reviewer_agent")),
        ):
            for key in keys:
                if (found := self._agent(name, key)) is not None:
                    yield Named(found, f"overlays.{name}.{key}")
        for metric in self.metrics:
            if metric.evaluator is not None:
                yield Named(metric.evaluator, f"{metric.field}.evaluator_agent")

    def _agent(self, name: str, key: str) -> Scalar | None:
        found = self.on(name)
        return None if found is None else scalar(found.find(key))

    def finding(self, severity: Severity, place: Span | Located, field: str, message: str, **more: Any) -> Diagnostic:
        """A finding about this task; the message names the task and the field."""
        about = f"task `{self.id}`, `{field}`" if field else f"task `{self.id}`"
        return finding(severity, place, f"{about}: {message}", **more)

    error = partialmethod(finding, Severity.ERROR)
    advice = partialmethod(finding, Severity.ADVICE)
    warning = partialmethod(finding, Severity.WARNING)


class WorkflowDocument(Document, frozen=True, eq=False):
    """One workflow file."""

    version: object
    name: str
    default_iterations: Annotated[int | None, At("config", "max_iterations_default")]
    tasks: tuple[TaskDocument, ...]

    def task(self, name: str) -> TaskDocument | None:
        """The task called `name`, or None."""
        return next((task for task in self.tasks if task.id == name), None)


def read_workflow(node: Mapping, stem: str, defaults: Node | None, off: Collection[str] = ()) -> WorkflowDocument:
    """The model of a workflow file called `stem`; `defaults` are the project's overlays; the overlays in `off`
    are always disabled."""
    layers = tuple(each for each in (descend(node, "overlays"), defaults) if isinstance(each, Mapping))
    return read(
        WorkflowDocument,
        node,
        name=text(node, "name") or stem,
        tasks=tuple(
            _task(entry.name, entry.key, entry.value, layers, off)
            for entry in entries(node, "tasks")
            if isinstance(entry.value, Mapping)
        ),
    )


def _task(name: str, key: Scalar, node: Mapping, defaults: tuple[Mapping, ...], off: Collection[str]) -> TaskDocument:
    own = descend(node, "overlays")
    layers = (own, *defaults) if isinstance(own, Mapping) else defaults
    overlays = {each: overlay(each, layers, on=each == "hil", off=each in off) for each in OVERLAYS}
    gated = overlays["policy_gate"].enabled or overlays["confidence_loop"].enabled
    loop = overlay("loop", (node,), on=True)
    return read(
        TaskDocument,
        node,
        id=name,
        key=key,
        inputs=tuple(_artifacts(node, "inputs")),
        outputs=tuple(_artifacts(node, "outputs")),
        overlays=overlays,
        loops=tuple(each for each in (loop, *map(overlays.__getitem__, LOOPING)) if each.enabled and each.layers),
        metrics=_metrics(overlays["confidence_loop"]),
        enabled=tuple(each for each in OVERLAYS if overlays[each].enabled or (each == "policy_gate" and gated)),
    )


def _metrics(loop: Overlay) -> tuple[TaskMetricDocument, ...]:
    return tuple(
        read(TaskMetricDocument, node, field=f"{loop.field}.metrics[{number}]")
        for number, node in enumerate(items(loop.find("metrics")) if loop.enabled else ())
        if isinstance(node, Mapping)
    )


def _artifacts(node: Mapping, key: str) -> Iterator[ArtifactDocument]:
    for at, item in enumerate(items(node, key)):
        field = f"{key}[{at}]"
        if isinstance(item, Mapping):
            yield ArtifactDocument(text(item, "path"), item, item.get("contract"), field)
        elif is_text(item):
            yield ArtifactDocument(item.text, item, None, field)


def names(node: Node | None, key: str) -> tuple[str, ...]:
    """The files under a key, which holds one text or a list of texts; empty texts are skipped."""
    return tuple(filter(None, one_or_more(node, key)))


def evidence_phrase(checks: Sequence[str]) -> str:
    """The keys of `evidence` that these checks need, for a message: "`acceptance`, nor for `lint` or `security`"."""
    return ", nor for ".join(" or ".join(f"`{key}`" for key in EVIDENCE_KEYS[check]) for check in checks)


def span_in_task(task: TaskDocument, *steps: Step) -> Span:
    """The span of a part of the task, or of the task's name."""
    return place_of(task.node, *steps) if descend(task.node, *steps) is not None else task.key.span


class ContractRegistry(Struct, frozen=True):
    """The known contract types by `type@version`; `exists` is false without a registry."""

    types: dict[str, Contract] = {}
    exists: bool = False
    optional: bool = False  # whether contracts may stay unchecked without a registry


def read_contracts(*nodes: Node | None, optional: bool) -> ContractRegistry:
    """The registry merged from the given mappings, later ones over earlier ones; other nodes are ignored."""
    found = [node for node in nodes if isinstance(node, Mapping)]
    types = {name: read(Contract, each, type=name) for node in found for name, each in mappings_in(node)}
    return ContractRegistry(types, bool(found), optional)


def contract_of(
    task: TaskDocument, artifact: ArtifactDocument, known: ContractRegistry, found: list[Diagnostic]
) -> Contract | None:
    """The contract of an artifact, or None without one. An unknown type is also None, with a finding in `found`."""
    written = artifact.contract
    if isinstance(written, Mapping):
        return read(Contract, written, type="")
    if not is_text(written):
        return None
    place = f"{artifact.field}.contract"
    if not known.exists:
        if not known.optional:
            message = f"the contract `{written.value}` is declared, but no registry defines contract types"
            found.append(task.error(written, place, message, code="missing-contract-registry"))
        return None
    contract = known.types.get(written.text)
    if contract is None:
        hint = did_you_mean(written.text, known.types)
        message = f"unknown artifact type: {written.value}"
        found.append(task.error(written, place, message, code="unknown-artifact-type", help=hint))
    return contract


class Overlay(Struct, frozen=True, eq=False):
    """One overlay of a task, or its own `loop`. Each setting is looked up in the layers: the task's own, the
    workflow's, the project's."""

    name: str
    layers: tuple[Mapping, ...]
    key: Scalar | None  # the key of the nearest layer; None if no layer sets the overlay
    enabled: bool  # off by default, except for `hil`

    @property
    def field(self) -> str:
        """Its path in the task."""
        return self.name if self.name == "loop" else f"overlays.{self.name}"

    @property
    def place(self) -> Located:
        """The span of the overlay's key. Raises ValueError if no layer sets the overlay."""
        if self.key is None:
            raise ValueError(f"no layer sets `{self.name}`")
        return self.key

    def find(self, key: str) -> Node | None:
        """The setting's value from the first layer that gives it, or None."""
        return next((found for layer in self.layers if (found := layer.get(key)) is not None), None)

    def text(self, key: str) -> str:
        """The setting's text, or the empty text."""
        return text_of(self.find(key))

    def number(self, key: str) -> Scalar | None:
        """The setting's scalar if it is a number, else None."""
        return numeric(self.find(key))

    @property
    def max_iterations(self) -> int | None:
        """The maximum number of iterations; None if absent or invalid."""
        found = number(self.find("max_iterations"))
        return found if found is not None and found > 0 else None

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """The exit conditions as written."""
        return tuple(found for item in items(self.find("exit_conditions")) if (found := scalar(item)) is not None)

    @property
    def mode(self) -> Literal["any", "all"]:
        """Whether `any` or `all` of threshold and conditions must hold."""
        return "all" if self.text("exit_when") == "all" else "any"


def overlay(name: str, layers: tuple[Mapping, ...], *, on: bool = False, off: bool = False) -> Overlay:
    """The overlay called `name` from mappings of overlays, the nearest first; `on` is its default."""
    entries = [layer.index[name] for layer in layers if name in layer]
    found = [(entry.key, entry.value) for entry in entries if isinstance(entry.value, Mapping)]
    layers = tuple(value for _, value in found)
    switch = next((value for layer in layers if (value := flag(layer, "enabled")) is not None), on)
    return Overlay(name, layers, found[0][0] if found else None, switch and not off)
