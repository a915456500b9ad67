"""The cue verifier: checks the next replies to every cue of the user for required and forbidden phrases."""

from __future__ import annotations

from collections.abc import Sequence

from rulewright_runtime.matching.match import MatchSpan
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import CueResponse
from rulewright_runtime.verdicts import EvidenceSpan, Finding, missing_content, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext


def verify(check: Check, verifier: CueResponse, context: EvaluationContext) -> Finding:
    """FAIL if a reply to a cue is forbidden or lacks the expected phrase; UNCLEAR if a cue has no reply; not eligible
    without a cue. Every cue counts; `extra.cues` lists each."""
    hits = context.hits(verifier.cue)
    if not hits:
        return not_eligible("cue_not_found", occasion=True)
    verdicts: list[tuple[str, list[EvidenceSpan]]] = []
    cues: list[dict[str, object]] = []
    for index, span in hits:
        code, spans = _answered(verifier, context, index, span)
        verdicts.append((code, spans))
        cues.append({"turn": context.turns[index].turn, "cue": span.text, "answer": code})
    codes = [code for code, _ in verdicts]
    deciding = next((code for code in ("forbidden_said", "expected_missing", "cue_unanswered") if code in codes), "")
    evidence = tuple(part for code, spans in verdicts if code == (deciding or code) for part in spans)
    extra = {"cues": cues, "items_met": codes.count("answered_well"), "items_expected": len(codes)}
    if deciding == "cue_unanswered":
        return missing_content(deciding, evidence, extra=extra)
    if deciding:
        confidence = verifier.hit_confidence if deciding == "forbidden_said" else verifier.miss_confidence
        return Finding("FAIL", confidence, deciding, evidence, extra)
    return Finding("PASS", verifier.hit_confidence, "answered_well", evidence, extra)


def _answered(
    verifier: CueResponse, context: EvaluationContext, cue: int, span: MatchSpan
) -> tuple[str, list[EvidenceSpan]]:
    spans = [context.quote(cue, span.text, f"cue:{span.pattern}")]
    answers = context.answers(cue, verifier.within)
    replies = [index for index in answers if index is not None]
    if not replies:
        return "cue_unanswered", spans
    forbidden = _first(verifier.forbidden, replies, context)
    if forbidden is not None:
        return "forbidden_said", [*spans, forbidden]
    if verifier.expected is None:
        return "answered_well", spans
    expected = _first(verifier.expected, replies, context)
    if expected is None and None in answers:  # the missing reply may have contained it
        return "cue_unanswered", spans
    if expected is None:
        spans.append(
            context.quote(replies[0], context.turns[replies[0]].content[:200], "contains none of the expected phrases")
        )
        return "expected_missing", spans
    return "answered_well", [*spans, expected]


def _first(lexicon: str | None, replies: Sequence[int], context: EvaluationContext) -> EvidenceSpan | None:
    hit = None if lexicon is None else next(context.hits_at(lexicon, replies), None)
    return None if hit is None else context.quoted_hit(*hit)
