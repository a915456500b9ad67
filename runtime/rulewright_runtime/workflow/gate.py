"""The policy gate: evidence is collected and judged; confidence is noted beside it and decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

import msgspec

from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow import collectors
from rulewright_runtime.workflow.collectors import CollectionError, ReportReading
from rulewright_runtime.workflow.collectors.report_reading import inside
from rulewright_runtime.workflow.task_context import TaskContext
from rulewright_runtime.workflow.workflow_plan import EVIDENCE, Evidence, Gate, TaskPlan

Status = Literal["PASS", "FAIL", "SKIPPED"]
# Seconds by which evidence has to be older than the task: the clocks of file systems differ, and a warning should not
# speak of what was laid ready just before a run.
OLDER: Final = {"fail": 2.0, "warn": 60.0}
_NAMES: Final[Mapping[Evidence, str]] = {
    "acceptance_evidence": "acceptance",
    "verification": "verification",
    "operational_readiness": "operational readiness",
    "requirement_coverage": "requirement coverage",
}


class EvidenceCheck(msgspec.Struct, frozen=True):
    """How one kind of evidence came out, and why."""

    status: Status
    details: str = ""


class GateReport(msgspec.Struct, frozen=True):
    """What a gate found. `confidence_*`, `metrics`, `mode` and `threshold` are advice, and were not asked.

    `reasons` says what stood against PASS, in words; it is empty where the verdict is PASS. `warnings` decided nothing.
    """

    task_id: str
    risk_tier: str
    verdict: Literal["PASS", "FAIL"]
    evidence_checks: dict[str, EvidenceCheck]
    confidence_score: float | None
    confidence_advisory: str | None
    hil_required: bool
    evaluated_at: str
    metrics: list[JsonObject]
    mode: str | None
    threshold: float | None
    coverage: float | None = None
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def judge_evidence(
    task: TaskPlan, context: TaskContext, root: Path, now: str, *, violations: Sequence[str] = (), since: float = 0.0
) -> GateReport:
    """The report of the task's gate over the files below `root`. `violations` are reasons of the caller's, such as
    locked outputs that were changed; each of them fails the gate. `since` is when the task started, in seconds of the
    epoch: evidence that is older is told, or fails the gate that asks for it."""
    gate = task.gate
    assert gate is not None
    checks, coverage = collect(task, gate, root)
    stale = tuple(_stale(gate, root, since))
    sees: JsonObject = {"evidence": {name: check.status for name, check in checks.items()}}
    if coverage is not None:
        sees["coverage"] = coverage
    decision = condition(gate.verdict, Polarity.PERMITTING)({**sees, **context.gate_bindings()})
    reasons = [] if decision.holds else _reasons(gate, checks, decision.undecided)
    reasons += (*violations, *(stale if gate.stale_evidence == "fail" else ()))
    return GateReport(
        task_id=task.id,
        risk_tier=gate.risk_tier,
        verdict="FAIL" if reasons else "PASS",
        evidence_checks={name: checks[name] for name in EVIDENCE},
        confidence_score=None if context.score is None else float(context.score),
        confidence_advisory=context.advisory or None,
        hil_required=gate.sign_off,
        evaluated_at=now,
        metrics=[msgspec.to_builtins(metric) for metric in context.metrics],
        mode=None if task.confidence is None else task.confidence.mode,
        threshold=None if task.confidence is None else task.confidence.threshold,
        coverage=None if coverage is None else float(coverage),
        reasons=tuple(reasons),
        warnings=() if gate.stale_evidence == "fail" else stale,
    )


def collect(task: TaskPlan, gate: Gate, root: Path) -> tuple[dict[Evidence, EvidenceCheck], Fraction | None]:
    """Every kind of evidence with its status, and the share of requirements met where it was measured."""
    checks: dict[Evidence, EvidenceCheck] = {}
    coverage: Fraction | None = None
    for name in EVIDENCE:
        if name not in gate.looked_at and name not in gate.required:
            checks[name] = _skipped(name, gate)
            continue
        try:
            reading = _read(name, task, gate, root)
        except CollectionError as error:
            checks[name] = EvidenceCheck("FAIL", f"missing {_NAMES[name]} evidence: {error}")
            continue
        if reading is None:
            checks[name] = EvidenceCheck("FAIL", f"missing {_NAMES[name]} evidence")
        elif name == "requirement_coverage":
            coverage = reading.exact
            checks[name] = _covered(reading, gate)
        else:
            checks[name] = EvidenceCheck("PASS" if reading.clean else "FAIL", reading.details)
    return checks, coverage


def _stale(gate: Gate, root: Path, since: float) -> Iterator[str]:
    """The evidence that was written before the task started, in words; a requirement list is older as a rule."""
    for kind in ("acceptance", "lint", "security", "readiness"):
        for path in gate.sources.get(kind, ()):
            with suppress(OSError, CollectionError):
                if inside(root, path).stat().st_mtime + OLDER[gate.stale_evidence] < since:
                    yield f"stale evidence: `{path}` is older than the task's start"


def _skipped(name: Evidence, gate: Gate) -> EvidenceCheck:
    if name == "requirement_coverage" and gate.risk_tier != "T0":
        return EvidenceCheck("SKIPPED", "not configured")
    return EvidenceCheck("SKIPPED", f"not required for {gate.risk_tier}")


def _covered(reading: ReportReading, gate: Gate) -> EvidenceCheck:
    threshold = gate.coverage_threshold
    if threshold is None or "requirement_coverage" not in gate.required:
        return EvidenceCheck("PASS", f"{reading.details} (not required)")
    if reading.exact >= Fraction(repr(float(threshold))):
        return EvidenceCheck("PASS", reading.details)
    return EvidenceCheck("FAIL", f"requirement coverage below threshold {threshold:g}: {reading.details}")


# How each kind of evidence is read, and the sources it is read from, all of which have to be clean.
_READERS: Final[Mapping[Evidence, tuple[collectors.Collector, tuple[str, ...]]]] = {
    "acceptance_evidence": (collectors.junit, ("acceptance",)),
    "verification": (collectors.scan, ("lint", "security")),
    "operational_readiness": (collectors.checklist, ("readiness",)),
}


def _read(name: Evidence, task: TaskPlan, gate: Gate, root: Path) -> ReportReading | None:
    """What the sources of a kind of evidence say together; None where none is named."""
    outputs = tuple(output.path for output in task.outputs)
    if name == "requirement_coverage":
        lists = gate.sources.get("requirements", ())
        places = gate.sources.get("implemented", ()) or outputs
        return collectors.requirement_coverage(root, lists, places) if lists else None
    collector, kinds = _READERS[name]
    readings = [
        (kind, collectors.together(collector, kind, root, gate.sources[kind], outputs))
        for kind in kinds
        if gate.sources.get(kind)
    ]
    if not readings:
        return None
    details = "; ".join(f"{kind}: {each.details}" if len(kinds) > 1 else each.details for kind, each in readings)
    return ReportReading(sum(each.good for _, each in readings), sum(each.total for _, each in readings), details)


def _reasons(gate: Gate, checks: Mapping[Evidence, EvidenceCheck], undecided: str | None) -> list[str]:
    failed = [f"{name}: {check.details}" for name, check in checks.items() if check.status == "FAIL"]
    reasons = failed or ["a condition of the gate does not hold"]
    return reasons + ([f"a condition can't be decided: {undecided}"] if undecided is not None else [])
