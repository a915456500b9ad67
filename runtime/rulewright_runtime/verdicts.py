"""Verdicts: the record that every check leaves for a transcript, and the quotes that support it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.plan import Check, Verdict


class EvidenceSpan(msgspec.Struct, frozen=True):
    """A quote from a transcript, whose turn it is, and why it matters."""

    role: str
    turn: int
    quote: str
    rationale: str | None = None


class VerdictResult(msgspec.Struct, frozen=True):
    """What one check says of one transcript. `confidence` is in [0, 1]; `extra` holds how the verdict came about."""

    mode_id: str
    eligible: bool
    verdict: str
    severity: str
    primary_bucket: str
    confidence: float
    evidence: tuple[EvidenceSpan, ...]
    scorer_version: str
    prompt_hash: str | None
    rationale_code: str | None
    adjudication_required: bool
    secondary_tags: tuple[str, ...]
    extra: dict[str, Any]
    scorer_type: str


class Finding(msgspec.Struct, frozen=True):
    """What a verifier found, before the check's own policies; `shaken` marks what a person must look at anyway.

    `settled` findings are about the machinery, not about the transcript: no policy turns their UNCLEAR into FAIL.
    """

    verdict: Verdict
    confidence: float
    code: str | None = None
    evidence: tuple[EvidenceSpan, ...] = ()
    extra: dict[str, Any] = {}
    prompt_hash: str | None = None
    eligible: bool = True
    shaken: bool = False
    settled: bool = False


def conclude(check: Check, finding: Finding) -> VerdictResult:
    """The record of `check` for what its verifier found, after the check's policies."""
    if finding.verdict == "UNCLEAR" and check.unclear == "fail" and finding.eligible and not finding.settled:
        extra = {**finding.extra, "fail_closed": True}
        finding = replace(finding, verdict="FAIL", extra=extra, shaken=True)
    return VerdictResult(
        mode_id=check.id,
        eligible=finding.eligible,
        verdict=finding.verdict,
        severity=check.severity,
        primary_bucket=check.primary_bucket,
        confidence=finding.confidence,
        evidence=finding.evidence,
        scorer_version=f"{check.scorer_type}/1",
        prompt_hash=finding.prompt_hash,
        rationale_code=finding.code,
        adjudication_required=finding.shaken or (finding.eligible and finding.verdict in check.adjudicate),
        secondary_tags=check.secondary_tags,
        extra=finding.extra,
        scorer_type=check.scorer_type,
    )


def incomplete(record: VerdictResult) -> VerdictResult:
    """The record for a transcript in which an error stands for something that was said: nothing passes there."""
    if not record.eligible or record.verdict not in ("PASS", "NOT_APPLICABLE"):
        return record
    return replace(
        record,
        verdict="UNCLEAR",
        confidence=0.0,
        rationale_code="incomplete_transcript",
        adjudication_required=True,
        extra={**record.extra, "verdict_before": record.verdict},
    )


def not_eligible(code: str | None = None) -> Finding:
    """A check that does not apply to the transcript."""
    return Finding("NOT_APPLICABLE", 1.0, code, eligible=False)


def combine(findings: Sequence[Finding]) -> Finding:
    """One finding for several windows: any FAIL is FAIL, else any UNCLEAR is UNCLEAR, else any PASS is PASS.

    The windows that decide give the evidence and the first code; the least sure of them gives the confidence.
    """
    for verdict in ("FAIL", "UNCLEAR", "PASS", "NOT_APPLICABLE"):
        deciding = [finding for finding in findings if finding.verdict == verdict]
        if deciding:
            break
    windows = [{"verdict": finding.verdict, "confidence": finding.confidence, **finding.extra} for finding in findings]
    return Finding(
        deciding[0].verdict,
        min(finding.confidence for finding in deciding),
        next((finding.code for finding in deciding if finding.code), None),
        tuple(span for finding in deciding for span in finding.evidence),
        {"windows": windows},
        prompt_hash=deciding[0].prompt_hash,
        shaken=any(finding.shaken for finding in findings),
        settled=all(finding.settled for finding in deciding),
    )
