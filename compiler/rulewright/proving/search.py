"""Searches for inputs that meet a goal, by exact splitting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rulewright.proving.domains import Domains, Path
from rulewright.proving.intervals import Box, Goal, Space, TooMany
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.witness import replayed
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import Program

TOO_MANY: Final = "there are too many cases to go through"
TOO_DEEP: Final = "the conditions are nested too deeply"


@dataclass(slots=True)
class Search:
    """Searches for inputs for which conditions have the results that a goal allows."""

    programs: Sequence[Program]
    domains: Domains
    by_terms: bool = False  # whether to divide what parts compute into cells
    space: Space | None = field(init=False, default=None)
    hindrance: str = field(init=False, default="")  # why there is no space
    evaluators: dict[int, Evaluator] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the conditions once for all goals."""
        try:
            self.space = Space(self.programs, self.domains, self.by_terms)
        except TooMany:
            self.hindrance = TOO_MANY
        except RecursionError:
            self.hindrance = TOO_DEEP

    def find(self, goal: Goal) -> Counterexample | Unknown | None:
        """An input that meets the goal; None if there is none; Unknown if it can't be decided."""
        if self.space is None:
            return Unknown(self.hindrance)
        why: str | None = None
        try:
            for box in self.space.boxes(goal):
                shown = self.shown(goal, box)
                if isinstance(shown, Counterexample):
                    return shown
                why = why or shown
        except TooMany:
            why = TOO_MANY
        except RecursionError:
            why = TOO_DEEP
        return None if why is None else Unknown(why)

    def shown(self, goal: Goal, box: Box) -> Counterexample | str:
        """An input in a box on which the goal is met, or the reason why none can be shown."""
        assert self.space is not None
        reason = self.space.opaque_reason(box)
        if reason is not None:
            return reason
        witness = self.replayed(goal, self.space.chosen(box), self.space.anything())
        return "no input could be made that shows it" if witness is None else witness

    def replayed(self, goal: Goal, shown: Mapping[Path, Any], others: Mapping[Path, Any]) -> Counterexample | None:
        """The input with the values `shown`, completed by `others`, if it meets the goal."""
        for number, _ in goal:
            if number not in self.evaluators:
                self.evaluators[number] = prepare(self.programs[number])
        return replayed(self.evaluators, goal, shown, others, self.domains)


def out_of_reach(programs: Sequence[Program], domains: Domains, *goals: Goal) -> Result:
    """Whether no input meets any of the goals for the conditions; refuted by the first input that meets one."""
    search = Search(programs, domains)
    answer = first_of(search.find(goal) for goal in goals)
    return Refuted(answer) if isinstance(answer, Counterexample) else answer or Proved()


def first_of(answers: Iterable[Counterexample | Unknown | None]) -> Counterexample | Unknown | None:
    """The first counterexample, or else the first Unknown; None if there is neither."""
    unknown: Unknown | None = None
    for answer in answers:
        if isinstance(answer, Counterexample):
            return answer
        unknown = unknown or answer
    return unknown
