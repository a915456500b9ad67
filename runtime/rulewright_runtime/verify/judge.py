"""The judge verifier: one question, K repetitions with retries, a vote, and quotes that are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging import evidence, prompts, replies, votes
from rulewright_runtime.judging.judge import JudgeRequest, UnansweredError
from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verdicts import EvidenceSpan, Finding, combine, failed, not_eligible, nothing_said
from rulewright_runtime.verify.asking import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.plan.part import Verdict
    from rulewright_runtime.plan.question import Judging
    from rulewright_runtime.plan.scan import Check
    from rulewright_runtime.plan.verifiers import JudgeVerifier
    from rulewright_runtime.transcripts.messages import Turn
    from rulewright_runtime.verify.asking import Asking, Verification
    from rulewright_runtime.verify.evaluation_context import EvaluationContext

FIRST_TEMPERATURE: Final = 0.0
NEXT_TEMPERATURE: Final = 0.3
CLEAR: Final = ("PASS", "NOT_APPLICABLE")  # what ends the repetitions early


def verify(check: Check, verifier: JudgeVerifier, context: EvaluationContext) -> Verification:
    """What the judge says of the check's windows."""
    return ask(check, verifier.judging, context)


class Asked(msgspec.Struct, frozen=True):
    """A window about which a judge is asked: its number among the check's, and exact evidence already at hand."""

    number: int
    window: WindowTurns
    given: tuple[EvidenceSpan, ...] = ()
    notes: tuple[str, ...] = ()  # what a deterministic reading found, told to the judge


def ask(
    check: Check, judging: Judging, context: EvaluationContext, purpose: str = "check", notes: tuple[str, ...] = ()
) -> Asking[Finding]:
    """The judge's verdict over all windows of `check`; `notes` are what a deterministic reading found beforehand."""
    if judging.repetitions == 0:
        return not_eligible("disabled_by_scan_profile", prompt_hash=judging.prompt_hash)
    windows = context.windows(judging.window, check)
    if context.are_silent(windows):
        return nothing_said("nothing_to_judge", prompt_hash=judging.prompt_hash)
    places = [Asked(number, window, (), notes) for number, window in enumerate(windows)]
    return (yield from ask_about(check, judging, context, places, purpose))


def ask_about(
    check: Check, judging: Judging, context: EvaluationContext, places: Sequence[Asked], purpose: str
) -> Asking[Finding]:
    """The judge's verdict over some windows of `check`, at least one."""
    questions = [_Question(check, judging, context, purpose, place) for place in places]
    try:
        findings = yield from together([question.answer() for question in questions])
    except UnansweredError as error:
        return failed(error.code, prompt_hash=judging.prompt_hash)
    return findings[0] if len(findings) == 1 else combine(findings)


class _Reply(msgspec.Struct, frozen=True):
    """A usable reply: what it says, and which of its quotes were found where it says they are."""

    said: dict[str, Any]
    cast: votes.Cast
    quotes: tuple[EvidenceSpan, ...]
    unverified: tuple[Any, ...]


class _Ballot(msgspec.Struct):
    """The usable replies in the order of their repetitions, and how many repetitions were asked."""

    replies: list[_Reply]
    asked: int = 0
    stopped: bool = False

    @property
    def votes(self) -> list[votes.Cast]:
        return [reply.cast for reply in self.replies]


