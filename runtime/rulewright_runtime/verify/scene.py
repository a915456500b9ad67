"""The scene: one transcript with everything that a verifier may look at or ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright_runtime.match import first
from rulewright_runtime.windows import select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright_runtime.corpus import Corpus
    from rulewright_runtime.judge import Judge
    from rulewright_runtime.match import Matcher, Span
    from rulewright_runtime.plan import Check, Lexicon, Plan, Scenario, Window
    from rulewright_runtime.state_machine import StateMachine
    from rulewright_runtime.transcripts import Transcript, Turn
    from rulewright_runtime.windows import Selection


class Scene:
    """One transcript under one plan. It keeps what several checks need and counts the calls of each check."""

    __slots__ = (
        "_found",
        "_may_hit",
        "_plan",
        "_roles",
        "bindings",
        "calls",
        "judge",
        "matcher",
        "scenario",
        "transcript",
    )

    def __init__(
        self, plan: Plan, transcript: Transcript, matcher: Matcher, bindings: Mapping[str, Any], judge: Judge | None
    ) -> None:
        """`bindings` is what the plan's expressions see besides `check`."""
        self._plan = plan
        self.transcript = transcript
        self.scenario: Scenario = plan.scenarios[transcript.scenario_id]
        self.matcher = matcher
        self.bindings = bindings
        self.judge = judge
        self.calls: dict[str, int] = {}
        self._may_hit: dict[str, frozenset[int]] = {}
        self._roles: dict[str, tuple[int, ...]] = {}
        self._found: dict[tuple[str, int], Span | None] = {}

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

    def hit(self, name: str, index: int) -> Span | None:
        """The first hit of the lexicon `name` in the turn at `index`."""
        key = (name, index)
        if key not in self._found:
            turn = self.turns[index]
            ruled_out = self.matcher.covers(turn.role, name) and index not in self._may(turn.role)
            self._found[key] = None if ruled_out else first(name, self._plan.lexicons[name], turn.content)
        return self._found[key]

    def is_silent(self, role: str) -> bool:
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

    def hits(self, name: str, within: Sequence[int] | None = None) -> list[tuple[int, Span]]:
        """The first hit in every turn of the lexicon's role (and of `within`), with the turn's index."""
        lexicon = self._plan.lexicons[name]
        wanted = self.said_by(lexicon.role)
        indices = wanted if within is None else [index for index in within if index in wanted]
        found = ((index, self.hit(name, index)) for index in indices)
        return [(index, span) for index, span in found if span is not None]

    def windows(self, window: Window, check: Check) -> tuple[Selection, ...]:
        """The windows of `check` on this transcript."""
        return select(window, self.turns, check.id, self.scenario, lambda name: [index for index, _ in self.hits(name)])
