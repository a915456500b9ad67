"""One question, several ways to its answer: exact splitting first, and a solver where conditions join variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from rulewright.proving.domains import Domains, Path
from rulewright.proving.intervals import Box, Goal, Space, TooMany
from rulewright.proving.results import Counterexample, Refuted, Unknown
from rulewright.proving.smt import solve
from rulewright.proving.witness import replayed
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import Program

TOO_MANY: Final = "there are too many cases to go through"
TOO_DEEP: Final = "the conditions are nested too deeply"


@dataclass(slots=True)
class Search:
    """Looks for inputs under which conditions are true, false or undecided as a goal says."""

    programs: Sequence[Program]
    domains: Domains
    solver: bool = True  # whether to ask it where splitting leaves something open
    space: Space | None = field(init=False, default=None)
    evaluators: dict[int, Evaluator] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Take the conditions apart once for all goals."""
        with suppress(RecursionError):
            self.space = Space(self.programs, self.domains)

    def find(self, goal: Goal) -> Counterexample | Unknown | None:
        """An input that meets the goal; None when there is none; Unknown when that can't be told."""
        if self.space is None:
            return Unknown(TOO_DEEP)
        why: str | None = None
        try:
            for box in self.space.boxes(goal):
                found = self.shown(goal, box)
                if isinstance(found, Counterexample):
                    return found
                why = why or found
        except TooMany:
            why = TOO_MANY
        except RecursionError:
            why = TOO_DEEP
        if why is None:
            return None
        return self.solved(goal, why) if self.solver else Unknown(why)

    def shown(self, goal: Goal, box: Box) -> Counterexample | str:
        """An input in a box on which the goal is met, or why none can be shown."""
        assert self.space is not None
        hindrance = self.space.hindrance(box)
        if hindrance is not None:
            return hindrance
        witness = self._replayed(goal, self.space.chosen(box), self.space.anything())
        return "no input could be made that shows it" if witness is None else witness

    def solved(self, goal: Goal, why: str) -> Counterexample | Unknown | None:
        """As `find`, by the solver alone; `why` splitting has not decided it."""
        try:
            solved = solve([self.programs[number] for number, _ in goal], [bits for _, bits in goal], self.domains)
        except RecursionError:
            return Unknown(TOO_DEEP)
        if isinstance(solved, Unknown):
            return Unknown(f"{why}; {solved.reason}" if solved.reason else why)
        if solved is None:
            return None
        return self._replayed(goal, solved, {}) or Unknown(why)

    def _replayed(self, goal: Goal, shown: Mapping[Path, Any], others: Mapping[Path, Any]) -> Counterexample | None:
        for number, _ in goal:
            if number not in self.evaluators:
                self.evaluators[number] = prepare(self.programs[number])
        return replayed(self.evaluators, goal, shown, others, self.domains)


def refuting(search: Search, goals: Sequence[Goal]) -> Refuted | Unknown | None:
    """Refuted by the first goal that an input meets; None when none of them can be met."""
    found = first_of(search.find(goal) for goal in goals)
    return Refuted(found) if isinstance(found, Counterexample) else found


def first_of(answers: Iterable[Counterexample | Unknown | None]) -> Counterexample | Unknown | None:
    """The first counterexample, else the first answer that is not known; None where there is neither."""
    unknown: Unknown | None = None
    for answer in answers:
        if isinstance(answer, Counterexample):
            return answer
        unknown = unknown or answer
    return unknown
