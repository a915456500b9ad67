"""Finds the inputs on which two decisions differ, by walking both at once over the cells of their variables.

The regions contain every input with different outcomes. If no box is left, the decisions are proved equal.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from math import prod
from typing import Final, NamedTuple

from msgspec import Struct

from rulewright.policies.policy_model import BITS, PolicyDecision, PolicyOutcome
from rulewright.policies.wording import condition_of, merged
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.box_variables import Box, TooMany
from rulewright.proving.domains import Domains, Path
from rulewright.proving.intervals import Answer, Goal, Space
from rulewright.proving.program_parts import calling, paths_of
from rulewright.proving.results import Counterexample, Unknown
from rulewright.proving.search import DEPTH_ERRORS, TOO_DEEP, TOO_MANY, Search
from rulewright.witnesses.guesses import InputModel, choices_at, guesses, varied
from rulewright_runtime.values import Value

MOST_PAIRS: Final = 2_000  # of outputs that are computed, each in its own way
MOST_GUESSES: Final = 2_000  # inputs that are tried for one box
MOST_GUESSED_BOXES: Final = 8  # of a region
MOST_MODELS: Final = 8  # of a region


class Region(Struct, frozen=True):
    """Inputs for which the one policy gives `before` and the other `after`: any of the conditions `where`.

    `witness` is one of them, which both policies have been run on; None where `why` none can be shown.
    """

    before: str
    after: str
    where: tuple[str, ...]
    witness: Counterexample | None
    why: str = ""
    models: tuple[InputModel, ...] = ()


class Comparison(Struct, frozen=True):
    """All regions of two decisions; `unknown` says why there may be more."""

    regions: tuple[Region, ...]
    unknown: str | None = None

    @property
    def equal(self) -> bool:
        """Whether it is proved that both decide alike."""
        return not self.regions and self.unknown is None


class _Ending(NamedTuple):
    """The steps at which the two decisions end, and their outcomes."""

    one: int
    left: PolicyOutcome
    two: int
    right: PolicyOutcome


def compare(one: PolicyDecision, two: PolicyDecision, domains: Domains) -> Comparison:
    """The regions in which two decisions over the same variables differ."""
    if one.steps == two.steps and one.otherwise == two.otherwise:
        return Comparison(())
    try:
        return _RegionSearch(one, two, domains).compared()
    except DEPTH_ERRORS:
        return Comparison((), TOO_DEEP)


@dataclass(slots=True)
class _RegionSearch:
    one: PolicyDecision
    two: PolicyDecision
    domains: Domains
    search: Search = field(init=False)
    pairs: dict[tuple[object, object], int] = field(init=False, default_factory=dict)
    guesses: dict[Path, list[Value]] | None = field(init=False, default=None)

    @property
    def names(self) -> set[str]:
        """The variables of which something is known."""
        return self.domains.types.keys() | {path[0] for path in self.domains.known}

    def __post_init__(self) -> None:
        programs = [step.condition for step in (*self.one.steps, *self.two.steps)]
        for left, right in product(_outcomes(self.one), _outcomes(self.two)):
            if left.key == right.key or left.program is None or right.program is None:
                continue
            if not (left.settled and right.settled) and len(self.pairs) < MOST_PAIRS:
                self.pairs[left.key, right.key] = len(programs)
                programs.append(calling("_==_", left.program, right.program))
        self.search = Search(programs, self.domains, by_terms=True)

    def compared(self) -> Comparison:
        space = self.search.space
        if space is None:
            return Comparison((), self.search.hindrance)
        found: dict[tuple[str, str], list[tuple[Box, _Ending]]] = {}
        unknown: str | None = None
        try:
            for box, way in self.differing_boxes(space):
                found.setdefault((way.left.text, way.right.text), []).append((box, way))
        except TooMany:
            unknown = TOO_MANY
        regions = [region for texts, parts in found.items() if (region := self.region(space, texts, parts)) is not None]
        return Comparison(tuple(regions), unknown)

    def differing_boxes(self, space: Space) -> Iterator[tuple[Box, _Ending]]:
        """Yield each box on which the two decisions differ, with their endings."""

        def ask(box: Box, reached: tuple[int, int]) -> Answer[tuple[int, int], _Ending]:
            one, left, at = _advanced(space, self.one, 0, reached[0], box)
            if left is None:
                assert at is not None, "a box without an outcome can be split"
                return (one, reached[1]), None, at
            two, right, at = _advanced(space, self.two, len(self.one.steps), reached[1], box)
            if right is None:
                assert at is not None, "a box without an outcome can be split"
                return (one, two), None, at
            differs, at = self.differ(space, left, right, box)
            return (one, two), _Ending(one, left, two, right) if differs else None, at

        return space.explored((0, 0), ask)

    def differ(self, space: Space, left: PolicyOutcome, right: PolicyOutcome, box: Box) -> tuple[bool, int | None]:
        """Whether two outcomes differ on a box, and the atom to split at where that is not settled."""
        if left.key == right.key:
            return False, None
        number = self.pairs.get((left.key, right.key))
        if number is None:
            return True, None
        bits, at = space.ask(number, box)
        return bits != TRUE, at if bits & (bits - 1) else None

    def region(self, space: Space, outcomes: tuple[str, str], parts: list[tuple[Box, _Ending]]) -> Region | None:
        """The region of the boxes of one pair of outcomes; None where no input is in it."""
        before, after = outcomes
        kept: list[Box] = []
        witness: Counterexample | None = None
        why = ""
        models: list[InputModel] = []
        for box, way in parts:
            texts = space.texts(box)
            if texts is None:
                continue
            models.append(InputModel(space.chosen(box), texts))
            if space.opaque_reason(box) is None:
                found: Counterexample | Unknown | str | None = (
                    self.search.shown(self.goal(way), box) if witness is None else witness
                )
            else:
                found = Unknown(str(space.opaque_reason(box)))
                if witness is None and len(kept) < MOST_GUESSED_BOXES:
                    found = self.guessed(space, way, box, found, texts)
            if found is None:
                continue
            kept.append(box)
            if isinstance(found, Counterexample):
                witness = witness or found
            else:
                why = why or (found.reason if isinstance(found, Unknown) else found)
        if not kept:
            return None
        where = tuple([condition_of(space, box) for box in merged(kept)])
        return Region(before, after, where, witness, "" if witness else why, tuple(models[:MOST_MODELS]))

    def guessed(
        self, space: Space, way: _Ending, box: Box, why: Unknown, texts: Mapping[str, str]
    ) -> Counterexample | Unknown | None:
        """An input in the box on which both end as they do, made of its `texts` and of what conditions compare with;
        None where all were tried that there are."""
        if self.guesses is None:
            self.guesses = guesses(self.search.programs)
        free = [path for path in space.opaque_paths(box) if path[0] in self.names]
        exact = {path: space.exact(path, box) for path in free}
        among = {
            path: values
            or _first_of(texts.get(".".join(path)), choices_at(self.domains, self.guesses.get(path, ()), path))
            for path, values in exact.items()
        }
        if any(not values for values in among.values()):  # no value of its kind is known
            return why
        base = {**space.chosen(box), **{path: values[0] for path, values in among.items()}}
        others = {path: values[1:] for path, values in among.items()}
        goal, rest = self.goal(way), {**self.usual(), **space.anything()}
        assignments = islice(varied(others), MOST_GUESSES)
        found = next(filter(None, (self.search.replayed(goal, base | each, rest) for each in assignments)), None)
        is_all = all(exact.values()) and prod(map(len, among.values())) <= MOST_GUESSES
        return found or (None if is_all and free == space.opaque_paths(box) else why)

    def usual(self) -> dict[Path, Value]:
        """A value for every variable that the conditions read."""
        read = {path for program in self.search.programs for path in paths_of(program) or () if path[0] in self.names}
        longest = [path for path in sorted(read) if not any(path == other[: len(path)] for other in read - {path})]
        return {path: values[0] for path in longest if (values := choices_at(self.domains, (), path))}

    def goal(self, way: _Ending) -> Goal:
        """The result that every step must have for both decisions to end there."""
        goal = [*_goal_of(self.one, 0, way.one, way.left), *_goal_of(self.two, len(self.one.steps), way.two, way.right)]
        number = self.pairs.get((way.left.key, way.right.key))
        return goal if number is None else [*goal, (number, FALSE | ERROR)]


def _first_of(text: str | None, values: list[Value]) -> list[Value]:
    return values if text is None else [text, *values]


def _outcomes(decision: PolicyDecision) -> list[PolicyOutcome]:
    found = [each for step in decision.steps for each in (step.true, step.false, step.error) if each is not None]
    return list({each.key: each for each in (*found, decision.otherwise)}.values())


def _advanced(
    space: Space, decision: PolicyDecision, offset: int, number: int, box: Box
) -> tuple[int, PolicyOutcome | None, int | None]:
    """How far a decision comes on a box: the step, the outcome there, or the atom to split at."""
    while number < len(decision.steps):
        bits, at = space.ask(offset + number, box)
        outcomes = [decision.steps[number].after(bit) for bit in BITS if bits & bit]
        if any(each != outcomes[0] for each in outcomes[1:]):
            return number, None, at
        if outcomes[0] is not None:
            return number, outcomes[0], None
        number += 1
    return number, decision.otherwise, None


def _goal_of(decision: PolicyDecision, offset: int, number: int, outcome: PolicyOutcome) -> list[tuple[int, int]]:
    """The goal of ending at a step with an outcome."""
    goal = [(offset + at, step.bits(None)) for at, step in enumerate(decision.steps[:number])]
    if number < len(decision.steps):
        goal.append((offset + number, decision.steps[number].bits(outcome)))
    return goal
