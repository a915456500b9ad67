"""The judge verifier: one question, K repetitions with retries, a vote, and quotes that are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime import evidence, prompts, replies, votes
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judge import BudgetExhaustedError, JudgeRequest
from rulewright_runtime.verdicts import EvidenceSpan, Finding, combine, not_eligible
from rulewright_runtime.windows import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.plan import Check, JudgeVerifier, Judging
    from rulewright_runtime.transcripts import Turn
    from rulewright_runtime.verify.scene import Scene

FIRST_TEMPERATURE: Final = 0.0
NEXT_TEMPERATURE: Final = 0.3
CLEAR: Final = ("PASS", "NOT_APPLICABLE")  # what ends the repetitions early


def verify(check: Check, verifier: JudgeVerifier, scene: Scene) -> Finding:
    """What the judge says of the check's windows."""
    return ask(check, verifier.judging, scene)


class Asked(msgspec.Struct, frozen=True):
    """A window about which a judge is asked: its number among the check's, and exact evidence already at hand."""

    number: int
    window: Selection
    given: tuple[EvidenceSpan, ...] = ()
    notes: tuple[str, ...] = ()  # what a deterministic reading found, told to the judge


def ask(check: Check, judging: Judging, scene: Scene, purpose: str = "check", notes: tuple[str, ...] = ()) -> Finding:
    """The judge's verdict over all windows of `check`; `notes` are what a deterministic reading found beforehand."""
    if judging.repetitions == 0:
        return not_eligible("disabled_by_scan_profile")
    windows = scene.windows(judging.window, check)
    if not windows:
        return Finding("UNCLEAR", 0.0, "nothing_to_judge", prompt_hash=judging.prompt_hash)
    return ask_about(check, judging, scene, [Asked(n, w, (), notes) for n, w in enumerate(windows)], purpose)


def ask_about(check: Check, judging: Judging, scene: Scene, places: Sequence[Asked], purpose: str) -> Finding:
    """The judge's verdict over some windows of `check`, at least one."""
    try:
        findings = [_Question(check, judging, scene, purpose, place).answer() for place in places]
    except BudgetExhaustedError:
        return Finding(
            "UNCLEAR", 0.0, "judge_budget_exhausted", prompt_hash=judging.prompt_hash, shaken=True, settled=True
        )
    return findings[0] if len(findings) == 1 else combine(findings)


class _Ballot(msgspec.Struct):
    """The usable replies in the order of their repetitions."""

    replies: list[dict[str, Any]]
    stopped: bool = False

    @property
    def votes(self) -> list[Any]:
        return [reply["verdict"] for reply in self.replies]


