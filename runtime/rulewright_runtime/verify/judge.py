"""The judge verifier: one question, K repetitions with retries, a vote, and verification of quotes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging import evidence, prompts, replies, votes
from rulewright_runtime.judging.judge import JudgeRequest, UnansweredError
from rulewright_runtime.plan.part import Verdict
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import JudgeVerifier
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.view import Aside
from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verdicts import EvidenceSpan, Finding, combine, failed, missing_content, not_eligible
from rulewright_runtime.verify.asking import Asking, Reply, Verification, together
from rulewright_runtime.verify.evaluation_context import EvaluationContext

FIRST_TEMPERATURE: Final = 0.0
NEXT_TEMPERATURE: Final = 0.3
CLEAR: Final = ("PASS", "NOT_APPLICABLE")  # verdicts that end the repetitions early


def verify(check: Check, verifier: JudgeVerifier, context: EvaluationContext) -> Verification:
    """The judge's verdict on the check's windows."""
    return ask(check, verifier.judging, context)


class JudgeWindow(msgspec.Struct, frozen=True):
    """A window to be judged: its number among the check's windows, and exact evidence found before."""

    number: int
    window: WindowTurns
    evidence: tuple[EvidenceSpan, ...] = ()
    notes: tuple[str, ...] = ()  # results of a deterministic reading, shown to the judge


def ask(
    check: Check, judging: Judging, context: EvaluationContext, purpose: str = "check", notes: tuple[str, ...] = ()
) -> Asking[Finding]:
    """The judge's verdict over all windows of `check`; `notes` are results of a deterministic reading."""
    if judging.repetitions == 0:
        return not_eligible("disabled_by_scan_profile", prompt_hash=judging.prompt_hash)
    windows = context.windows(judging.window, check)
    has_calls = "tools" in judging.shows and context.view.tool_calls
    if context.are_silent(windows) and not (has_calls and windows):
        return missing_content("nothing_to_judge", prompt_hash=judging.prompt_hash)
    judge_windows = [JudgeWindow(number, window, (), notes) for number, window in enumerate(windows)]
    return (yield from ask_about(check, judging, context, judge_windows, purpose))


def ask_about(
    check: Check, judging: Judging, context: EvaluationContext, windows: Sequence[JudgeWindow], purpose: str
) -> Asking[Finding]:
    """The judge's verdict over some windows of `check`, at least one."""
    read: dict[str, _Reply | None] = {}
    prompt = prompts.filled(judging.prompt, {**context.bindings, "check": check.fields})  # it fails with any judge
    askings = [_Question(check, judging, context, purpose, window, read).answer(prompt) for window in windows]
    try:
        if len(askings) == 1:
            return (yield from askings[0])
        findings = yield from together(askings)
    except UnansweredError as error:
        return failed(error.code, prompt_hash=judging.prompt_hash)
    return combine(findings)


class _Reply(msgspec.Struct):
    """What a usable reply says, whatever the window: its fields, its quotes, the items of its evidence that are not
    quotes, and the turns in which each quote occurs, once they are looked up."""

    fields: JsonObject
    quotes: Sequence[EvidenceSpan] = ()
    malformed: Sequence[object] = ()
    places: Sequence[frozenset[int]] | None = None


class _Ballot(msgspec.Struct):
    """The usable replies in the order of their repetitions, their votes, and the number of repetitions so far."""

    replies: tuple[_Reply, ...] = ()
    votes: tuple[votes.Cast, ...] = ()
    asked: int = 0
    stopped: bool = False


