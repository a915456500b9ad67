"""Verdicts: the record of each check on a transcript, and the quotes that support it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec.structs import replace

from rulewright_runtime.plan.part import GRAVITY, Verdict
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import Gap

Cause = Literal["error", "missing", "unverified", "unclear"]
MAX_GAPS: Final = 5  # repeated in a record; the transcript's row lists all


class VerdictRecord(Protocol):
    """The fields of a record that aggregation always reads; others are read only if a scorecard names them."""

    @property
    def check_id(self) -> str:
        """The check that gave the verdict."""

    @property
    def eligible(self) -> bool:
        """Whether the check applied."""

    @property
    def verdict(self) -> str:
        """One of the four verdicts."""

    @property
    def severity(self) -> str:
        """S1 to S5, or S4_GATE."""

    @property
    def primary_bucket(self) -> str:
        """The letter of the dimension."""


class EvidenceSpan(msgspec.Struct, frozen=True):
    """A quote from a transcript, with the role and number of its turn, and why it matters."""

    role: str
    turn: int
    quote: str
    rationale: str | None = None


class VerdictResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record of one check on one transcript. `confidence` is in [0, 1]; `extra` holds how the verdict was reached.

    `cause` marks an unproven verdict: an `error` of the judge or verifier, `missing` content, a FAIL whose quotes do
    not occur (`unverified`), or a FAIL that the check's policy made of an `unclear` answer or that another check's
    missing answer may change.
    """

    check_id: str
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
    extra: JsonObject
    scorer_type: str
    cause: Cause | None = None


class Finding(msgspec.Struct, frozen=True):
    """The result of a verifier, before the check's own policies; `needs_adjudication` always requires a person.

    A `settled` finding does not depend on the conversation: no policy turns its UNCLEAR into FAIL. `occasion` marks a
    check that does not apply because of the conversation, not because of the scenario.
    """

    verdict: Verdict
    confidence: float
    code: str | None = None
    evidence: tuple[EvidenceSpan, ...] = ()
    extra: JsonObject = {}
    prompt_hash: str | None = None
    eligible: bool = True
    needs_adjudication: bool = False
    settled: bool = False
    occasion: bool = False
    cause: Cause | None = None


def conclude(check: Check, finding: Finding) -> VerdictResult:
    """The record of `check` for its verifier's finding, after the check's policies."""
    if finding.verdict == "UNCLEAR" and check.unclear == "fail" and finding.eligible and not finding.settled:
        extra = {**finding.extra, "fail_closed": True}
        finding = replace(
            finding, verdict="FAIL", extra=extra, needs_adjudication=True, cause=finding.cause or "unclear"
        )
    return VerdictResult(
        check_id=check.id,
        eligible=finding.eligible,
        verdict=finding.verdict,
        severity=check.severity,
        primary_bucket=check.primary_bucket,
        confidence=finding.confidence,
        evidence=finding.evidence,
        scorer_version=f"{check.scorer_type}/1",
        prompt_hash=finding.prompt_hash,
        rationale_code=finding.code,
        adjudication_required=finding.needs_adjudication or (finding.eligible and finding.verdict in check.adjudicate),
        secondary_tags=check.secondary_tags,
        extra=finding.extra,
        scorer_type=check.scorer_type,
        cause=finding.cause,
    )


def incomplete(finding: Finding, gaps: Sequence[Gap]) -> Finding:
    """The finding on an incomplete transcript: PASS becomes UNCLEAR, and so does NOT_APPLICABLE unless the scenario
    decided it."""
    applies = finding.eligible or finding.occasion
    if not applies or finding.verdict not in ("PASS", "NOT_APPLICABLE"):
        return finding
    extra = {**finding.extra, "verdict_before": finding.verdict, "incomplete": [str(gap) for gap in gaps[:MAX_GAPS]]}
    return replace(
        finding,
        verdict="UNCLEAR",
        confidence=0.0,
        code="incomplete_transcript",
        extra=extra,
        eligible=True,
        needs_adjudication=True,
        settled=True,
        cause="missing",
    )


def not_eligible(code: str | None = None, *, prompt_hash: str | None = None, occasion: bool = False) -> Finding:
    """A check that does not apply to the transcript; with `occasion` because the conversation gives no cause."""
    return Finding("NOT_APPLICABLE", 1.0, code, prompt_hash=prompt_hash, eligible=False, occasion=occasion)


def missing_content(code: str, evidence: tuple[EvidenceSpan, ...] = (), **more: Any) -> Finding:
    """UNCLEAR because the conversation lacks the content that the check looks at."""
    return Finding("UNCLEAR", 0.0, code, evidence, needs_adjudication=True, cause="missing", **more)


def failed(code: str, *, needs_adjudication: bool = True, **more: Any) -> Finding:
    """UNCLEAR because of an error: a crash, a missing part of the plan, a judge that can't be called."""
    return Finding("UNCLEAR", 0.0, code, needs_adjudication=needs_adjudication, settled=True, cause="error", **more)


def unverified(findings: Sequence[Finding]) -> JsonObject:
    """The mark of an UNCLEAR that replaces a judge's FAIL without a verified quote, if one of `findings` has it."""
    return {"unverified_fail": True} if any("unverified_fail" in finding.extra for finding in findings) else {}


def combine(findings: Sequence[Finding]) -> Finding:
    """One finding for several windows: any FAIL is FAIL, else any UNCLEAR is UNCLEAR, else any PASS is PASS.

    The deciding windows give the evidence, the first code and the lowest confidence. If one FAIL needs no adjudication,
    those that do are ignored.
    """
    verdict = min((finding.verdict for finding in findings), key=GRAVITY.index)
    deciding = [finding for finding in findings if finding.verdict == verdict]
    sound = [finding for finding in deciding if not finding.needs_adjudication]
    settles = verdict == "FAIL" and bool(sound)
    deciding = sound if settles else deciding
    causes = [finding.cause for finding in deciding]
    proven = verdict == "FAIL" and None in causes  # one window is enough
    windows = [{"verdict": finding.verdict, "confidence": finding.confidence, **finding.extra} for finding in findings]
    return Finding(
        deciding[0].verdict,
        min(finding.confidence for finding in deciding),
        next((finding.code for finding in deciding if finding.code), None),
        tuple(dict.fromkeys(span for finding in deciding for span in finding.evidence)),
        {"windows": windows, **unverified(deciding)},
        prompt_hash=deciding[0].prompt_hash,
        needs_adjudication=not settles and any(finding.needs_adjudication for finding in findings),
        settled=all(finding.settled for finding in deciding),
        cause=None if proven else next((cause for cause in causes if cause), None),
    )
