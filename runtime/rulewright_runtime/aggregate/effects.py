"""Effects: what one verdict contributes to the gates and rates of a scorecard, and how effects combine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any, Self

import msgspec

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import Evaluator
from rulewright_runtime.plan.scorecard import GatePlan, RatePlan
from rulewright_runtime.score import Score, leave, score_of

Undecided = dict[str, str]
Bindings = Mapping[str, object]

# The effects of a verdict on a gate, from the weakest to the strongest.
BELONGS, COUNTS, LEAVES_OPEN, STOPS = range(4)


class Effect(msgspec.Struct, frozen=True):
    """The contribution of one verdict to its row; equal verdicts share it."""

    check_id: str
    gates: tuple[tuple[int, int], ...]  # gate, strength
    hits: tuple[int, ...]  # rates
    misses: tuple[int, ...]
    credits: tuple[tuple[int, Fraction], ...]  # rate, part credit in [0, 1]
    counts: tuple[int, ...]
    lists: tuple[int, ...]
    flag: bool | None
    undecided: tuple[Undecided, ...]

    def mark(self, index: int, *, by_name: bool) -> tuple[object, ...]:
        """A key of everything in the effect that the headline and the outcome depend on. It includes the verdict's
        `index` if a gate or a list names its check, or if a program reads verdicts or flags (`by_name`)."""
        named = by_name or self.lists or any(strength in (LEAVES_OPEN, STOPS) for _, strength in self.gates)
        is_open = bool(self.undecided)
        return index if named else -1, self.gates, self.hits, self.misses, self.counts, self.lists, is_open


class Totals:
    """The sum of several effects: for each gate, rate and count, and the flag of each check."""

    __slots__ = ("counts", "flags", "gained", "leaving_open", "of", "stopping", "strongest")

    def __init__(self, gates: int, rates: int, counts: int) -> None:
        """The sum of no effects, for this number of gates, rates and counts."""
        self.strongest = [-1] * gates
        self.stopping: list[list[str]] = [[] for _ in range(gates)]
        self.leaving_open: list[list[str]] = [[] for _ in range(gates)]
        self.gained: list[int | Fraction] = [0] * rates
        self.of = [0] * rates
        self.counts = [0] * counts
        self.flags: dict[str, bool | None] = {}

    def add(self, effects: Iterable[Effect]) -> Self:
        """Add effects, and return self."""
        gained, of, counts, flags = self.gained, self.of, self.counts, self.flags
        for effect in effects:
            if effect.gates:
                self._add_gates(effect)
            for index in effect.hits:
                gained[index] += 1
                of[index] += 1
            for index in effect.misses:
                of[index] += 1
            for index, share in effect.credits:
                gained[index] += share
                of[index] += 1
            for index in effect.counts:
                counts[index] += 1
            if effect.flag is not None:
                flags[effect.check_id] = flags.get(effect.check_id) or effect.flag
        return self

    def _add_gates(self, effect: Effect) -> None:
        for gate, strength in effect.gates:
            if strength > self.strongest[gate]:
                self.strongest[gate] = strength
            if strength == STOPS:
                self.stopping[gate].append(effect.check_id)
            elif strength == LEAVES_OPEN:
                self.leaving_open[gate].append(effect.check_id)

    def ordered(self, places: Mapping[str, int]) -> Self:
        """Sort the reasons of every gate by the places of their checks, and return self."""
        for reasons in (*self.stopping, *self.leaving_open):
            if len(reasons) > 1:
                reasons.sort(key=places.__getitem__)
        return self

    def copied(self) -> Totals:
        """An independent copy."""
        other = Totals(0, 0, 0)
        other.strongest, other.gained, other.of = [*self.strongest], [*self.gained], [*self.of]
        other.stopping = [[*each] for each in self.stopping]
        other.leaving_open = [[*each] for each in self.leaving_open]
        other.counts, other.flags = [*self.counts], {**self.flags}
        return other


def waiting_effect(check_id: str, gates: tuple[int, ...]) -> Effect:
    """The effect of a check that applies and was not run: it only leaves its gates open."""
    return Effect(check_id, tuple((gate, LEAVES_OPEN) for gate in gates), (), (), (), (), (), None, ())


def passed(gate: GatePlan, strongest: int) -> bool | None:
    """Whether a gate passed, given the strongest effect on it (-1: none); None if it is open."""
    if strongest == STOPS:
        return False
    if strongest == COUNTS:
        return True
    if strongest == LEAVES_OPEN:
        return None
    answer = gate.not_eligible if strongest == BELONGS else gate.not_run
    return True if answer == "passed" else None


def state_of(gate: Mapping[str, Any]) -> str:
    """The state of a gate given its `passed` and `reasons`. An open gate lists the checks that leave it open; if it
    lists none, none was run."""
    if gate["passed"] is None:
        return "undecided" if gate["reasons"] else "not_run"
    return "passed" if gate["passed"] else "failed"


def state_at(gate: GatePlan, strongest: int) -> str:
    """The state of a gate, given the strongest effect on it (-1: none)."""
    answer = passed(gate, strongest)
    return state_of({"passed": answer, "reasons": strongest == LEAVES_OPEN})


def strongest_effects(least: int, reach: Iterable[set[int]]) -> set[int]:
    """The possible values of the strongest effect on a gate; `reach` holds the possible effects of each unknown."""
    strengths = {least}
    for each in reach:
        strengths = {max(one, other) for one in strengths for other in each}
    return strengths


def matters(gate: GatePlan, least: int, others: Iterable[set[int]], reach: set[int]) -> bool:
    """Whether the answers of one unknown can give a gate different states for some answers of the others."""
    return any(
        len({state_at(gate, max(other, strength)) for strength in reach}) > 1
        for other in strongest_effects(least, others)
    )


def counts_in(effect: Effect, rate: int) -> bool:
    """Whether the effect is in the denominator of a rate."""
    return rate in effect.hits or rate in effect.misses or any(rate == index for index, _ in effect.credits)


def earned_in(effect: Effect, rate: int) -> int | Fraction:
    """What the effect adds to the numerator of a rate."""
    hit = int(rate in effect.hits)
    return sum((share for index, share in effect.credits if index == rate), hit) if effect.credits else hit


def chances(rate: int, effects: Collection[Effect]) -> tuple[bool, bool, bool]:
    """Whether one of the effects may be a hit in a rate, a miss, or not counted. Part credit that is still to be given
    is unknown, so it may be either."""
    part = any(rate == index for effect in effects for index, _ in effect.credits)
    out = any(not counts_in(effect, rate) for effect in effects)
    return (
        part or any(rate in effect.hits for effect in effects),
        part or any(rate in effect.misses for effect in effects),
        out,
    )


def rate_value(rate: RatePlan, gained: int | Fraction, of: int) -> Score | None:
    """The exact value of a rate; None if no verdict counts."""
    if not of:
        return None
    return Score(int(gained == of)) if rate.kind == "every" else Score(gained.numerator, gained.denominator * of)


def part_credit(
    rate: RatePlan, credit: Evaluator, bindings: Bindings, check_id: str, undecided: list[Undecided]
) -> Fraction:
    """The part credit of a verdict in a rate, in [0, 1]; 0, recorded in `undecided`, if it has no value."""
    try:
        share = score_of(credit(bindings))
        leave(share)  # within [0, 1]
        return Fraction(share.numerator, share.denominator)
    except EvaluationError as error:
        if rate.error == "adjudicate":
            undecided.append({"place": f"rates.{rate.name}.credit", "check_id": check_id, "reason": str(error)})
        return Fraction(0)