class _Question:
    """One window of one check, put to the judge."""

    def __init__(self, check: Check, judging: Judging, scene: Scene, purpose: str, place: Asked) -> None:
        self.check, self.judging, self.scene, self.purpose = check, judging, scene, purpose
        self.given, self.number, self.window, self.notes = place.given, place.number, place.window, place.notes
        self.turns: Sequence[Turn] = [scene.turns[index] for index in self.window.indices]
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
                    "role": self.scene.turns[index].role,
                    "turn": self.scene.turns[index].turn,
                    "pattern": span.pattern,
                    "quote": span.text,
                }
                for index, span in self.scene.hits(self.judging.precheck, self.window.indices)
            ]
        return extra

    def answer(self) -> Finding:
        """The finding for this window."""
        prompt = self._prompt()
        ballot = self._ballot(prompt)
        if not ballot.replies:
            return self._unusable()
        return self._counted(ballot)

    def _prompt(self) -> str:
        candidates = [*self.extra.get("precheck", ())]
        candidates += [{"role": span.role, "turn": span.turn, "quote": span.quote} for span in self.given]
        return prompts.render(
            self.judging,
            self.turns,
            {**self.scene.bindings, "check": self.check.fields},
            part=len(self.turns) < len(self.scene.turns),
            candidates=candidates,
            notes=self.notes,
        )

    def _ballot(self, prompt: str) -> _Ballot:
        ballot = _Ballot([])
        for repetition in range(self.judging.repetitions):
            reply = self._usable_reply(prompt, repetition)
            if reply is None:
                continue
            ballot.replies.append(reply)
            if self.judging.adaptive_stop and repetition == 0 and reply["verdict"] in CLEAR:
                ballot.stopped = True
                break
        return ballot

    def _usable_reply(self, prompt: str, repetition: int) -> dict[str, Any] | None:
        """The first reply of a repetition that parses; every attempt may answer at greater length."""
        for attempt, budget in enumerate(self.judging.budgets):
            request = JudgeRequest(
                self.scene.transcript.id,
                self.check.id,
                prompt,
                budget,
                FIRST_TEMPERATURE if repetition == 0 else NEXT_TEMPERATURE,
                repetition,
                attempt,
                self.number,
                self.purpose,
            )
            raw = self._raw_reply(request)
            if raw is not None:
                try:
                    return replies.checked(replies.parse(raw), self.judging)
                except JudgeError:
                    continue
        return None

    def _raw_reply(self, request: JudgeRequest) -> str | None:
        judge = self.scene.judge
        if judge is None:
            return None
        try:
            raw = judge.ask(request)
        except BudgetExhaustedError:
            raise
        except Exception:  # whatever a judge raises is an attempt without a reply
            raw = None
        self.scene.calls[self.check.id] = self.scene.calls.get(self.check.id, 0) + 1
        return raw if isinstance(raw, str) else None

    def _unusable(self) -> Finding:
        """What the plan says about a judge of whom no reply was usable."""
        policy = self.judging.unusable
        extra: dict[str, Any] = {}
        if policy.record:
            extra = {**self.extra, "votes_for": 0, "votes_cast": 0, "planned": self.judging.repetitions}
            extra |= {"fail_closed": True} if policy.verdict == "FAIL" else {}
        return Finding(policy.verdict, 0.0, policy.code, self.given, extra, self.judging.prompt_hash, shaken=True)

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

    def _code(self, ballot: _Ballot, outcome: votes.Outcome) -> str | None:
        codes = [
            reply.get("rationale_code")
            for reply in ballot.replies
            if self.judging.vote.rationale == "first" or reply["verdict"] == outcome.verdict
        ]
        if self.judging.vote.rationale == "winning":
            if outcome.votes_for == 0:
                return "no_majority"
            codes = [code for code in codes if isinstance(code, str)]
        return next((code for code in codes if code), None)

    def _record(self, ballot: _Ballot, outcome: votes.Outcome, planned: int) -> dict[str, Any]:
        if not self.judging.vote.record:
            return {
                "repetitions": len(ballot.replies),
                "planned_repetitions": self.judging.repetitions,
                "adaptive_repetitions": self.judging.adaptive_stop,
                "all_verdicts": ballot.votes,
            }
        record: dict[str, Any] = {"votes_for": outcome.votes_for, "votes_cast": len(ballot.replies), "planned": planned}
        if ballot.stopped:
            record |= {"adaptive_stopped": True, "configured": self.judging.repetitions}
        if self.judging.fields:
            names = [field.name for field in self.judging.fields]
            record["fields"] = [{name: reply[name] for name in names} for reply in ballot.replies]
        return {**record, "all_verdicts": ballot.votes}

    def _with_evidence(self, finding: Finding, reply: dict[str, Any]) -> Finding:
        """The finding with the reply's quotes, as far as the plan's policy lets them count."""
        policy = self.judging.evidence
        malformed: list[Any] = []
        if policy.malformed == "exception":
            spans = list(evidence.quoted(reply))
        else:
            spans, malformed = evidence.tolerant(reply)
        unverified = malformed
        if policy.verify:
            verified = [span for span in spans if evidence.occurs(span.quote, self.turns)]
            unverified = [*malformed, *(span for span in spans if span not in verified)]
            spans = verified
        extra = {**finding.extra, "unverified_evidence": unverified} if unverified else finding.extra
        given = self.given if finding.verdict == "FAIL" else ()
        finding = replace(finding, evidence=(*given, *spans), extra=extra)
        if finding.verdict != "FAIL" or finding.evidence or not policy.required:
            return finding
        if policy.unverified_fail == "keep":
            return replace(finding, shaken=True)
        extra = {**finding.extra, "unverified_fail": True}
        return replace(finding, verdict="UNCLEAR", extra=extra, shaken=True)
