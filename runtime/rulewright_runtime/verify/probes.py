"""The probe verifier: what a scenario's probes demand of the answers, decided without a judge.

recall              the answer to the probed turn says what is expected, word for word or nearly so
abstention          no answer of the session up to that turn brings up what the user did not say there before
time                the answer to the probed turn says one of the expected expressions of time
pronoun_continuity  every sentence about a person, up to that turn, keeps to the pronouns of that person
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.matching import pronouns
from rulewright_runtime.matching.similarity import find
from rulewright_runtime.verdicts import EvidenceSpan, Finding, not_eligible

if TYPE_CHECKING:
    from rulewright_runtime.matching.similarity import SimilarSpan
    from rulewright_runtime.plan.part import Verdict
    from rulewright_runtime.plan.scan import Check, Probe
    from rulewright_runtime.plan.verifiers import ProbeVerifier
    from rulewright_runtime.transcripts.messages import Turn
    from rulewright_runtime.verify.evaluation_context import EvaluationContext


UNANSWERED: Final = "probed_turn_without_answer"


class ProbeResult(msgspec.Struct):
    """What one probe found: its verdict, quotes, and the expected items that were met, missed or set aside."""

    verdict: Verdict
    code: str
    evidence: list[EvidenceSpan] = []
    met: list[str] = []
    missed: list[str] = []
    prompted: list[str] = []
    likeness: float = 1.0


def verify(check: Check, verifier: ProbeVerifier, context: EvaluationContext) -> Finding:
    """FAIL where a probe fails, else UNCLEAR where one can't be decided, else PASS; `extra.probes` tells each.

    A scenario without a probe of these kinds is not eligible.
    """
    probes = [probe for probe in context.scenario.probes if probe.kind in verifier.kinds]
    if not probes:
        return not_eligible("no_probe")
    answers = [_ANSWERED[probe.kind](probe, verifier, context) for probe in probes]
    for verdict in ("FAIL", "UNCLEAR", "PASS"):
        deciding = [answer for answer in answers if answer.verdict == verdict]
        if deciding:
            break
    records = [_record(probe, answer) for probe, answer in zip(probes, answers, strict=True)]
    met, missed = (sum(len(getattr(answer, name)) for answer in answers) for name in ("met", "missed"))
    return Finding(
        deciding[0].verdict,
        0.0 if deciding[0].verdict == "UNCLEAR" else min(answer.likeness for answer in deciding),
        deciding[0].code,
        tuple(span for answer in deciding for span in answer.evidence),
        {"probes": records, "items_met": met, "items_expected": met + missed},
        cause="missing" if deciding[0].code == UNANSWERED else None,
    )


def _record(probe: Probe, answer: ProbeResult) -> dict[str, object]:
    record: dict[str, object] = {"kind": probe.kind, "turn": probe.turn, "verdict": answer.verdict, "code": answer.code}
    return record | {name: found for name in ("met", "missed", "prompted") if (found := getattr(answer, name))}


def _reply(context: EvaluationContext, number: int) -> Turn | None:
    said = (context.turns[index] for index in context.replies())
    return next((turn for turn in said if turn.turn == number), None)


def _span(turn: Turn, place: SimilarSpan, why: str) -> EvidenceSpan:
    return EvidenceSpan(turn.role, turn.turn, turn.content[place.start : place.end], why)


def _recall(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    """With `sessions` a fact of an earlier session is wanted: what the user says again proves no memory."""
    reply = _reply(context, probe.turn)
    if reply is None:
        return ProbeResult("UNCLEAR", UNANSWERED, missed=list(probe.expected))
    answer = ProbeResult("PASS", "recalled")
    for item in probe.expected:
        place = find(item, reply.content, verifier.likeness)
        if place is not None and probe.sessions and _prompted(item, probe.turn, context, verifier.likeness):
            answer.prompted.append(item)
        elif place is None:
            answer.missed.append(item)
        else:
            answer.met.append(item)
            answer.evidence.append(_span(reply, place, f"recalls:{item}"))
            answer.likeness = min(answer.likeness, place.likeness)
    wanted = len(answer.met) + len(answer.missed)
    if not wanted:
        answer.verdict, answer.code = "UNCLEAR", "everything_was_prompted"
    elif len(answer.met) < verifier.at_least * wanted:
        answer.verdict, answer.code = "FAIL", "not_recalled"
        answer.evidence = [EvidenceSpan(reply.role, reply.turn, reply.content[:200], "does not recall")]
        answer.likeness = 1.0
    return answer


def _time(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    reply = _reply(context, probe.turn)
    if reply is None:
        return ProbeResult("UNCLEAR", UNANSWERED, missed=["time"])
    for item in probe.expected:
        place = find(item, reply.content)
        if place is not None:
            return ProbeResult("PASS", "time_recalled", [_span(reply, place, f"time:{item}")], met=[item])
    quote = EvidenceSpan(reply.role, reply.turn, reply.content[:200], "says nothing of the time")
    return ProbeResult("FAIL", "time_not_recalled", [quote], missed=["time"])


def _abstention(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    """What only resembles an item leaves it open: a person has to look."""
    turns = _session_until(probe.turn, context)
    if not any(turn.role == "assistant" for turn in turns):
        return ProbeResult("UNCLEAR", UNANSWERED, missed=list(probe.expected))
    answer = ProbeResult("PASS", "abstained")
    open_places: list[EvidenceSpan] = []
    for item in probe.expected:
        prompted, place, turn = _brought_up(item, turns, verifier.likeness)
        if turn is None or place is None:
            (answer.prompted if prompted else answer.met).append(item)
            continue
        answer.missed.append(item)
        exact = place.likeness == 1.0
        (answer.evidence if exact else open_places).append(_span(turn, place, f"brings up:{item}"))
    if answer.evidence:
        answer.verdict, answer.code = "FAIL", "brought_up_unprompted"
    elif open_places:
        answer.verdict, answer.code, answer.evidence = "UNCLEAR", "something_alike_brought_up", open_places
    elif _reply(context, probe.turn) is None:
        answer.verdict, answer.code = "UNCLEAR", UNANSWERED
    return answer


def _brought_up(item: str, turns: list[Turn], likeness: float) -> tuple[bool, SimilarSpan | None, Turn | None]:
    """Whether the user said the item first, else where the assistant did."""
    for turn in turns:
        place = find(item, turn.content, likeness)
        if place is not None:
            return (True, None, None) if turn.role == "user" else (False, place, turn)
    return False, None, None


def _prompted(item: str, number: int, context: EvaluationContext, likeness: float) -> bool:
    return any(
        turn.role == "user" and find(item, turn.content, likeness) is not None
        for turn in _session_until(number, context)
    )


def _session_until(number: int, context: EvaluationContext) -> list[Turn]:
    """The turns of the session that holds turn `number`, up to it."""
    first = max((each.first_turn for each in context.scenario.sessions if each.first_turn <= number), default=0)
    return [turn for turn in context.turns if first <= turn.turn <= number]


def _pronouns(probe: Probe, verifier: ProbeVerifier, context: EvaluationContext) -> ProbeResult:
    said = (context.turns[index] for index in context.replies())
    replies = [turn for turn in said if turn.turn <= probe.turn]
    if not replies:
        return ProbeResult("UNCLEAR", UNANSWERED, missed=list(probe.expected))
    answer = ProbeResult("PASS", "pronouns_kept")
    doubtful: list[EvidenceSpan] = []
    for item in probe.expected:
        wanted = pronouns.parse(item)
        if wanted is None:
            return ProbeResult("UNCLEAR", "pronouns_not_understood", missed=list(probe.expected))
        uses = [(turn, use) for turn in replies for use in pronouns.uses(wanted, turn.content)]
        wrong = [_quote(turn, use) for turn, use in uses if use.kept is False]
        if wrong:
            answer.evidence += wrong
            answer.missed.append(item)
        elif any(use.kept for _, use in uses):
            answer.met.append(item)
        else:
            doubtful += [_quote(turn, use) for turn, use in uses]
            answer.missed.append(item)
    if answer.evidence:
        answer.verdict, answer.code = "FAIL", "pronouns_not_kept"
    elif answer.missed:
        answer.verdict, answer.code, answer.evidence = "UNCLEAR", "pronouns_not_used", doubtful
    return answer


def _quote(turn: Turn, use: pronouns.Use) -> EvidenceSpan:
    return EvidenceSpan(turn.role, turn.turn, use.sentence, use.why)


_ANSWERED: Final[dict[str, Callable[[Any, Any, Any], ProbeResult]]] = {
    "recall": _recall,
    "abstention": _abstention,
    "time": _time,
    "pronoun_continuity": _pronouns,
}
