"""The evaluation context: one transcript with everything that a verifier may look at or ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright_runtime.matching.match import first
from rulewright_runtime.plan.question import AnchoredWindow
from rulewright_runtime.plan.scan import NO_SCENARIO
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import Completeness
from rulewright_runtime.transcripts.view import View
from rulewright_runtime.transcripts.windows import select
from rulewright_runtime.verdicts import EvidenceSpan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rulewright_runtime.judging.evidence import QuotedTurns
    from rulewright_runtime.judging.prompts import Fenced
    from rulewright_runtime.matching.match import Matcher, MatchSpan
    from rulewright_runtime.plan.corpus import Corpus
    from rulewright_runtime.plan.question import Window
    from rulewright_runtime.plan.scan import (
        Check,
        Lexicon,
        Plan,
        Scenario,
    )
    from rulewright_runtime.plan.state_machine import StateMachine
    from rulewright_runtime.transcripts.messages import Transcript, Turn
    from rulewright_runtime.transcripts.windows import WindowTurns
    from rulewright_runtime.verdicts import VerdictResult


class EvaluationContext:
    """One transcript under one plan. It keeps what several checks need and counts the calls of each check."""

    __slots__ = (
        "_fenced",
        "_found",
        "_may_hit",
        "_plan",
        "_quotes",
        "_roles",
        "_view",
        "_windows",
        "bindings",
        "calls",
        "complete",
        "kept",
        "matcher",
        "scenario",
        "simulated_by",
        "transcript",
        "verdicts",
    )

    def __init__(
        self,
        plan: Plan,
        transcript: Transcript,
        matcher: Matcher,
        bindings: Mapping[str, object],
        complete: Completeness,
        kept: JsonObject | None = None,
    ) -> None:
        """`bindings` is what the plan's expressions see besides `check`, `complete` what the transcript lacks, `kept`
        what verifiers keep by check from one transcript to the next."""
        self._plan = plan
        self.transcript = transcript
        self.scenario: Scenario = plan.scenarios.get(transcript.scenario_id, NO_SCENARIO)
        self.matcher = matcher
        self.bindings = bindings
        self.complete = complete
        self.simulated_by = transcript.simulated_by
        self.kept: JsonObject = {} if kept is None else kept
        self.verdicts: dict[str, VerdictResult] = {}
        self._view: View | None = None
        self._fenced: dict[tuple[int, ...], Fenced] = {}
        self._quotes: QuotedTurns | None = None
        self._windows: dict[tuple[Window, str], tuple[WindowTurns, ...]] = {}
        self.calls: dict[str, int] = {}
        self._may_hit: dict[str, frozenset[int]] = {}
        self._roles: dict[str, tuple[int, ...]] = {}
        self._found: dict[tuple[str, int], MatchSpan | None] = {}

    @property
    def view(self) -> View:
        """The conversation as expressions see it."""
        if self._view is None:
            self._view = View(self.transcript)
        return self._view

    @property
    def quotes(self) -> QuotedTurns:
        """The turns in which quotes are looked up."""
        if self._quotes is None:
            from rulewright_runtime.judging.evidence import QuotedTurns  # its expressions take long to prepare

            self._quotes = QuotedTurns(self.turns)
        return self._quotes

    def fenced(self, indices: tuple[int, ...]) -> Fenced:
        """The turns at `indices` as judges are shown them."""
        if indices not in self._fenced:
            from rulewright_runtime.judging.prompts import Fenced  # of no use where nobody is asked

            self._fenced[indices] = Fenced.of([self.turns[index] for index in indices])
        return self._fenced[indices]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the transcript."""
        return self.transcript.turns

    def lexicon(self, name: str) -> Lexicon | None:
        """The lexicon of that name, if the plan holds it."""
        return self._plan.lexicons.get(name)

    def machine(self, name: str) -> StateMachine:
        """The plan's state machine of that name."""
        return self._plan.machines[name]

    def corpus(self, name: str) -> Corpus:
        """The plan's corpus of that name."""
        return self._plan.corpora[name]

    def said_by(self, role: str) -> tuple[int, ...]:
        """The indices of the turns of `role`, or of all turns for `both`."""
        found = self._roles.get(role)
        if found is None:
            found = tuple(i for i, turn in enumerate(self.turns) if role in ("both", turn.role))
            self._roles[role] = found
        return found

    def spoken(self, indices: Iterable[int]) -> list[int]:
        """Those turns that say something. What nobody sees is searched for what must not be said, and counts for
        nothing else."""
        return [index for index in indices if index not in self.complete.silent]

    def replies(self) -> list[int]:
        """The indices of the assistant's turns that say something."""
        return self.spoken(self.said_by("assistant"))

    def answers(self, index: int, most: int = 1) -> list[int | None]:
        """The indices of the next replies to the user's turn at `index`, at most `most`; None for one that is missing,
        says nothing or broke off. Fewer where the conversation ends."""
        absent = self.complete.silent | self.complete.failed
        unanswered = {gap.turn for gap in self.complete.gaps if gap.kind == "missing_reply"}
        found: list[int | None] = []
        for place in range(index, len(self.turns)):
            turn = self.turns[place]
            if turn.role == "assistant" and place > index:
                found.append(None if place in absent else place)
            elif turn.role == "user" and turn.turn in unanswered:
                found.append(None)
            if len(found) == most:
                break
        return found

    def hit(self, name: str, index: int) -> MatchSpan | None:
        """The first hit of the lexicon `name` in the turn at `index`."""
        key = (name, index)
        if key not in self._found:
            turn = self.turns[index]
            ruled_out = self.matcher.covers(turn.role, name) and index not in self._may(turn.role)
            self._found[key] = None if ruled_out else first(name, self._plan.lexicons[name], turn.content)
        return self._found[key]

    def is_without_hit(self, role: str) -> bool:
        """True only where `role` speaks and the matcher's lexicons hit nothing of it (not asked about `both`)."""
        return not self._may(role) and bool(self.said_by(role))

    def _may(self, role: str) -> frozenset[int]:
        """The indices of the turns of `role` outside which nothing is that the matcher covers."""
        known = self._may_hit.get(role)
        if known is None:
            indices = self.said_by(role)
            places = self.matcher.may_hit(role, [self.turns[index].content for index in indices])
            known = self._may_hit[role] = frozenset([indices[place] for place in places])
        return known

    def hits(self, name: str, within: Sequence[int] | None = None) -> list[tuple[int, MatchSpan]]:
        """The first hit in every turn of the lexicon's role (and of `within`), with the turn's index."""
        lexicon = self._plan.lexicons[name]
        wanted = frozenset(self.said_by(lexicon.role))
        indices = [index for index in (range(len(self.turns)) if within is None else within) if index in wanted]
        return list(self.hits_at(name, indices))

    def hits_at(self, name: str, indices: Iterable[int]) -> Iterator[tuple[int, MatchSpan]]:
        """The first hit of the lexicon in each of these turns, with the turn's index, as far as somebody looks."""
        found = ((index, self.hit(name, index)) for index in indices)
        return ((index, span) for index, span in found if span is not None)

    def quote(self, index: int, text: str, why: str | None = None) -> EvidenceSpan:
        """What the turn at `index` says, as evidence."""
        turn = self.turns[index]
        return EvidenceSpan(turn.role, turn.turn, text, why)

    def quoted_hit(self, index: int, span: MatchSpan) -> EvidenceSpan:
        """A hit as evidence."""
        return self.quote(index, span.text, f"matched_lexicon_pattern:{span.pattern}")

    def windows(self, window: Window, check: Check) -> tuple[WindowTurns, ...]:
        """The windows of `check` on this transcript."""
        key = (window, check.id if isinstance(window, AnchoredWindow) else "")  # which alone looks at the check
        known = self._windows.get(key)
        if known is None:
            known = select(window, self.turns, check.id, self.scenario, self._cues)
            self._windows[key] = known
        return known

    def _cues(self, name: str) -> list[int]:
        return [index for index, _ in self.hits(name)]

    def are_silent(self, windows: Sequence[WindowTurns]) -> bool:
        """Whether the assistant says nothing in any of them."""
        if self._plan.empty_reply == "reply":
            return not windows
        spoken = frozenset(self.replies())
        return all(spoken.isdisjoint(window.indices) for window in windows)