class _Question:
    """One window of one check, judged by the judge."""

    def __init__(
        self,
        check: Check,
        judging: Judging,
        context: EvaluationContext,
        purpose: str,
        window: JudgeWindow,
        read: dict[str, _Reply | None],
    ) -> None:
        """`read` are the replies by their text; the windows of a check share them, because they are often identical."""
        self.check, self.judging, self.context, self.purpose = check, judging, context, purpose
        self.evidence, self.number, self.notes = window.evidence, window.number, window.notes
        self.window = window.window
        shown = context.view.with_asides(judging.shows, self.window.indices) if judging.shows else ()
        asides = [each for each in shown if isinstance(each, Aside)]
        self.asides = evidence.QuotedTurns(asides) if asides else None
        self.conversation = prompts.Fenced(shown) if shown else context.fenced(self.window.indices)
        self.extra = self._window_record()
        self.read = read

    def _window_record(self) -> JsonObject:
        """How the window was selected, and the hits of the precheck in it."""
        extra: JsonObject = {}
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

    def answer(self, prompt: str) -> Asking[Finding]:
        """The finding for this window. `prompt` is the author's part of the request.

        Repetitions are requested in rounds, until no further reply can change the verdict or prove it. A repetition
        without a usable reply is requested again, with a larger token budget.
        """
        text, ballot = self._text(prompt), _Ballot()
        while size := self._round(ballot):
            usable: dict[int, _Reply | None] = dict.fromkeys(range(ballot.asked, ballot.asked + size))
            pending = [*usable]
            for attempt, budget in enumerate(self.judging.budgets):
                raws = yield tuple([self._request(text, repetition, attempt, budget) for repetition in pending])
                usable.update(zip(pending, map(self._parsed, raws), strict=True))
                pending = [repetition for repetition in pending if usable[repetition] is None]
                if not pending:
                    break
            self._add(ballot, [*usable.values()])
            if self.judging.adaptive_stop and ballot.asked == 1 and ballot.replies:
                ballot.stopped = ballot.votes[0].verdict in CLEAR
        return self._counted(ballot) if ballot.replies else self._unusable()

    def _text(self, prompt: str) -> str:
        """The request's text; empty for a judge that reads none."""
        if not self.context.prompts:
            return ""
        candidates = [*self.extra.get("precheck", ())]
        candidates += [{"role": span.role, "turn": span.turn, "quote": span.quote} for span in self.evidence]
        return prompts.render(
            self.judging,
            self.conversation,
            prompt,
            part=len(self.window.indices) < len(self.context.turns),
            candidates=candidates,
            notes=self.notes,
        )

    def _round(self, ballot: _Ballot) -> int:
        """The number of repetitions to request at once; 0 if the verdict is settled."""
        judging, left = self.judging, self.judging.repetitions - ballot.asked
        if not left or ballot.stopped:
            return 0
        if judging.adaptive_stop and not ballot.asked:
            return 1
        if judging.vote.stop == "never":
            return left
        unverified: Verdict = "FAIL" if judging.evidence.unverified_fail == "keep" else "UNCLEAR"
        if (
            ballot.asked
            and judging.vote.stop == "decided"
            and votes.is_settled(ballot.votes, left, judging.repetitions, judging.unusable.verdict, unverified)
        ):
            return 0
        return votes.next_round(ballot.votes, left, judging.repetitions)

    def _request(self, prompt: str, repetition: int, attempt: int, budget: int) -> JudgeRequest:
        temperature = FIRST_TEMPERATURE if repetition == 0 else NEXT_TEMPERATURE
        question = (self.number, self.purpose, self.judging.fields, self.conversation.roles, self.judging)
        name, check = self.context.transcript.id, self.check.id
        return JudgeRequest(name, check, prompt, budget, temperature, repetition, attempt, *question)

    def _parsed(self, raw: Reply) -> _Reply | None:
        """The usable reply in `raw`, or None. Raises UnansweredError if the request was not sent."""
        if isinstance(raw, UnansweredError):
            raise raw
        self.context.calls[self.check.id] = self.context.calls.get(self.check.id, 0) + 1
        if raw is None:
            return None
        if raw not in self.read:
            self.read[raw] = self._reply(raw)
        return self.read[raw]

    def _reply(self, raw: str) -> _Reply | None:
        try:
            fields = replies.read(raw, self.judging)
        except JudgeError:
            return None
        if self.judging.evidence.malformed == "exception":  # the quotes of the reply that counts are read at the end
            return _Reply(fields)
        return _Reply(fields, *evidence.tolerant(fields))

    def _add(self, ballot: _Ballot, answers: Sequence[_Reply | None]) -> None:
        """Add the replies of more repetitions, None for one that is not usable."""
        usable = tuple([reply for reply in answers if reply is not None])
        ballot.replies += usable
        ballot.votes += tuple([votes.Cast(reply.fields["verdict"], self._holds(reply)) for reply in usable])
        ballot.asked += len(answers)

    def _holds(self, reply: _Reply) -> bool:
        """Whether a reply's vote has the evidence that the plan's policy requires of it."""
        if reply.fields["verdict"] != "FAIL" or not self.judging.evidence.required or self.evidence:
            return True
        return any(self._verified(reply))

    def _verified(self, reply: _Reply) -> list[bool]:
        """For each quote, whether it occurs in the window or in the asides shown with it, if the plan's policy requires
        that."""
        if not self.judging.evidence.verify:
            return [True] * len(reply.quotes)
        if reply.places is None:
            reply.places = [*map(self.context.quotes.indices, reply.quotes)]
        within, asides = self.window.indices, self.asides
        inside = [not places.isdisjoint(within) for places in reply.places]
        if asides is None:
            return inside
        return [each or bool(asides.indices(span)) for each, span in zip(inside, reply.quotes, strict=True)]

    def _unusable(self) -> Finding:
        """The finding that the plan prescribes if no reply is usable."""
        policy = self.judging.unusable
        extra: JsonObject = {}
        if policy.record:
            extra = {**self.extra, "votes_for": 0, "votes_cast": 0, "planned": self.judging.repetitions}
            extra |= {"fail_closed": True} if policy.verdict == "FAIL" else {}
        hash_ = self.judging.prompt_hash
        return Finding(
            policy.verdict, 0.0, policy.code, self.evidence, extra, hash_, needs_adjudication=True, cause="error"
        )

    def _counted(self, ballot: _Ballot) -> Finding:
        vote = self.judging.vote
        planned = 1 if ballot.stopped else self.judging.repetitions
        outcome = votes.count(ballot.votes, planned if vote.denominator == "planned" else None)
        return self._with_evidence(ballot, outcome, planned)

    def _code(self, ballot: _Ballot, outcome: votes.VoteOutcome) -> str | None:
        if self.judging.vote.rationale == "first":
            return next((code for reply in ballot.replies if (code := reply.fields.get("rationale_code"))), None)
        if outcome.votes_for == 0:
            return "no_majority"
        for reply, vote in zip(ballot.replies, ballot.votes, strict=True):
            code = reply.fields.get("rationale_code")
            if vote.verdict == outcome.verdict and code and isinstance(code, str):
                return code
        return None

    def _record(self, ballot: _Ballot, outcome: votes.VoteOutcome, planned: int) -> JsonObject:
        verdicts = [vote.verdict for vote in ballot.votes]
        if not self.judging.vote.record:
            return {
                "repetitions": len(ballot.replies),
                "planned_repetitions": self.judging.repetitions,
                "adaptive_repetitions": self.judging.adaptive_stop,
                "all_verdicts": verdicts,
            }
        record: JsonObject = {"votes_for": outcome.votes_for, "votes_cast": len(ballot.replies), "planned": planned}
        if ballot.stopped:
            record |= {"adaptive_stopped": True, "configured": self.judging.repetitions}
        elif ballot.asked < planned:
            record["unasked"] = planned - ballot.asked
        if self.judging.fields:
            names = [field.name for field in self.judging.fields]
            record["fields"] = [{name: reply.fields.get(name) for name in names} for reply in ballot.replies]
        return {**record, "all_verdicts": verdicts}

    def _with_evidence(self, ballot: _Ballot, outcome: votes.VoteOutcome, planned: int) -> Finding:
        """The finding for the outcome, with the quotes of the reply that counts, under the plan's evidence policy."""
        policy, reply = self.judging.evidence, ballot.replies[outcome.evidence_index or 0]
        quotes, unverified = self._sorted_quotes(reply)
        spans = (*self.evidence, *quotes) if outcome.verdict == "FAIL" else quotes
        extra = {**self._record(ballot, outcome, planned), **self.extra}
        if unverified:
            extra["unverified_evidence"] = unverified
        code, hash_ = self._code(ballot, outcome), self.judging.prompt_hash
        finding = Finding(outcome.verdict, outcome.confidence, code, spans, extra, hash_)
        if outcome.verdict != "FAIL" or spans or not policy.required:
            return finding
        if policy.unverified_fail == "keep":
            return replace(finding, needs_adjudication=True, cause="unverified")
        extra["unverified_fail"] = True
        code = code or "unverified_fail"
        return replace(finding, verdict="UNCLEAR", code=code, extra=extra, needs_adjudication=True)

    def _sorted_quotes(self, reply: _Reply) -> tuple[tuple[EvidenceSpan, ...], list[object]]:
        """The verified quotes of the reply that counts, and the other items of its evidence."""
        if self.judging.evidence.malformed == "exception":
            return evidence.quoted(reply.fields), []
        holds = self._verified(reply)
        unverified = [span for span, held in zip(reply.quotes, holds, strict=True) if not held]
        return tuple(compress(reply.quotes, holds)), [*reply.malformed, *unverified]
