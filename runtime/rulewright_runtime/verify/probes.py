"""The probe verifier: checks the replies against a scenario's probes, without a judge.

recall              the reply to the probed turn contains the expected items, exactly or nearly
abstention          no reply of the session up to that turn mentions an item before the user does
time                the reply to the probed turn contains one of the expected expressions of time
pronoun_continuity  every sentence about a person, up to that turn, uses that person's pronouns
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import msgspec

from rulewright_runtime.matching import pronouns
from rulewright_runtime.matching.near_matches import SimilarSpan, find
from rulewright_runtime.plan.part import GRAVITY, Verdict
from rulewright_runtime.plan.scan import Check, Probe
from rulewright_runtime.plan.verifiers import ProbeVerifier
from rulewright_runtime.transcripts.messages import Turn
from rulewright_runtime.verdicts import EvidenceSpan, Finding, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext

UNANSWERED: Final = "probed_turn_without_answer"


class ProbeResult(msgspec.Struct):
    """The result of one probe: its verdict, quotes, and the expected items that were met, missed or prompted."""

    verdict: Verdict
    code: str
    evidence: list[EvidenceSpan] = []
    met: list[str] = []
    missed: list[str] = []
    prompted: list[str] = []
    likeness: float = 1.0


def verify(check: Check, verifier: ProbeVerifier, context: EvaluationContext) -> Finding:
    """FAIL if a probe fails, else UNCLEAR if one can't be decided, else PASS; `extra.probes` lists each result.

    A scenario without a probe of these kinds is not eligible.
    """
    probes = [probe for probe in context.scenario.probes if probe.kind in verifier.kinds]
    if not probes:
        return not_eligible("no_probe")
    results = [_VERIFIERS[probe.kind](probe, verifier, context) for probe in probes]
    verdict = min((result.verdict for result in results), key=GRAVITY.index)
    deciding = [result for result in results if result.verdict == verdict]
    records = [_record(probe, result) for probe, result in zip(probes, results, strict=True)]
    met, missed = (sum(len(getattr(result, name)) for result in results) for name in ("met", "missed"))
    return Finding(
        verdict,
        0.0 if verdict == "UNCLEAR" else min(result.likeness for result in deciding),
        deciding[0].code,
        tuple(span for result in deciding for span in result.evidence),
        {"probes": records, "items_met": met, "items_expected": met + missed},
        cause="missing" if deciding[0].code == UNANSWERED else None,
    )


def _record(probe: Probe, result: ProbeResult) -> dict[str, object]:
    record: dict[str, object] = {"kind": probe.kind, "turn": probe.turn, "verdict": result.verdict, "code": result.code}
    return record | {name: items for name in ("met", "missed", "prompted") if (items := getattr(result, name))}


def _reply(context: EvaluationContext, number: int) -> Turn | None:
    replies = (context.turns[index] for index in context.replies())
    return next((turn for turn in replies if turn.turn == number), None)


def _span(turn: Turn, span: SimilarSpan, why: str) -> EvidenceSpan:
    return EvidenceSpan(turn.role, turn.turn, turn.content[span.start : span.end], why)


def _recall(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    """With `sessions` the fact is from earlier sessions: an item that the user has repeated since is not expected."""
    reply = _reply(context, probe.turn)
    if reply is None:
        return ProbeResult("UNCLEAR", UNANSWERED, missed=list(probe.expected))
    result = ProbeResult("PASS", "recalled")
    for item in probe.expected:
        span = find(item, reply.content, verifier.likeness)
        if probe.sessions and _prompted(item, probe, context, verifier.likeness):
            result.prompted.append(item)
        elif span is None:
            result.missed.append(item)
        else:
            result.met.append(item)
            result.evidence.append(_span(reply, span, f"recalls:{item}"))
            result.likeness = min(result.likeness, span.likeness)
    expected = len(result.met) + len(result.missed)
    if not expected:
        result.verdict, result.code = "UNCLEAR", "everything_was_prompted"
    elif len(result.met) < Fraction(str(verifier.at_least)) * expected:
        result.verdict, result.code = "FAIL", "not_recalled"
        result.evidence = [EvidenceSpan(reply.role, reply.turn, reply.content[:200], "does not recall")]
        result.likeness = 1.0
    return result


def _time(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    reply = _reply(context, probe.turn)
    if reply is None:
        return ProbeResult("UNCLEAR", UNANSWERED, missed=["time"])
    for item in probe.expected:
        span = find(item, reply.content)
        if span is not None:
            return ProbeResult("PASS", "time_recalled", [_span(reply, span, f"time:{item}")], met=[item])
    quote = EvidenceSpan(reply.role, reply.turn, reply.content[:200], "does not mention the time")
    return ProbeResult("FAIL", "time_not_recalled", [quote], missed=["time"])


def _abstention(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    """UNCLEAR if a reply only resembles an item."""
    turns = _session_until(probe.turn, context)
    if not any(turn.role == "assistant" for turn in turns):
        return ProbeResult("UNCLEAR", UNANSWERED, missed=list(probe.expected))
    result = ProbeResult("PASS", "abstained")
    similar: list[EvidenceSpan] = []
    for item in probe.expected:
        prompted, span, turn = _brought_up(item, turns, verifier.likeness)
        if turn is None or span is None:
            (result.prompted if prompted else result.met).append(item)
            continue
        result.missed.append(item)
        exact = span.likeness == 1.0
        (result.evidence if exact else similar).append(_span(turn, span, f"brings up:{item}"))
    if result.evidence:
        result.verdict, result.code = "FAIL", "brought_up_unprompted"
    elif similar:
        result.verdict, result.code, result.evidence = "UNCLEAR", "something_alike_brought_up", similar
    elif _reply(context, probe.turn) is None:
        result.verdict, result.code = "UNCLEAR", UNANSWERED
    return result


def _brought_up(item: str, turns: list[Turn], likeness: float) -> tuple[bool, SimilarSpan | None, Turn | None]:
    """Whether the user said the item first; else the most similar span in which the assistant did, with its turn, if
    any."""
    best: tuple[SimilarSpan | None, Turn | None] = None, None
    for turn in turns:
        span = find(item, turn.content, likeness)
        if span is None:
            continue
        if turn.role == "user":
            return (best[0] is None, *best)
        if best[0] is None or span.likeness > best[0].likeness:
            best = span, turn
    return (False, *best)


def _prompted(item: str, probe: Probe, context: EvaluationContext, likeness: float) -> bool:
    """Whether the user has said the item since the sessions that the probe names."""
    later = [
        each.first_turn
        for each in context.scenario.sessions
        if each.number > max(probe.sessions) and each.first_turn <= probe.turn
    ]
    first = min(later, default=_session_start(probe.turn, context))
    return any(
        turn.role == "user" and find(item, turn.content, likeness) is not None
        for turn in context.turns
        if first <= turn.turn <= probe.turn
    )


def _session_until(number: int, context: EvaluationContext) -> list[Turn]:
    """The turns of the session that contains turn `number`, up to that turn."""
    first = _session_start(number, context)
    return [turn for turn in context.turns if first <= turn.turn <= number]


def _session_start(number: int, context: EvaluationContext) -> int:
    return max((each.first_turn for each in context.scenario.sessions if each.first_turn <= number), default=0)


def _pronouns(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    replies = [turn for turn in (context.turns[index] for index in context.replies()) if turn.turn <= probe.turn]
    if not replies:
        return ProbeResult("UNCLEAR", UNANSWERED, missed=list(probe.expected))
    result = ProbeResult("PASS", "pronouns_kept")
    doubtful: list[EvidenceSpan] = []
    for item in probe.expected:
        person = pronouns.parse(item)
        if person is None:
            return ProbeResult("UNCLEAR", "pronouns_not_understood", missed=list(probe.expected))
        uses = [(turn, use) for turn in replies for use in pronouns.uses(person, turn.content)]
        wrong = [_quote(turn, use) for turn, use in uses if use.correct is False]
        if wrong:
            result.evidence += wrong
            result.missed.append(item)
        elif uses and all(use.correct for _, use in uses):
            result.met.append(item)
        else:
            doubtful += [_quote(turn, use) for turn, use in uses if use.correct is None]
            result.missed.append(item)
    if result.evidence:
        result.verdict, result.code = "FAIL", "pronouns_not_kept"
    elif result.missed:
        result.verdict, result.evidence = "UNCLEAR", doubtful
        result.code = "pronouns_undecided" if doubtful else "pronouns_not_used"
    return result


def _quote(turn: Turn, use: pronouns.Use) -> EvidenceSpan:
    return EvidenceSpan(turn.role, turn.turn, use.sentence, use.why)


_VERIFIERS: Final[dict[str, Callable[[Any, Any, Any], ProbeResult]]] = {
    "recall": _recall,
    "abstention": _abstention,
    "time": _time,
    "pronoun_continuity": _pronouns,
}
