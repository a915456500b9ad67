"""Aggregation: the verdicts of one transcript become gates, dimension scores, an overall score and a status.

The policy is data (`ScorecardPlan`); this module only executes it. Nothing fails open: where a condition on a verdict
is undecided, the verdict stops its gate or leaves it open, counts as a miss in its dimension and requests adjudication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from fractions import Fraction
from operator import attrgetter
from types import SimpleNamespace
from typing import Final

import msgspec

from rulewright_runtime.aggregate.bounds import (
    ANSWERS,
    MAX_EXACT,
    answered,
    exact_bounds,
    interval,
    is_unknown,
    outer_bounds,
    rate_interval,
)
from rulewright_runtime.aggregate.effects import (
    BELONGS,
    COUNTS,
    LEAVES_OPEN,
    STOPS,
    Effect,
    Totals,
    Undecided,
    chances,
    matters,
    part_credit,
    passed,
    rate_value,
    state_at,
    state_of,
    strongest_effects,
    waiting_effect,
)
from rulewright_runtime.aggregate.outcome import (
    ENGINE,
    MINIMUM_COVERAGE,
    NO_RECORD,
    RESERVED,
    engine_results,
    remove_credit,
    request_adjudication,
)
from rulewright_runtime.aggregate.scorecard_values import number_of, plain_path, refuse_duplicates, value_or_none
from rulewright_runtime.aggregate.verdict_keys import EMPTY, UNHASHABLE, VerdictKey
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.parameters import parameter_values
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scorecard import ScorecardPlan, mentioned
from rulewright_runtime.polarity import Decision, Polarity, condition
from rulewright_runtime.score import Score, leave, score_of
from rulewright_runtime.values import NONE, Optional, Value
from rulewright_runtime.verdicts import VerdictRecord

VERDICT_FIELDS: Final = (
    "check_id", "eligible", "verdict", "severity", "primary_bucket", "confidence", "evidence", "scorer_version",
    "prompt_hash", "rationale_code", "adjudication_required", "secondary_tags", "extra",
)  # fmt: skip
KNOWN_BEFORE: Final = frozenset({"check_id", "severity", "primary_bucket", "secondary_tags"})  # before a check runs
_ALWAYS_READ: Final = frozenset({"check_id", "eligible", "verdict", "severity", "primary_bucket"})
_MEMO_LIMIT: Final = 65536
_ROWS_LIMIT: Final = 1024


Bindings = Mapping[str, Value]
Condition = Callable[[Bindings], Decision]
Summed = tuple[Sequence[Effect], Totals]


class Scorecard:
    """A prepared scorecard: build it once for a plan, then call `aggregate` for every transcript."""

    def __init__(self, plan: ScorecardPlan, parameters: Mapping[str, Value] | None = None) -> None:
        """Prepare every program. `parameters` override the defaults; a bad name or value raises PlanError."""
        self.plan = plan
        self.parameters = parameter_values(plan.parameters, parameters or {})
        self._base: dict[str, Value] = {**self.parameters, "scoring": plan.scoring}
        self._rates = (*(dimension.rate for dimension in plan.dimensions), *plan.rates)
        self._weights = {dimension.rate.name: number_of(dimension.weight) for dimension in plan.dimensions}
        self._empty = [None if rate.empty is None else number_of(rate.empty) for rate in self._rates]
        for parts in (plan.gates, self._rates, plan.counts, plan.lists, plan.variables, plan.output):
            refuse_duplicates([part.name for part in parts])
        if taken := RESERVED.intersection(part.name for part in plan.output):
            raise PlanError(f"the scorecard outputs `{min(taken)}`, which is the engine's own field")
        self._prepare_conditions()
        self._prepare_rows()
        self._minimum_coverage = self._coverage()
        self._has_gates = any(any(self._in_gates(check_id)) for check_id in plan.checks)
        self._memo: dict[Value, Effect] = {}
        self._prepare_keys()

    def having(self, parameters: Mapping[str, Value], *, same_effects: bool = False) -> Scorecard:
        """A copy with other parameter values that shares the prepared programs. `same_effects` promises that no
        condition on a single verdict reads a changed one. Raises PlanError for a bad name or value."""
        other = copy(self)
        other.parameters = parameter_values(self.plan.parameters, {**self.parameters, **parameters})
        other._base = {**other.parameters, "scoring": self.plan.scoring}
        other._minimum_coverage = other._coverage()
        other._memo = self._memo if same_effects else {}
        return other

    def _prepare_conditions(self) -> None:
        plan = self.plan
        self._gates = [(_guard(gate.of), _guard(gate.stops), _guard(gate.undecided)) for gate in plan.gates]
        self._rate_of = [_guard(rate.of) for rate in self._rates]
        self._credit = [None if rate.credit is None else prepare(rate.credit) for rate in self._rates]
        self._count_of = [_guard(count.of) for count in plan.counts]
        self._list_of = [_guard(listed.of) for listed in plan.lists]
        self._list_each = [[(name, prepare(program)) for name, program in listed.each] for listed in plan.lists]
        programs = [program for gate in plan.gates for program in (gate.of, gate.stops, gate.undecided)]
        programs += [each for rate in self._rates for each in (rate.of, rate.credit) if each is not None]
        programs += [*(count.of for count in plan.counts), *(listed.of for listed in plan.lists)]
        self._read = _ALWAYS_READ | mentioned(programs).intersection(VERDICT_FIELDS)
        self.key = VerdictKey(self._read, programs)

    def _prepare_rows(self) -> None:
        self._variables = [(part, prepare(part.value)) for part in self.plan.variables]
        own = {part.name for part in self.plan.variables}
        self._output = [(part, prepare(part.value), plain_path(part.value, own)) for part in self.plan.output]
        evaluated = (part.value for part, _, path in self._output if path is None)
        self._needs = mentioned(evaluated) | mentioned(part.value for part in self.plan.variables)
        self._reads_names = not self._needs.isdisjoint(("flags", "verdicts"))

    def _prepare_keys(self) -> None:
        """Collect the verdict fields that a row depends on: rows of equal verdicts are computed once."""
        listed = mentioned(program for part in self.plan.lists for _, program in part.each)
        read = set(VERDICT_FIELDS) if "verdicts" in self._needs else self._read | listed.intersection(VERDICT_FIELDS)
        self._rows: dict[Value, dict[str, Value]] = {}
        self._row_bulky = sorted(read & UNHASHABLE)
        self._row_part = attrgetter(*sorted(read - UNHASHABLE), "cause")

    def _row_key(self, verdicts: Sequence[VerdictRecord], left_out: Sequence[Value], incomplete: bool) -> Value:
        """A cache key that only rows with equal results share; None if the row can't be cached."""
        if any(getattr(verdict, name, None) != EMPTY[name] for name in self._row_bulky for verdict in verdicts):
            return None
        try:
            key = tuple(map(self._row_part, verdicts)), tuple(left_out), incomplete
            hash(key)
        except (AttributeError, TypeError):  # records that are not our own
            return None
        return key

    def _coverage(self) -> Score:
        """The minimum share of resolved checks. Raises PlanError if the plan's has no value in [0, 1]."""
        if self.plan.minimum_coverage is None:
            return MINIMUM_COVERAGE
        try:
            coverage = score_of(prepare(self.plan.minimum_coverage)(self._base))
        except EvaluationError as failure:
            raise PlanError(f"the scorecard's minimum coverage has no value: {failure}") from None
        return coverage

    def _in_gates(self, check_id: str) -> list[bool]:
        """For each gate, whether the check belongs to it."""
        bindings = {**self._base, "v": self._record(self._missing(check_id), self._read)}
        return [of(bindings).holds for of, _, _ in self._gates]

    def waiting_for(self, check_id: str) -> tuple[int, ...]:
        """The indices of the gates that stay open when the check `check_id` applies and is not run."""
        gates = zip(self.plan.gates, self._in_gates(check_id), strict=True)
        return tuple(index for index, (gate, holds) in enumerate(gates) if gate.left_out == "open" and holds)

    def may_hold(self, check_id: str) -> frozenset[int]:
        """The indices of the gates to which a verdict of the check may belong. These include every gate whose
        condition reads a field that is unknown before the check runs."""
        later = set(VERDICT_FIELDS) - KNOWN_BEFORE
        gates = zip(self.plan.gates, self._in_gates(check_id), strict=True)
        return frozenset(index for index, (gate, holds) in enumerate(gates) if holds or mentioned([gate.of]) & later)

    def stopped(self, verdicts: Iterable[VerdictRecord], *, incomplete: bool = False) -> frozenset[int]:
        """The indices of the gates that have failed, whatever further verdicts follow."""
        effects = (self._effect(verdict, incomplete) for verdict in verdicts)
        return frozenset(gate for effect in effects for gate, strength in effect.gates if strength == STOPS)

    def stops(self, verdict: VerdictRecord) -> list[dict[str, bool] | None]:
        """For each gate, whether each answer in place of the verdict would stop it; None for a gate that no answer
        belongs to."""
        effects = {answer: dict(self.effect(answered(verdict, answer)).gates) for answer in ANSWERS}
        return [
            {answer: gates.get(index) == STOPS for answer, gates in effects.items()}
            if any(index in gates for gates in effects.values())
            else None
            for index in range(len(self.plan.gates))
        ]

    def aggregate(
        self,
        verdicts: Sequence[VerdictRecord],
        expected: Iterable[str] | None = None,
        left_out: Iterable[tuple[str, tuple[int, ...]]] = (),
        *,
        incomplete: bool = False,
        summed: Summed | None = None,
    ) -> dict[str, Value]:
        """The scores row of one transcript: the scorecard's output fields in its order, ready for JSON.

        `expected` names the checks that must have a record (those of the plan that were not suppressed); one without a
        record counts as eligible and as an error. `left_out` names checks that apply but were not run, with the gates
        that wait for them (`waiting_for`); the row lists them as `left_out`. Scores are rounded once, to doubles. The
        key `engine` holds the engine's own results (`outcome.engine_results`), whatever the scorecard outputs. A row
        with an undecided condition has the list `undecided` of `{place, check_id, reason}`, and its `status` is never
        `valid`. Nor is that of an `incomplete` transcript, which gets no credit: only a FAIL keeps its verdict,
        everything else is a miss, and the overall score is 0. A transcript with an unproven failure has the status
        `needs_adjudication` if the plan says so (`ScorecardPlan.unproven`). `summed` are the effects of these verdicts,
        if they are already known.
        """
        if expected is not None:
            verdicts = self._with_missing(verdicts, expected)
        effects, totals = summed or self.summed(verdicts, incomplete=incomplete)
        return self._row(verdicts, effects, left_out, incomplete=incomplete, totals=totals.copied())

    def summed(self, verdicts: Iterable[VerdictRecord], *, incomplete: bool = False) -> Summed:
        """The effects of some verdicts and their sum. A scorecard of `having` with the same effects shares them."""
        effects = [self._effect(verdict, incomplete) for verdict in verdicts]
        return effects, self._totals(effects)

    def _row(
        self,
        verdicts: Sequence[VerdictRecord],
        effects: Sequence[Effect],
        left_out: Iterable[tuple[str, tuple[int, ...]]] = (),
        *,
        incomplete: bool = False,
        totals: Totals,
    ) -> dict[str, Value]:
        """The row of `aggregate` for verdicts with these effects and their sum, which it changes."""
        undecided = [item for effect in effects if effect.undecided for item in effect.undecided]
        bindings = dict(self._base)
        ready: dict[str, Value] = {}
        waiting = tuple(left_out)
        totals.add(waiting_effect(check_id, gates) for check_id, gates in waiting)
        results = self._judge_gates(totals, bindings, ready)
        self._add_rates(totals, bindings, ready)
        counts = {count.name: total for count, total in zip(self.plan.counts, totals.counts, strict=True)}
        bindings["counts"] = ready["counts"] = counts
        self._collect(effects, verdicts, bindings, ready, undecided)
        self._raise_flags(totals, bindings, ready)
        if "verdicts" in self._needs:
            bindings["verdicts"] = [self._record(verdict, VERDICT_FIELDS) for verdict in verdicts]
        row = self._output_row(bindings, ready, undecided)
        if incomplete:
            remove_credit(row, self.plan.headline)
        row[ENGINE] = engine_results(
            verdicts,
            results if self._has_gates or any(strength >= 0 for strength in totals.strongest) else None,
            self._minimum_coverage,
            undecided=bool(undecided) or incomplete,
        )
        if row[ENGINE]["unproven"] and self.plan.unproven == "adjudicate" and row.get("status") in ("valid", "invalid"):
            row["status"] = "needs_adjudication"
        if waiting:
            row["left_out"] = [check_id for check_id, _ in waiting]
        return row

    def score(
        self,
        verdicts: Sequence[VerdictRecord],
        expected: Iterable[str] | None = None,
        left_out: Sequence[tuple[str, tuple[int, ...]]] = (),
        *,
        incomplete: bool = False,
    ) -> dict[str, Value]:
        """The row of `aggregate`, with `bounds` under its key `engine` if a verdict is unknown."""
        if expected is not None:
            verdicts = self._with_missing(verdicts, expected)
        key = self._row_key(verdicts, left_out, incomplete)
        row = self._rows.get(key)
        if row is None:
            summed = self.summed(verdicts, incomplete=incomplete)
            row = self.aggregate(verdicts, None, left_out, incomplete=incomplete, summed=summed)
            if bounds := self.bounds(verdicts, left_out, incomplete=incomplete, summed=summed):
                row[ENGINE]["bounds"] = bounds
            if key is not None and len(self._rows) < _ROWS_LIMIT:
                self._rows[key] = row
        return dict(row)

    def bounds(
        self,
        verdicts: Sequence[VerdictRecord],
        left_out: Iterable[tuple[str, tuple[int, ...]]] = (),
        *,
        incomplete: bool = False,
        summed: Summed | None = None,
    ) -> dict[str, Value] | None:
        """The bounds of the row over every answer to its unknown verdicts; None if no verdict is unknown.

        `unknown` lists the checks without a verdict, `outcomes` the possible outcomes, `decided_by` the smallest set of
        checks whose answers decide the outcome. `overall_score` and each of `dimensions` are `{low, high, absent}`;
        each of `gates` has its possible `states` and the checks it is `decided_by`. If `exact` is false, the overall
        score and the outcomes are outer bounds. `summed` are the effects of these verdicts, if they are already known.
        """
        waiting = [self._missing(name) for name, _ in left_out]
        records = [*verdicts, *waiting]
        places = [place for place, verdict in enumerate(records) if is_unknown(verdict)]
        if not places:
            return None
        names = [records[place].check_id for place in places]
        options = [{answer: answered(records[place], answer) for answer in ANSWERS} for place in places]
        effects = [{answer: self._effect(record, incomplete) for answer, record in each.items()} for each in options]
        known, _ = summed or self.summed(verdicts, incomplete=incomplete)
        stored = [*known, *(self._effect(verdict, incomplete) for verdict in waiting)]
        totals = self._totals(effect for place, effect in enumerate(stored) if place not in places)
        gates, dimensions = self._gate_bounds(totals, names, effects), self._rate_bounds(totals, effects)
        order = {verdict.check_id: place for place, verdict in enumerate(records)}

        def row_of(answers: Sequence[str]) -> dict[str, Value]:
            completed, in_order = [*records], [*stored]
            for place, option, effect, answer in zip(places, options, effects, answers, strict=True):
                completed[place], in_order[place] = option[answer], effect[answer]
            sums = totals.copied().add(in_order[place] for place in places).ordered(order)
            return self._row(completed, in_order, incomplete=incomplete, totals=sums)

        is_exact = len(names) <= MAX_EXACT and not any(self._credit)
        marks = [
            {answer: effect.mark(index, by_name=self._reads_names) for answer, effect in each.items()}
            for index, each in enumerate(effects)
        ]
        bounds = exact_bounds(names, row_of, marks, self.plan.headline) if is_exact else outer_bounds(names, gates)
        return {"unknown": names, **bounds, "gates": gates, "dimensions": dimensions}

    def rates(self, totals: Totals) -> list[Score | None]:
        """The exact value of every dimension and rate; None for one without a counted verdict."""
        return [rate_value(rate, totals.gained[at], totals.of[at]) for at, rate in enumerate(self._rates)]

    def _totals(self, effects: Iterable[Effect]) -> Totals:
        return Totals(len(self.plan.gates), len(self._rates), len(self.plan.counts)).add(effects)

    def _effect(self, verdict: VerdictRecord, incomplete: bool) -> Effect:
        return self._compute_effect(verdict, incomplete) if incomplete else self.effect(verdict)

    def _gate_bounds(
        self, known: Totals, names: Sequence[str], effects: Sequence[Mapping[str, Effect]]
    ) -> dict[str, dict[str, Value]]:
        """For each gate its possible states and the unknowns that decide it: those with an answer that can change its
        state whatever the others turn out to be."""
        bounds = {}
        for index, gate in enumerate(self.plan.gates):
            least = known.strongest[index]
            reach = [{dict(effect.gates).get(index, -1) for effect in each.values()} for each in effects]
            strengths = strongest_effects(least, reach)
            states = sorted({state_at(gate, strength) for strength in strengths})
            decides = [
                name
                for position, name in enumerate(names)
                if matters(gate, least, reach[:position] + reach[position + 1 :], reach[position])
            ]
            bounds[gate.name] = {"states": states, "decided_by": decides}
        return bounds

    def _rate_bounds(self, known: Totals, effects: Sequence[Mapping[str, Effect]]) -> dict[str, Value]:
        bounds = {}
        for index, rate in enumerate(self._rates[: len(self.plan.dimensions)]):
            options = [chances(index, each.values()) for each in effects]
            ends = [rate_value(rate, *end) for end in rate_interval(known.gained[index], known.of[index], options)]
            values = [self._empty[index] if end is None else end for end in ends]
            bounds[rate.name] = interval([None if value is None else leave(value) for value in values])
        return bounds

    def _with_missing(self, verdicts: Sequence[VerdictRecord], expected: Iterable[str]) -> Sequence[VerdictRecord]:
        present = {verdict.check_id for verdict in verdicts}
        missing = [self._missing(check_id) for check_id in expected if check_id not in present]
        return [*verdicts, *missing] if missing else verdicts

    def _missing(self, check_id: str) -> Value:
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

    def _record(self, verdict: VerdictRecord, fields: Iterable[str]) -> dict[str, Value]:
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
            return self._compute_effect(verdict)
        effect = self._memo.get(key)
        if effect is None:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            effect = self._memo[key] = self._compute_effect(verdict)
        return effect

    def _compute_effect(self, verdict: VerdictRecord, incomplete: bool = False) -> Effect:
        bindings = {**self._base, "v": self._record(verdict, self._read)}
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
        for index, (rate, of) in enumerate(zip(self._rates, self._rate_of, strict=True)):
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
            elif (credit := self._credit[index]) is not None:
                earned.append((index, part_credit(rate, credit, bindings, verdict.check_id, undecided)))
            else:
                (hits if verdict.verdict in rate.hit else misses).append(index)
        return hits, misses, earned

    # Each of the following adds its values to `bindings`, for expressions, and to `ready`, as JSON data.

    def _judge_gates(
        self, totals: Totals, bindings: dict[str, Value], ready: dict[str, Value]
    ) -> dict[str, dict[str, Value]]:
        """The engine's result for every gate, `{state, reasons}`."""
        strongest, stopping, leaving_open = totals.strongest, totals.stopping, totals.leaving_open
        gates: dict[str, dict[str, Value]] = {
            part.name: {"passed": passed(part, strongest[gate]), "reasons": stopping[gate] or leaving_open[gate]}
            for gate, part in enumerate(self.plan.gates)
        }
        ready["gates"] = gates
        if "gates" in self._needs:
            bindings["gates"] = {
                name: {**gate, "passed": _optional(gate["passed"]), "failed": gate["passed"] is False}
                for name, gate in gates.items()
            }
        bindings["undecided"] = {part.name: leaving_open[gate] for gate, part in enumerate(self.plan.gates)}
        return {name: {"state": state_of(gate), "reasons": gate["reasons"]} for name, gate in gates.items()}

    def _add_rates(self, totals: Totals, bindings: dict[str, Value], ready: dict[str, Value]) -> None:
        values: dict[str, Value] = {}
        rounded: dict[str, float | None] = {}
        for index, rate in enumerate(self._rates):
            value = rate_value(rate, totals.gained[index], totals.of[index])
            if value is None:
                value = self._empty[index]
            rounded[rate.name] = None if value is None else leave(value)
            values[rate.name] = value if rate.empty is not None else _optional(value)
        ready["dimensions"] = {name: rounded.pop(name) for name in self._weights}
        ready["rates"] = rounded
        bindings["dimensions"] = {name: values.pop(name) for name in self._weights}
        bindings["rates"] = values
        bindings["weights"] = self._weights

    def _collect(
        self,
        effects: Sequence[Effect],
        verdicts: Sequence[VerdictRecord],
        bindings: dict[str, Value],
        ready: dict[str, Value],
        undecided: list[Undecided],
    ) -> None:
        lists: dict[str, list[dict[str, Value]]] = {part.name: [] for part in self.plan.lists}
        listed = ((effect, verdict) for effect, verdict in zip(effects, verdicts, strict=True) if effect.lists)
        for effect, verdict in listed:
            for index in effect.lists:
                context = {**self._base, "v": self._record(verdict, VERDICT_FIELDS)}
                record = {}
                for name, value in self._list_each[index]:
                    place = f"lists.{self.plan.lists[index].name}.each.{name}"
                    record[name] = value_or_none(value, context, place, verdict.check_id, undecided)
                lists[self.plan.lists[index].name].append(record)
        bindings["lists"] = ready["lists"] = lists

    def _raise_flags(self, totals: Totals, bindings: dict[str, Value], ready: dict[str, Value]) -> None:
        flags = {label: totals.flags.get(check) for label, check in self.plan.flags.labels}
        ready["flags"] = flags
        if "flags" in self._needs:
            bindings["flags"] = {label: _optional(flag) for label, flag in flags.items()}

    def _output_row(
        self, bindings: dict[str, Value], ready: dict[str, Value], undecided: list[Undecided]
    ) -> dict[str, Value]:
        for part, value in self._variables:
            try:
                bindings[part.name] = value(bindings)
            except EvaluationError as error:
                undecided.append({"place": f"variables.{part.name}", "check_id": "", "reason": str(error)})
        row: dict[str, Value] = {}
        for part, value, path in self._output:
            if path is not None:
                row[part.name] = ready[path[0]] if len(path) == 1 else ready[path[0]][path[1]]
                continue
            before = len(undecided)
            row[part.name] = value_or_none(value, bindings, f"output.{part.name}", "", undecided)
            if part.guards and len(undecided) > before:
                row[part.name] = True
        if undecided:
            request_adjudication(row)
            row["undecided"] = undecided
        return row


def _guard(program: Program) -> Condition:
    return condition(program, Polarity.GUARDING)


def _optional(value: Value) -> Optional:
    return NONE if value is None else Optional(value)
