"""Aggregation: the verdicts of one transcript become gates, dimension scores, an overall score and a status.

The policy is data (`ScorecardPlan`); this module only executes it. Nothing fails open: where a condition on a verdict
is undecided, the verdict stops its gate or leaves it undecided, counts as a miss in its dimension and requests
adjudication.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Final

from msgspec import UNSET

from rulewright_runtime.aggregate.bounds import (
    MAX_EXACT,
    UNBOUNDED,
    answered,
    exact_bounds,
    interval,
    is_unknown,
    outer_bounds,
    rate_interval,
)
from rulewright_runtime.aggregate.effects import (
    COUNTS,
    STOPS,
    VERDICT_FIELDS,
    Effect,
    Totals,
    Undecided,
    VerdictEffects,
    chances,
    matters,
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
    RESERVED,
    NotRun,
    VerdictKey,
    engine_results,
    fields_of_extra,
    remove_credit,
    request_adjudication,
)
from rulewright_runtime.aggregate.scorecard_values import number_of, plain_path, refuse_duplicates, value_or_none
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import ANSWERS
from rulewright_runtime.plan.scorecard import ScorecardPlan, mentioned, parameter_values
from rulewright_runtime.score import Score, leave, score_of
from rulewright_runtime.values import NONE, Optional, Value
from rulewright_runtime.verdicts import VerdictRecord

_ROWS_LIMIT: Final = 1024


Summed = tuple[Sequence[Effect], Totals]


def gate_members(plan: ScorecardPlan) -> dict[str, list[str]]:
    """For each gate the checks to whose verdicts it may apply, with the default parameters."""
    effects = VerdictEffects(plan, {**parameter_values(plan.parameters, {}), "scoring": plan.scoring})
    found: dict[str, list[str]] = {gate.name: [] for gate in plan.gates}
    for check_id in plan.checks:
        for index in effects.may_hold(check_id):
            found[plan.gates[index].name].append(check_id)
    return found


class Scorecard:
    """A prepared scorecard: build it once for a plan, then call `aggregate` for every transcript."""

    def __init__(self, plan: ScorecardPlan, parameters: Mapping[str, Value] | None = None) -> None:
        """Prepare every program. `parameters` override the defaults; a bad name or value raises PlanError."""
        self.plan = plan
        self.parameters = parameter_values(plan.parameters, parameters or {})
        self._base: dict[str, Value] = {**self.parameters, "scoring": plan.scoring}
        self.effects = VerdictEffects(plan, self._base)
        self._rates = self.effects.rates
        self._weights = {dimension.rate.name: number_of(dimension.weight) for dimension in plan.dimensions}
        self._empty = [None if rate.empty is None else number_of(rate.empty) for rate in self._rates]
        for parts in (plan.gates, self._rates, plan.counts, plan.lists, plan.variables, plan.output):
            refuse_duplicates([part.name for part in parts])
        if taken := RESERVED.intersection(part.name for part in plan.output):
            raise PlanError(f"the scorecard outputs `{min(taken)}`, which is the engine's own field")
        self._list_each = [[(name, prepare(program)) for name, program in listed.each] for listed in plan.lists]
        self._prepare_rows()
        self._minimum_coverage, self.pass_rates = self._shares()
        self._has_gates = any(any(self.effects.in_gates(check_id)) for check_id in plan.checks)
        self._prepare_keys()

    def having(self, parameters: Mapping[str, Value], *, same_effects: bool = False) -> Scorecard:
        """A copy with other parameter values that shares the prepared programs. `same_effects` promises that no
        condition on a single verdict reads a changed one. Raises PlanError for a bad name or value."""
        other = copy(self)
        other.parameters = parameter_values(self.plan.parameters, {**self.parameters, **parameters})
        other._base = {**other.parameters, "scoring": self.plan.scoring}
        other.effects = self.effects.having(other._base, same_effects=same_effects)
        other._minimum_coverage, other.pass_rates = other._shares()
        other._forget()
        return other

    def _prepare_rows(self) -> None:
        self._variables = [(part, prepare(part.value)) for part in self.plan.variables]
        own = {part.name for part in self.plan.variables}
        self._output = [(part, prepare(part.value), plain_path(part.value, own)) for part in self.plan.output]
        evaluated = (part.value for part, _, path in self._output if path is None)
        self._needs = mentioned(evaluated) | mentioned(part.value for part in self.plan.variables)
        self._reads_names = not self._needs.isdisjoint(("flags", "verdicts"))

    def _prepare_keys(self) -> None:
        """Prepare the keys of verdicts with equal effects, and of those that lists show alike: sums and rows are
        computed once."""
        shown = [program for part in self.plan.lists for _, program in part.each]
        programs = [*self.effects.programs, *(part.value for part in (*self.plan.variables, *self.plan.output))]
        read = self.effects.read.union(VERDICT_FIELDS if "verdicts" in self._needs else ())
        self._key = VerdictKey(read | {"cause"}, programs)
        may_show_all = fields_of_extra(shown) is None  # `each: {failure: v}`
        fields = VERDICT_FIELDS if may_show_all else mentioned(shown).intersection(VERDICT_FIELDS)
        self._shown_key = VerdictKey({*fields, "check_id", "verdict"}, shown)
        self._forget()

    def _forget(self) -> None:
        self._sums: dict[Value, tuple[int, Summed]] = {}  # with their numbers
        self._rows: dict[Value, dict[str, Value]] = {}

    def _known_sum(
        self, verdicts: Sequence[VerdictRecord], left_out: Sequence[NotRun], incomplete: bool
    ) -> tuple[Value, Summed]:
        """The sum of the verdicts' effects, and a key that only rows with equal results share; None if the row can't be
        cached."""
        key = self._key.of_all(verdicts)
        place = key, tuple(left_out), incomplete
        number, summed = self._sums.get(place) or (len(self._sums), self.summed(verdicts, incomplete=incomplete))
        if key is None or number >= _ROWS_LIMIT:
            return None, summed
        self._sums[place] = number, summed
        shown = self._shown_key.of_all([v for v, effect in zip(verdicts, summed[0], strict=True) if effect.lists])
        return None if shown is None else (number, shown), summed

    def _shares(self) -> tuple[Score, dict[str, float]]:
        """The minimum share of resolved checks, and the pass rates of gates. Raises PlanError for one without a value
        in [0, 1], and for a pass rate of 0, which a run without a pass would meet."""
        coverage = self.plan.minimum_coverage
        rates = {gate.name: gate.pass_rate for gate in self.plan.gates if gate.pass_rate is not UNSET}
        found = {name: leave(self._share(rate, f"pass rate of the gate `{name}`")) for name, rate in rates.items()}
        if nothing := [name for name, rate in found.items() if not rate]:
            raise PlanError(f"the pass rate of the gate `{nothing[0]}` must be above 0")
        return MINIMUM_COVERAGE if coverage is None else self._share(coverage, "minimum coverage"), found

    def _share(self, program: Program, what: str) -> Score:
        try:
            return score_of(prepare(program)(self._base))
        except EvaluationError as failure:
            raise PlanError(f"the scorecard's {what} has no value: {failure}") from None

    def waiting_for(self, check_id: str) -> tuple[int, ...]:
        """The indices of the gates that stay open when the check `check_id` applies and is not run."""
        gates = zip(self.plan.gates, self.effects.in_gates(check_id), strict=True)
        return tuple(index for index, (gate, holds) in enumerate(gates) if gate.left_out == "open" and holds)

    def may_hold(self, check_id: str) -> frozenset[int]:
        """The indices of the gates to which a verdict of the check may belong."""
        return self.effects.may_hold(check_id)

    def stopped(self, verdicts: Iterable[VerdictRecord], *, incomplete: bool = False) -> frozenset[int]:
        """The indices of the gates that have failed, whatever further verdicts follow."""
        effects = (self.effects.of(verdict, incomplete) for verdict in verdicts)
        return frozenset(gate for effect in effects for gate, strength in effect.gates if strength == STOPS)

    def stops(self, verdict: VerdictRecord) -> list[dict[str, bool] | None]:
        """For each gate, whether each answer in place of the verdict would stop it; None for a gate that no answer
        belongs to."""
        effects = {answer: dict(self.effects.effect(answered(verdict, answer)).gates) for answer in ANSWERS}
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
        left_out: Iterable[NotRun] = (),
        *,
        incomplete: bool = False,
        summed: Summed | None = None,
    ) -> dict[str, Value]:
        """The scores row of one transcript: the scorecard's output fields in its order, ready for JSON.

        `expected` names the checks that must have a record (those of the plan that were not suppressed); one without a
        record counts as eligible and as an error. `left_out` holds checks that apply but were not run, with the gates
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
        return self.summed_of([self.effects.of(verdict, incomplete) for verdict in verdicts])

    def summed_of(self, effects: Sequence[Effect]) -> Summed:
        """The effects with their sum."""
        return effects, self._totals(effects)

    def _row(
        self,
        verdicts: Sequence[VerdictRecord],
        effects: Sequence[Effect],
        left_out: Iterable[NotRun] = (),
        *,
        incomplete: bool = False,
        totals: Totals,
    ) -> dict[str, Value]:
        """The row of `aggregate` for verdicts with these effects and their sum, which it changes."""
        undecided = [item for effect in effects if effect.undecided for item in effect.undecided]
        bindings = dict(self._base)
        ready: dict[str, Value] = {}
        waiting = tuple(left_out)
        totals.add(map(waiting_effect, waiting))
        results = self._judge_gates(totals, bindings, ready)
        self._add_rates(totals, bindings, ready)
        counts = {count.name: total for count, total in zip(self.plan.counts, totals.counts, strict=True)}
        bindings["counts"] = ready["counts"] = counts
        self._collect(effects, verdicts, bindings, ready, undecided)
        self._raise_flags(totals, bindings, ready)
        if "verdicts" in self._needs:
            bindings["verdicts"] = [self.effects.record(verdict, VERDICT_FIELDS) for verdict in verdicts]
        row = self._output_row(bindings, ready, undecided)
        if incomplete:
            remove_credit(row, self.plan.headline)
        row[ENGINE] = engine_results(
            verdicts,
            results if self._has_gates or any(strength >= 0 for strength in totals.strongest) else None,
            self._minimum_coverage,
            undecided=bool(undecided) or incomplete,
            skipped=sum(each.is_skipped for each in waiting),
        )
        if row[ENGINE]["unproven"] and self.plan.unproven == "adjudicate" and row.get("status") in ("valid", "invalid"):
            row["status"] = "needs_adjudication"
        if waiting:
            row["left_out"] = [each.check_id for each in waiting]
        return row

    def score(
        self,
        verdicts: Sequence[VerdictRecord],
        expected: Iterable[str] | None = None,
        left_out: Sequence[NotRun] = (),
        *,
        incomplete: bool = False,
    ) -> dict[str, Value]:
        """The row of `aggregate`, with `bounds` under its key `engine` if a verdict is unknown."""
        if expected is not None:
            verdicts = self._with_missing(verdicts, expected)
        key, summed = self._known_sum(verdicts, left_out, incomplete)
        row = self._rows.get(key)
        if row is None:
            row = self.aggregate(verdicts, None, left_out, incomplete=incomplete, summed=summed)
            if bounds := self.bounds(verdicts, left_out, incomplete=incomplete, summed=summed):
                row[ENGINE]["bounds"] = bounds
            if key is not None and len(self._rows) < _ROWS_LIMIT:
                self._rows[key] = row
        return dict(row)

    def bounds(
        self,
        verdicts: Sequence[VerdictRecord],
        left_out: Iterable[NotRun] = (),
        *,
        incomplete: bool = False,
        summed: Summed | None = None,
    ) -> dict[str, Value] | None:
        """The bounds of the row over every answer to its unknown verdicts; None if no verdict is unknown.

        `unknown` lists the checks without a verdict, `outcomes` the possible outcomes, `decided_by` the smallest set of
        checks whose answers decide the outcome. `overall_score` and each of `dimensions` are `{low, high, absent}`;
        each of `gates` has its possible `states` and the checks it is `decided_by`. If `exact` is false, the overall
        score and the outcomes are outer bounds. A skipped check that leaves no gate open decides no outcome. `summed`
        are the effects of these verdicts, if they are already known.
        """
        left_out = tuple(left_out)
        unasked = [each for each in left_out if each.is_skipped and not each.gates]
        waiting = [self.effects.missing(each.check_id) for each in left_out if each not in unasked]
        records = [*verdicts, *waiting]
        places = [place for place, verdict in enumerate(records) if is_unknown(verdict)]
        if not places and not unasked:
            return None
        names = [records[place].check_id for place in places]
        options = [_options(records[place]) for place in places]
        effects = [self._effects_of(each, incomplete) for each in options]
        known, _ = summed or self.summed(verdicts, incomplete=incomplete)
        stored = [*known, *(self.effects.of(verdict, incomplete) for verdict in waiting)]
        totals = self._totals(effect for place, effect in enumerate(stored) if place not in places)
        others = [self._effects_of(_options(self.effects.missing(each.check_id)), incomplete) for each in unasked]
        gates, dimensions = self._gate_bounds(totals, names, effects), self._rate_bounds(totals, [*effects, *others])
        order = {verdict.check_id: place for place, verdict in enumerate(records)}

        def row_of(answers: Sequence[str]) -> dict[str, Value]:
            completed, in_order = [*records], [*stored]
            for place, option, effect, answer in zip(places, options, effects, answers, strict=True):
                completed[place], in_order[place] = option[answer], effect[answer]
            sums = totals.copied().add(in_order[place] for place in places).ordered(order)
            return self._row(completed, in_order, unasked, incomplete=incomplete, totals=sums)

        is_exact = len(names) <= MAX_EXACT and not any(self.effects.credits)
        marks = [
            {answer: effect.mark(index, by_name=self._reads_names) for answer, effect in each.items()}
            for index, each in enumerate(effects)
        ]
        bounds = exact_bounds(names, row_of, marks, self.plan.headline) if is_exact else outer_bounds(names, gates)
        if unasked:  # their answers decide no outcome, but the score
            bounds |= {"exact": False, "overall_score": UNBOUNDED}
        names += [each.check_id for each in unasked]
        return {"unknown": names, **bounds, "gates": gates, "dimensions": dimensions}

    def _effects_of(self, options: Mapping[str, Value], incomplete: bool) -> dict[str, Effect]:
        return {answer: self.effects.of(record, incomplete) for answer, record in options.items()}

    def rates(self, totals: Totals) -> list[Score | None]:
        """The exact value of every dimension and rate; None for one without a counted verdict."""
        return [rate_value(rate, totals.gained[at], totals.of[at]) for at, rate in enumerate(self._rates)]

    def _totals(self, effects: Iterable[Effect]) -> Totals:
        return Totals(len(self.plan.gates), len(self._rates), len(self.plan.counts)).add(effects)

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
        missing = [self.effects.missing(check_id) for check_id in expected if check_id not in present]
        return [*verdicts, *missing] if missing else verdicts

    # Each of the following adds its values to `bindings`, for expressions, and to `ready`, as JSON data.

    def _judge_gates(
        self, totals: Totals, bindings: dict[str, Value], ready: dict[str, Value]
    ) -> dict[str, dict[str, Value]]:
        """The engine's result for every gate, `{state, reasons}`; with a pass rate also this `pass_rate`, and whether
        the gate `applies`: it passes without any eligible verdict where it does not."""
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
        results = {name: {"state": state_of(gate), "reasons": gate["reasons"]} for name, gate in gates.items()}
        for gate, part in enumerate(self.plan.gates):
            if part.name in self.pass_rates:
                applies = strongest[gate] >= COUNTS or results[part.name]["state"] != "passed"
                results[part.name] |= {"pass_rate": self.pass_rates[part.name], "applies": applies}
        return results

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
                context = {**self._base, "v": self.effects.record(verdict, VERDICT_FIELDS)}
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
            if path is not None and (len(path) == 1 or path[1] in ready[path[0]]):  # a hand-made plan names anything
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


def _options(verdict: VerdictRecord) -> dict[str, Value]:
    """The verdict with each possible answer."""
    return {answer: answered(verdict, answer) for answer in ANSWERS}


def _optional(value: Value) -> Optional:
    return NONE if value is None else Optional(value)
