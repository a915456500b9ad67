"""The policy gate: collects evidence and judges it. Confidence is reported as advice and decides nothing."""

from __future__ import annotations

import time
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
# Seconds by which stale evidence has to be older than the task, or newer than the present: the clocks of file systems
# differ, and files prepared just before a run are not worth a warning.
STALE_SECONDS: Final = {"fail": 2.0, "warn": 60.0}


class EvidenceCheck(msgspec.Struct, frozen=True):
    """The status of one kind of evidence, and the reason."""

    status: Status
    details: str = ""


class GateReport(msgspec.Struct, frozen=True):
    """The report of a gate. `confidence_*`, `metrics`, `mode` and `threshold` are advice and did not decide.

    `reasons` are the objections to PASS; empty when the verdict is PASS. `warnings` decided nothing.
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
    """Judge the task's gate over the files below `root`. Each of the caller's `violations`, such as a changed locked
    output, fails the gate. `since` is when the task started, in seconds since the epoch: older evidence is a warning,
    or fails a gate with `stale_evidence: fail`, and so is evidence from the future."""
    gate, scoring = task.gate, task.confidence
    assert gate is not None
    checks, coverage = collect(task, gate, root)
    stale = tuple(_stale(gate, root, since))
    bindings: JsonObject = {"evidence": {name: check.status for name, check in checks.items()}}
    if coverage is not None:
        bindings["coverage"] = coverage
    decision = condition(gate.verdict, Polarity.PERMITTING)({**bindings, **context.gate_bindings()})
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
        mode=None if scoring is None else scoring.mode,
        threshold=None if scoring is None else scoring.threshold,
        coverage=None if coverage is None else float(coverage),
        reasons=tuple(reasons),
        warnings=() if gate.stale_evidence == "fail" else stale,
    )


def collect(task: TaskPlan, gate: Gate, root: Path) -> tuple[dict[Evidence, EvidenceCheck], Fraction | None]:
    """Return the check of every kind of evidence, and the share of requirements met or None when not measured."""
    checks: dict[Evidence, EvidenceCheck] = {}
    coverage: Fraction | None = None
    for name in EVIDENCE:
        if name not in gate.looked_at and name not in gate.required:
            checks[name] = EvidenceCheck("SKIPPED", _why_skipped(name, gate))
            continue
        missing = f"missing {name.removesuffix('_evidence').replace('_', ' ')} evidence"
        try:
            reading = _read(name, task, gate, root)
        except CollectionError as error:
            checks[name] = EvidenceCheck("FAIL", f"{missing}: {error}")
            continue
        if reading is None:
            checks[name] = EvidenceCheck("FAIL", missing)
        elif name == "requirement_coverage":
            coverage = reading.exact
            checks[name] = _coverage_check(reading, gate)
        else:
            checks[name] = EvidenceCheck("PASS" if reading.clean else "FAIL", reading.details)
    return checks, coverage


def _stale(gate: Gate, root: Path, since: float) -> Iterator[str]:
    """Describe the evidence written before the task started, or dated in the future, which may have been. Requirement
    lists are exempt: they usually are older."""
    now, leeway = time.time(), STALE_SECONDS[gate.stale_evidence]
    for kind in ("acceptance", "lint", "security", "readiness"):
        for path in gate.sources.get(kind, ()):
            with suppress(OSError, CollectionError):
                written = inside(root, path).stat().st_mtime
                if written + leeway < since:
                    yield f"stale evidence: `{path}` is older than the task's start"
                elif written - leeway > now:
                    yield f"stale evidence: `{path}` has a date in the future, so it may be older than the task's start"


def _why_skipped(name: Evidence, gate: Gate) -> str:
    configurable = name == "requirement_coverage" and gate.risk_tier != "T0"
    return "not configured" if configurable else f"not required for {gate.risk_tier}"


def _coverage_check(reading: ReportReading, gate: Gate) -> EvidenceCheck:
    if "requirement_coverage" not in gate.required:
        return EvidenceCheck("PASS", f"{reading.details} (not required)")
    threshold = gate.coverage_threshold
    assert threshold is not None  # a plan without it is refused
    if reading.exact >= Fraction(repr(float(threshold))):
        return EvidenceCheck("PASS", reading.details)
    return EvidenceCheck("FAIL", f"requirement coverage below threshold {threshold:g}: {reading.details}")


# The collector of each kind of evidence and its sources, all of which have to be clean.
_READERS: Final[Mapping[Evidence, tuple[collectors.Collector, tuple[str, ...]]]] = {
    "acceptance_evidence": (collectors.junit, ("acceptance",)),
    "verification": (collectors.scan, ("lint", "security")),
    "operational_readiness": (collectors.checklist, ("readiness",)),
}


def _read(name: Evidence, task: TaskPlan, gate: Gate, root: Path) -> ReportReading | None:
    """Return the combined reading of the sources of a kind of evidence, or None when none is named."""
    outputs = tuple(output.path for output in task.outputs)
    if name == "requirement_coverage":
        lists = gate.sources.get("requirements", ())
        paths = gate.sources.get("implemented", ()) or outputs
        return collectors.requirement_coverage(root, lists, paths) if lists else None
    collector, kinds = _READERS[name]
    named = [kind for kind in kinds if gate.sources.get(kind)]
    found = {kind: collectors.read_all(collector, kind, root, gate.sources[kind], outputs) for kind in named}
    if not found:
        return None
    details = "; ".join(f"{kind}: {each.details}" if len(kinds) > 1 else each.details for kind, each in found.items())
    return ReportReading(sum(each.good for each in found.values()), sum(each.total for each in found.values()), details)


def _reasons(gate: Gate, checks: Mapping[Evidence, EvidenceCheck], undecided: str | None) -> list[str]:
    failed = [f"{name}: {check.details}" for name, check in checks.items() if check.status == "FAIL"]
    reasons = failed or ["a condition of the gate does not hold"]
    return reasons + ([f"a condition can't be decided: {undecided}"] if undecided is not None else [])
