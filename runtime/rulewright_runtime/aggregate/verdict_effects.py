"""What each verdict contributes to the gates, rates, counts and lists of a scorecard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from fractions import Fraction
from types import SimpleNamespace
from typing import Final

import msgspec

from rulewright_runtime.aggregate.effects import BELONGS, COUNTS, LEAVES_OPEN, STOPS, Effect, Undecided, part_credit
from rulewright_runtime.aggregate.outcome import NO_RECORD, VerdictKey
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scorecard import ScorecardPlan, mentioned
from rulewright_runtime.polarity import Decision, Polarity, condition
from rulewright_runtime.score import score_of
from rulewright_runtime.values import Value
from rulewright_runtime.verdicts import VerdictRecord

VERDICT_FIELDS: Final = (
    "check_id", "eligible", "verdict", "severity", "primary_bucket", "confidence", "evidence", "scorer_version",
    "prompt_hash", "rationale_code", "adjudication_required", "secondary_tags", "extra",
)  # fmt: skip
KNOWN_BEFORE: Final = frozenset({"check_id", "severity", "primary_bucket", "secondary_tags"})  # before a check runs
_ALWAYS_READ: Final = frozenset({"check_id", "eligible", "verdict", "severity", "primary_bucket"})
_MEMO_LIMIT: Final = 65536
Bindings = Mapping[str, Value]
Condition = Callable[[Bindings], Decision]


class VerdictEffects:
    """The effects of single verdicts on the rows of a scorecard, which its conditions on a verdict decide."""

    def __init__(self, plan: ScorecardPlan, base: Bindings) -> None:
        """Prepare the conditions; `base` are the bindings that all verdicts share."""
        self.plan, self.base = plan, base
        self.rates = (*(dimension.rate for dimension in plan.dimensions), *plan.rates)
        self._gates = [(_guard(gate.of), _guard(gate.stops), _guard(gate.undecided)) for gate in plan.gates]
        self._rate_of = [_guard(rate.of) for rate in self.rates]
        self.credits = [None if rate.credit is None else prepare(rate.credit) for rate in self.rates]
        self._count_of = [_guard(count.of) for count in plan.counts]
        self._list_of = [_guard(listed.of) for listed in plan.lists]
        programs = [program for gate in plan.gates for program in (gate.of, gate.stops, gate.undecided)]
        programs += [each for rate in self.rates for each in (rate.of, rate.credit) if each is not None]
        programs += [*(count.of for count in plan.counts), *(listed.of for listed in plan.lists)]
        self.read = _ALWAYS_READ | mentioned(programs).intersection(VERDICT_FIELDS)
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
            reason = "there is no record" if verdict.verdict == NO_RECORD else f"`{verdict.verdict}` is not a verdict"
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