class _Question:
    """One window of one check, put to the judge."""

    def __init__(self, check: Check, judging: Judging, context: EvaluationContext, purpose: str, place: Asked) -> None:
        self.check, self.judging, self.context, self.purpose = check, judging, context, purpose
        self.given, self.number, self.window, self.notes = place.given, place.number, place.window, place.notes
        self.turns: Sequence[Turn] = [context.turns[index] for index in self.window.indices]
        self.extra = self._found_before()

    def _found_before(self) -> dict[str, Any]:
        """What is known before the judge is asked: how the window was found and what the word list saw in it."""
        extra: dict[str, Any] = {}
        window = self.judging.window
        if self.judging.vote.record and getattr(window, "record", True) and self.window.about:
            extra["window"] = "unbounded" if self.window.about.get("unbounded") else self.window.about
        if self.judging.precheck is not None:
            extra["precheck"] = [
                {
                    "role": self.context.turns[index].role,
                    "turn": self.context.turns[index].turn,
                    "pattern": span.pattern,
                    "quote": span.text,
                }
                for index, span in self.context.hits(self.judging.precheck, self.window.indices)
            ]
        return extra

    def answer(self) -> Asking[Finding]:
        """The finding for this window."""
        ballot = yield from self._ballot(self._prompt())
        if not ballot.replies:
            return self._unusable()
        return self._counted(ballot)

    def _prompt(self) -> str:
        candidates = [*self.extra.get("precheck", ())]
        candidates += [{"role": span.role, "turn": span.turn, "quote": span.quote} for span in self.given]
        return prompts.render(
            self.judging,
            self.turns,
            {**self.context.bindings, "check": self.check.fields},
            part=len(self.turns) < len(self.context.turns),
            candidates=candidates,
            notes=self.notes,
        )

    def _ballot(self, prompt: str) -> Asking[_Ballot]:
        """Ask in rounds, until no further reply can change the verdict."""
        ballot, planned = _Ballot([]), self.judging.repetitions
        while ballot.asked < planned and not self._is_settled(ballot):
            size = self._round(ballot)
            repetitions = range(ballot.asked, ballot.asked + size)
            found = yield from together([self._usable_reply(prompt, repetition) for repetition in repetitions])
            ballot.asked += size
            ballot.replies += [reply for reply in found if reply is not None]
            if self.judging.adaptive_stop and ballot.asked == 1 and ballot.replies:
                ballot.stopped = ballot.replies[0].cast.verdict in CLEAR
        return ballot

    def _round(self, ballot: _Ballot) -> int:
        left = self.judging.repetitions - ballot.asked
        if self.judging.adaptive_stop and not ballot.asked:
            return 1
        if self.judging.vote.stop == "never":
            return left
        return votes.next_round(ballot.votes, left, self.judging.repetitions)

    def _is_settled(self, ballot: _Ballot) -> bool:
        if ballot.stopped:
            return True
        left = self.judging.repetitions - ballot.asked
        unverified: Verdict = "FAIL" if self.judging.evidence.unverified_fail == "keep" else "UNCLEAR"
        return self.judging.vote.stop == "decided" and votes.is_settled(
            ballot.votes, left, self.judging.repetitions, self.judging.unusable.verdict, unverified
        )

    def _usable_reply(self, prompt: str, repetition: int) -> Asking[_Reply | None]:
        """The first reply of a repetition that parses; every attempt may answer at greater length."""
        for attempt, budget in enumerate(self.judging.budgets):
            request = JudgeRequest(
                self.context.transcript.id,
                self.check.id,
                prompt,
                budget,
                FIRST_TEMPERATURE if repetition == 0 else NEXT_TEMPERATURE,
                repetition,
                attempt,
                self.number,
                self.purpose,
                self.judging.fields,
            )
            (raw,) = yield (request,)
            if isinstance(raw, UnansweredError):
                raise raw
            self.context.calls[self.check.id] = self.context.calls.get(self.check.id, 0) + 1
            if raw is not None:
                try:
                    return self._read(replies.read(raw, self.judging))
                except JudgeError:
                    continue
        return None

    def _read(self, said: dict[str, Any]) -> _Reply:
        """A usable reply with its quotes looked up, as far as the plan's policy wants that."""
        policy = self.judging.evidence
        if policy.malformed == "exception":  # the reply that counts is read for its quotes in the end
            return _Reply(said, votes.Cast(said["verdict"]), (), ())
        spans, unverified = evidence.tolerant(said)
        if policy.verify:
            shown = frozenset(self.window.indices)
            verified = [span for span in spans if self.context.quotes.places(span) & shown]
            unverified = [*unverified, *(span for span in spans if span not in verified)]
            spans = verified
        holds = said["verdict"] != "FAIL" or not policy.required or bool(spans or self.given)
        return _Reply(said, votes.Cast(said["verdict"], holds), tuple(spans), tuple(unverified))

    def _unusable(self) -> Finding:
        """What the plan says about a judge of whom no reply was usable."""
        policy = self.judging.unusable
        extra: dict[str, Any] = {}
        if policy.record:
            extra = {**self.extra, "votes_for": 0, "votes_cast": 0, "planned": self.judging.repetitions}
            extra |= {"fail_closed": True} if policy.verdict == "FAIL" else {}
        hash_ = self.judging.prompt_hash
        return Finding(
            policy.verdict, 0.0, policy.code, self.given, extra, hash_, needs_adjudication=True, cause="error"
        )

    def _counted(self, ballot: _Ballot) -> Finding:
        vote = self.judging.vote
        planned = 1 if ballot.stopped else self.judging.repetitions
        outcome = votes.count(ballot.votes, planned if vote.denominator == "planned" else None)
        finding = Finding(
            outcome.verdict,
            outcome.confidence,
            self._code(ballot, outcome),
            extra={**self._record(ballot, outcome, planned), **self.extra},
            prompt_hash=self.judging.prompt_hash,
        )
        return self._with_evidence(finding, ballot.replies[outcome.kept or 0])

    def _code(self, ballot: _Ballot, outcome: votes.VoteOutcome) -> str | None:
        codes = [
            reply.said.get("rationale_code")
            for reply in ballot.replies
            if self.judging.vote.rationale == "first" or reply.cast.verdict == outcome.verdict
        ]
        if self.judging.vote.rationale == "winning":
            if outcome.votes_for == 0:
                return "no_majority"
            codes = [code for code in codes if isinstance(code, str)]
        return next((code for code in codes if code), None)

    def _record(self, ballot: _Ballot, outcome: votes.VoteOutcome, planned: int) -> dict[str, Any]:
        verdicts = [vote.verdict for vote in ballot.votes]
        if not self.judging.vote.record:
            return {
                "repetitions": len(ballot.replies),
                "planned_repetitions": self.judging.repetitions,
                "adaptive_repetitions": self.judging.adaptive_stop,
                "all_verdicts": verdicts,
            }
        record: dict[str, Any] = {"votes_for": outcome.votes_for, "votes_cast": len(ballot.replies), "planned": planned}
        if ballot.stopped:
            record |= {"adaptive_stopped": True, "configured": self.judging.repetitions}
        elif ballot.asked < planned:
            record["unasked"] = planned - ballot.asked
        if self.judging.fields:
            names = [field.name for field in self.judging.fields]
            record["fields"] = [{name: reply.said[name] for name in names} for reply in ballot.replies]
        return {**record, "all_verdicts": verdicts}

    def _with_evidence(self, finding: Finding, reply: _Reply) -> Finding:
        """The finding with the reply's quotes, as far as the plan's policy lets them count."""
        policy = self.judging.evidence
        quotes = evidence.quoted(reply.said) if policy.malformed == "exception" else reply.quotes
        extra = {**finding.extra, "unverified_evidence": list(reply.unverified)} if reply.unverified else finding.extra
        given = self.given if finding.verdict == "FAIL" else ()
        finding = replace(finding, evidence=(*given, *quotes), extra=extra)
        if finding.verdict != "FAIL" or finding.evidence or not policy.required:
            return finding
        if policy.unverified_fail == "keep":
            return replace(finding, needs_adjudication=True, cause="unverified")
        extra = {**finding.extra, "unverified_fail": True}
        return replace(finding, verdict="UNCLEAR", extra=extra, needs_adjudication=True)
