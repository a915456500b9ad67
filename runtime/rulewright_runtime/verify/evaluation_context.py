"""The evaluation context: one transcript with everything that a verifier may read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rulewright_runtime.matching.match import Matcher, MatchSpan, first
from rulewright_runtime.plan.question import AnchoredWindow, Window
from rulewright_runtime.plan.scan import NO_SCENARIO, Check, Plan, Scenario
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import Completeness
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.view import View
from rulewright_runtime.transcripts.windows import WindowTurns, select
from rulewright_runtime.verdicts import EvidenceSpan, VerdictResult

if TYPE_CHECKING:
    from rulewright_runtime.judging.evidence import QuotedTurns
    from rulewright_runtime.judging.prompts import Fenced


class EvaluationContext:
    """One transcript under one plan. It caches results that checks share and counts each check's judge calls."""

    def __init__(
        self,
        plan: Plan,
        transcript: Transcript,
        matcher: Matcher,
        bindings: Mapping[str, object],
        complete: Completeness,
        prepared: JsonObject | None,
        *,
        prompts: bool,
    ) -> None:
        """`bindings` is the context of the plan's expressions without `check`, `complete` the gaps of the transcript,
        `prepared` a cache by check that verifiers share between transcripts. `prompts` says whether the judge reads
        them."""
        self.plan, self.lexicons = plan, plan.lexicons  # only the own lexicon of a lexicon verifier may be missing
        self.transcript, self.turns = transcript, transcript.turns
        self.scenario: Scenario = plan.scenarios.get(transcript.scenario_id, NO_SCENARIO)
        self.matcher = matcher
        self.bindings = bindings
        self.complete = complete
        self.simulated_by = transcript.simulated_by
        self.prepared: JsonObject = {} if prepared is None else prepared
        self.prompts = prompts
        self.verdicts: dict[str, VerdictResult] = {}
        self._fenced: dict[tuple[int, ...], Fenced] = {}
        self._windows: dict[tuple[Window, str], tuple[WindowTurns, ...]] = {}
        self.calls: dict[str, int] = {}
        self._roles: dict[str, tuple[int, ...]] = {}
        self._hits: dict[tuple[str, int], MatchSpan | None] = {}

    @cached_property
    def view(self) -> View:
        """The conversation as a context of expressions."""
        return View(self.transcript)

    @cached_property
    def quotes(self) -> QuotedTurns:
        """The turns in which quotes are looked up."""
        from rulewright_runtime.judging.evidence import QuotedTurns  # compiling its expressions is slow

        return QuotedTurns(self.turns)

    def fenced(self, indices: tuple[int, ...]) -> Fenced:
        """The turns at `indices` as fenced text for judges."""
        if indices not in self._fenced:
            from rulewright_runtime.judging.prompts import Fenced  # only needed with a judge

            self._fenced[indices] = Fenced([self.turns[index] for index in indices])
        return self._fenced[indices]

    def said_by(self, role: str) -> tuple[int, ...]:
        """The indices of the turns of `role`, or of all turns for `both`."""
        indices = self._roles.get(role)
        if indices is None:
            indices = tuple(i for i, turn in enumerate(self.turns) if role in ("both", turn.role))
            self._roles[role] = indices
        return indices

    def with_text(self, indices: Iterable[int]) -> list[int]:
        """The turns at `indices` that say something. A turn without visible text is searched for forbidden phrases and
        otherwise ignored."""
        return [index for index in indices if index not in self.complete.silent]

    def replies(self) -> list[int]:
        """The indices of the assistant's turns that say something."""
        return self.with_text(self.said_by("assistant"))

    def answers(self, index: int, most: int = 1) -> list[int | None]:
        """The indices of the next replies to the user's turn at `index`, at most `most`; None for one that is missing,
        says nothing or holds an error. Fewer at the end of the conversation."""
        absent = self.complete.silent | self.complete.failed
        unanswered = {gap.turn for gap in self.complete.gaps if gap.kind == "missing_reply"}
        answers: list[int | None] = []
        for position in range(index, len(self.turns)):
            turn = self.turns[position]
            if turn.role == "assistant" and position > index:
                answers.append(None if position in absent else position)
            elif turn.role == "user" and turn.turn in unanswered:
                answers.append(None)
            if len(answers) == most:
                break
        return answers

    def hit(self, name: str, index: int) -> MatchSpan | None:
        """The first hit of the lexicon `name` in the turn at `index`."""
        return next((span for _, span in self.hits_at(name, (index,))), None)

    def _hit(self, name: str, index: int) -> MatchSpan | None:
        key = (name, index)
        if key not in self._hits:
            self._hits[key] = first(name, self.lexicons[name], self.turns[index].content)
        return self._hits[key]

    @cached_property
    def may_hit(self) -> dict[str, set[int]]:
        """The indices of the turns that a lexicon may hit, by its name, for those that the matcher covers."""
        may_hit: dict[str, set[int]] = {}
        for index, turn in enumerate(self.turns):
            for name in self.matcher.may_hit(turn.role, turn.content):
                may_hit.setdefault(name, set()).add(index)
        return may_hit

    def hits(self, name: str, within: Sequence[int] | None = None) -> list[tuple[int, MatchSpan]]:
        """The first hit in every turn of the lexicon's role (and of `within`), with the turn's index."""
        role = self.lexicons[name].role
        if within is None:
            return list(self.hits_at(name, self.said_by(role)))
        return list(self.hits_at(name, [i for i in within if role in ("both", self.turns[i].role)]))

    def hits_at(self, name: str, indices: Iterable[int]) -> Iterator[tuple[int, MatchSpan]]:
        """Yield the first hit of the lexicon in each of these turns, with the turn's index, on demand."""
        may_hit, covering, turns = self.may_hit.get(name, ()), self.matcher.covering(name), self.turns
        candidates = (i for i in indices if i in may_hit or turns[i].role not in covering)
        return ((i, span) for i in candidates if (span := self._hit(name, i)) is not None)

    def quote(self, index: int, text: str, why: str | None = None) -> EvidenceSpan:
        """A quote of the turn at `index`, as evidence."""
        turn = self.turns[index]
        return EvidenceSpan(turn.role, turn.turn, text, why)

    def quoted_hit(self, index: int, span: MatchSpan) -> EvidenceSpan:
        """A hit as evidence."""
        return self.quote(index, span.text, f"matched_lexicon_pattern:{span.pattern}")

    def windows(self, window: Window, check: Check) -> tuple[WindowTurns, ...]:
        key = (window, check.id if isinstance(window, AnchoredWindow) else "")  # other windows ignore the check
        windows = self._windows.get(key)
        if windows is None:
            windows = self._windows[key] = select(window, self.turns, check.id, self.scenario, self._cues)
        return windows

    def _cues(self, name: str) -> list[int]:
        return [index for index, _ in self.hits(name)]

    def are_silent(self, windows: Sequence[WindowTurns]) -> bool:
        """Whether the assistant says nothing in all of the windows."""
        if self.plan.empty_reply == "reply":
            return not windows
        return all(self._replies.isdisjoint(window.indices) for window in windows)

    @cached_property
    def _replies(self) -> frozenset[int]:
        return frozenset(self.replies())
