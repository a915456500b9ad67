"""The longitudinal verifier: a judge decides over the whole trace of turns and sessions."""

from __future__ import annotations

import json

from msgspec.structs import replace

from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import LongitudinalVerifier
from rulewright_runtime.verdicts import EvidenceSpan, Finding
from rulewright_runtime.verify.asking import Asking
from rulewright_runtime.verify.evaluation_context import EvaluationContext
from rulewright_runtime.verify.judge import ask
from rulewright_runtime.verify.trace import follow


def verify(check: Check, verifier: LongitudinalVerifier, context: EvaluationContext) -> Asking[Finding]:
    """The judge's verdict on the trace.

    If the state machine fails and the judge does not, the judge's verdict stands and requires adjudication.
    """
    if verifier.machine is None or verifier.judging.repetitions == 0:
        return (yield from ask(check, verifier.judging, context))
    trace = follow(verifier.machine, context)
    finding = yield from ask(check, verifier.judging, context, notes=tuple(_notes(trace.evidence())))
    disagree = trace.verdict == "FAIL" and finding.verdict in ("PASS", "NOT_APPLICABLE")
    extra = {**finding.extra, "trace": trace.record()} | ({"trace_disagrees": True} if disagree else {})
    return replace(finding, extra=extra, needs_adjudication=finding.needs_adjudication or disagree)


def _notes(steps: tuple[EvidenceSpan, ...]) -> list[str]:
    """The steps of a trace as lines for the judge."""
    return [f"turn {step.turn}, {step.role}, {step.rationale}: {json.dumps(step.quote)}" for step in steps]
