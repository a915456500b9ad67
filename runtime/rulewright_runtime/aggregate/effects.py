"""Effects: what one verdict contributes to the gates and rates of a scorecard, which its conditions on the verdict
decide, and how effects combine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final, Self

import msgspec

from rulewright_runtime.aggregate.outcome import NO_RECORD, NotRun, VerdictKey
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scorecard import GatePlan, RatePlan, ScorecardPlan, mentioned
from rulewright_runtime.polarity import Decision, Polarity, condition
from rulewright_runtime.score import Score, leave, score_of
from rulewright_runtime.values import Value
from rulewright_runtime.verdicts import VerdictRecord

Undecided = dict[str, str]
Bindings = Mapping[str, Value]

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
        other = Totals(0, 0, 0)
        other.strongest, other.gained, other.of = [*self.strongest], [*self.gained], [*self.of]
        other.stopping = [[*each] for each in self.stopping]
        other.leaving_open = [[*each] for each in self.leaving_open]
        other.counts, other.flags = [*self.counts], {**self.flags}
        return other


def waiting_effect(check: NotRun) -> Effect:
    """The effect of a check that applies and was not run: it only leaves its gates open."""
    gates = tuple((gate, LEAVES_OPEN) for gate in check.gates)
    return Effect(check.check_id, gates, (), (), (), (), (), None, ())


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


VERDICT_FIELDS: Final = (
    "check_id", "eligible", "verdict", "severity", "primary_bucket", "confidence", "evidence", "scorer_version",
    "prompt_hash", "rationale_code", "adjudication_required", "secondary_tags", "extra",
)  # fmt: skip
KNOWN_BEFORE: Final = frozenset({"check_id", "severity", "primary_bucket", "secondary_tags"})  # before a check runs
_ALWAYS_READ: Final = frozenset({"check_id", "eligible", "verdict", "severity", "primary_bucket"})
_MEMO_LIMIT: Final = 65536
Condition = Callable[[Bindings], Decision]


class VerdictEffects:
    """The effects of single verdicts on the rows of a scorecard, which its conditions on a verdict decide."""

    def __init__(self, plan: ScorecardPlan, base: Bindings) -> None:
        """Prepare the conditions; `base` are the bindings that all verdicts share."""
        self.plan, self.base = plan, base
        self.rates = (*(dimension.rate for dimension in plan.dimensions), *plan.rates)
        self._gates = [(_guard(gate.of), _guard(gate.stops), _guard(gate.undecided)) for gate in plan.gates]
        later = set(VERDICT_FIELDS) - KNOWN_BEFORE
        self._any_check = frozenset(at for at, gate in enumerate(plan.gates) if mentioned([gate.of]) & later)
        self._rate_of = [_guard(rate.of) for rate in self.rates]
        self.credits = [None if rate.credit is None else prepare(rate.credit) for rate in self.rates]
        self._count_of = [_guard(count.of) for count in plan.counts]
        self._list_of = [_guard(listed.of) for listed in plan.lists]
        programs = [program for gate in plan.gates for program in (gate.of, gate.stops, gate.undecided)]
        programs += [each for rate in self.rates for each in (rate.of, rate.credit) if each is not None]
        programs += [*(count.of for count in plan.counts), *(listed.of for listed in plan.lists)]
        self.read = _ALWAYS_READ | mentioned(programs).intersection(VERDICT_FIELDS)
        self.programs = programs
        self.key = VerdictKey(self.read, programs)
        self._memo: dict[Value, Effect] = {}

    def having(self, base: Bindings, *, same_effects: bool) -> VerdictEffects:
        """A copy with other bindings, which keeps the known effects if they are the same."""
        other = copy(self)
        other.base = base
        other._memo = self._memo if same_effects else {}
        return other

    def in_gates(self, check_id: str) -> list[bool]:
        """For each gate, whether the check belongs to it."""
        bindings = {**self.base, "v": self.record(self.missing(check_id), self.read)}
        return [of(bindings).holds for of, _, _ in self._gates]

    def may_hold(self, check_id: str) -> frozenset[int]:
        """The indices of the gates to which a verdict of the check may belong. These include every gate whose
        condition reads a field that is unknown before the check runs."""
        return self._any_check | {index for index, holds in enumerate(self.in_gates(check_id)) if holds}

    def of(self, verdict: VerdictRecord, incomplete: bool) -> Effect:
        """The effect of a verdict; that of an `incomplete` transcript gets no credit."""
        return self._compute(verdict, incomplete) if incomplete else self.effect(verdict)

    def missing(self, check_id: str) -> Value:
        check = self.plan.checks.get(check_id, {})
        return SimpleNamespace(
            check_id=check_id,
            eligible=True,
            verdict=NO_RECORD,
            severity=check.get("severity", ""),
            primary_bucket=check.get("primary_bucket", ""),
            confidence=0.0,
            evidence=(),
            scorer_version="",
            prompt_hash=None,
            rationale_code="no_record",
            adjudication_required=True,
            secondary_tags=tuple(check.get("secondary_tags", ())),
            extra={},
        )

    def record(self, verdict: VerdictRecord, fields: Iterable[str]) -> dict[str, Value]:
        record = {name: msgspec.to_builtins(getattr(verdict, name)) for name in fields if hasattr(verdict, name)}
        check = self.plan.checks.get(verdict.check_id, {})
        record["check"] = check
        record["mode_id"] = verdict.check_id  # the reference's name of it
        for name in ("severity", "primary_bucket"):  # the plan takes precedence over the record
            if name in check:
                record[name] = check[name]
        try:
            if "confidence" in record:
                record["confidence"] = score_of(record["confidence"])
        except EvaluationError:  # not a score: left absent, so that the condition's polarity decides
            del record["confidence"]
        return record

    def effect(self, verdict: VerdictRecord) -> Effect:
        """The effect of a verdict on its row, cached by the fields that conditions read."""
        key = self.key(verdict)
        if key is None:
            return self._compute(verdict)
        effect = self._memo.get(key)
        if effect is None:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            effect = self._memo[key] = self._compute(verdict)
        return effect

    def _compute(self, verdict: VerdictRecord, incomplete: bool = False) -> Effect:
        bindings = {**self.base, "v": self.record(verdict, self.read)}
        undecided: list[Undecided] = []
        discounted = incomplete and verdict.eligible is not False and verdict.verdict != "FAIL"
        if verdict.eligible is not False and verdict.verdict not in VERDICTS:
            reason = (
                "the check has no record" if verdict.verdict == NO_RECORD else f"`{verdict.verdict}` is not a verdict"
            )
            undecided.append({"place": "verdict", "check_id": verdict.check_id, "reason": reason})

        def holds(test: Condition, place: str) -> bool:
            decision = test(bindings)
            if decision.undecided is not None:
                undecided.append({"place": place, "check_id": verdict.check_id, "reason": decision.undecided})
            return decision.holds

        gates = [
            (index, LEAVES_OPEN if discounted else self._strength(verdict, index, holds))
            for index, (of, _, _) in enumerate(self._gates)
            if holds(of, f"gates.{self.plan.gates[index].name}.of")
        ]
        hits, misses, earned = self._sort_rates(verdict, bindings, undecided, discounted)
        if incomplete:
            misses, earned = [*misses, *(index for index, _ in earned)], []
        counts = [i for i, of in enumerate(self._count_of) if holds(of, f"counts.{self.plan.counts[i].name}")]
        lists = [i for i, of in enumerate(self._list_of) if holds(of, f"lists.{self.plan.lists[i].name}.of")]
        flags = self.plan.flags
        flag = True if verdict.verdict in flags.raised else False if verdict.verdict in flags.clear else None
        flag = None if discounted or verdict.eligible is False else flag
        return Effect(
            verdict.check_id,
            tuple(gates),
            tuple(hits),
            tuple(misses),
            tuple(earned),
            tuple(counts),
            tuple(lists),
            flag,
            tuple(undecided),
        )

    def _strength(self, verdict: VerdictRecord, index: int, holds: Callable[[Condition, str], bool]) -> int:
        if verdict.eligible is False:
            return BELONGS
        _, stops, leaves_open = self._gates[index]
        name = self.plan.gates[index].name
        if holds(stops, f"gates.{name}.stops"):
            return STOPS
        unknown = verdict.verdict not in VERDICTS
        return LEAVES_OPEN if holds(leaves_open, f"gates.{name}.undecided") or unknown else COUNTS

    def _sort_rates(
        self, verdict: VerdictRecord, bindings: Bindings, undecided: list[Undecided], discounted: bool
    ) -> tuple[list[int], list[int], list[tuple[int, Fraction]]]:
        hits: list[int] = []
        misses: list[int] = []
        earned: list[tuple[int, Fraction]] = []
        if verdict.eligible is False:
            return hits, misses, earned
        for index, (rate, of) in enumerate(zip(self.rates, self._rate_of, strict=True)):
            decision = of(bindings)
            if not decision.holds:
                continue
            if decision.undecided is not None or verdict.verdict not in (*rate.hit, *rate.miss, *rate.exclude):
                misses.append(index)
                if decision.undecided is not None and rate.error == "adjudicate":
                    place = f"rates.{rate.name}.of"
                    undecided.append({"place": place, "check_id": verdict.check_id, "reason": decision.undecided})
            elif discounted:
                misses.append(index)
            elif verdict.verdict in rate.exclude:
                continue
            elif (credit := self.credits[index]) is not None:
                earned.append((index, part_credit(rate, credit, bindings, verdict.check_id, undecided)))
            else:
                (hits if verdict.verdict in rate.hit else misses).append(index)
        return hits, misses, earned


def _guard(program: Program) -> Condition:
    return condition(program, Polarity.GUARDING)
