"""A sweep: the exact values of one parameter at which the rows of a finished run change.

A row can change where the parameter equals a number of the row or a literal of the scorecard: a rate, a dimension, the
coverage, a confidence, a score, or what an expression compares with the parameter. Each of these values and the points
next to it are tried. A change elsewhere between two neighbours, where the parameter is computed with, is located by
bisection and reported as inexact; several of them are one. A pass rate changes no row: it is swept over the results of
the gates.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeGuard

from msgspec import UNSET
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.policies.scorecards import SIZE, with_sizes
from rulewright.proving.program_parts import constants_of, extract, numbers_of, paths_of
from rulewright.reporting.stored_run import StoredRun, decision_of, skipped_checks, waiting_in
from rulewright.whatif.rescoring import ScoringPolicy, rescored
from rulewright_runtime.aggregate.aggregation import Scorecard, Summed
from rulewright_runtime.aggregate.effects import STOPS, Effect
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import MIRRORED, Program, free_locals
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scorecard import Parameter, ScorecardPlan, declared_parameters, mentioned
from rulewright_runtime.report.accumulators import Unresolved, gate_result
from rulewright_runtime.score import Score
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.verdicts import VerdictResult

_HALVINGS: Final = 40
_CLOSE: Final = 1 << 30
_STEP: Final = Fraction(1, _CLOSE)
_SHARES: Final = 10_000
_SWEPT: Final = ("score", "number")
Change = tuple[Fraction, str, bool]  # the value, its side, and whether it is exact
_WRAPPED: Final = 2  # nodes of a name, in a call of `score`


def sweep(run: StoredRun, policy: ScoringPolicy, name: str) -> list[dict[str, object]]:
    """Return the breakpoints of the parameter in ascending order: `{at, exact, side, transcripts}`. The transcripts
    change from that value on (`side` is `at`) or above it (`after`). Raises UsageError for a parameter that is unknown,
    not a number, or without bounds.
    """
    parameter = swept(policy.card.parameters, name)
    bounds = range_of(parameter)
    found: dict[Change, list[str]] = {}
    scorecard, same_effects = policy.prepared(), not reads_verdicts(policy.card, name)
    cards: dict[tuple[int, int], Scorecard] = {}  # a fraction's hash takes longer than that of its parts

    def at(value: Fraction) -> Scorecard:
        key = value.as_integer_ratio()
        if key not in cards:
            given = value if parameter.type == "score" else float(value)
            cards[key] = scorecard.having({name: given}, same_effects=same_effects)
        return cards[key]

    written = literals_of(programs_of(policy.card))
    compared = _compared(policy, name)
    for names in folded(run, at(bounds[0]), name):
        row, verdicts = run.rows[names[0]], tuple(run.verdicts[names[0]].values())
        incomplete = bool(row.get("missing"))
        summed = at(bounds[0]).summed(verdicts, incomplete=incomplete)
        numbers = {*_numbers(at(bounds[0]), row, verdicts, summed), *written}
        if compared is not None:
            operands = compared.aggregate(verdicts, incomplete=incomplete, summed=summed)
            numbers.update(_exact(operands.values()))
        results_at = partial(_results_at, run, at, row, verdicts, summed if same_effects else None)
        for change in changes(bounds, numbers, results_at):
            found.setdefault(change, []).extend(names)
    place = {transcript: at_row for at_row, transcript in enumerate(run.rows)}
    return breakpoints({change: sorted(names, key=place.__getitem__) for change, names in found.items()}, "transcripts")


def breakpoints(found: Mapping[Change, list[str]], what: str) -> list[dict[str, object]]:
    """Return changes in ascending order, each with the names of `what` changes there."""
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[0][1] == "after"))
    return [
        {"at": float(value), "exact": is_exact, "side": side, what: names} for (value, side, is_exact), names in ordered
    ]


def _results_at(
    run: StoredRun,
    at: Callable[[Fraction], Scorecard],
    row: JsonMapping,
    verdicts: Sequence[VerdictResult],
    summed: Summed | None,
    value: Fraction,
) -> object:
    card = at(value)
    waiting = waiting_in(card, row, skipped_checks(run, row))
    scored = card.aggregate(verdicts, None, waiting, incomplete=bool(row.get("missing")), summed=summed)
    return decision_of(scored, card.plan)


def changes(
    bounds: tuple[Fraction, Fraction], numbers: Iterable[Fraction], result: Callable[[Fraction], object]
) -> Iterator[Change]:
    """Yield the changes of the result at the numbers within the bounds and between them: the value, its side, and
    whether it is exact."""
    points = sorted({*bounds, *(each for each in numbers if bounds[0] < each < bounds[1])})
    at_low = result(points[0])
    for low, high in pairwise(points):
        step = (high - low) / _CLOSE
        after, before = low + step, high - step
        at_after, at_before, at_high = result(after), result(before), result(high)
        if at_after != at_low:
            yield low, "after", True
        if at_after != at_before:
            yield _narrowed(after, before, result), "at", False
        if at_before != at_high:
            yield high, "at", True
        at_low = at_high


def _narrowed(low: Fraction, high: Fraction, result: Callable[[Fraction], object]) -> Fraction:
    """Return an approximate value between two others at which the result changes."""
    at_low = result(low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if result(middle) == at_low else (low, middle)
    return high


def swept(parameters: Iterable[Parameter], name: str) -> Parameter:
    """Return the parameter to sweep. Raises UsageError if it is unknown or not a number."""
    known = {parameter.name: parameter for parameter in parameters}
    if name not in known:
        raise UsageError(f"unknown parameter `{name}`; {declared_parameters([*known])}")
    if known[name].type not in _SWEPT:
        raise UsageError(f"`{name}` is not a number that can be swept; try its values with `--set`")
    return known[name]


def range_of(parameter: Parameter) -> tuple[Fraction, Fraction]:
    """Return the range of a sweep. Raises UsageError for a parameter without bounds."""
    least, most = parameter.minimum, parameter.maximum
    if parameter.type == "score":
        least, most = 0 if least is None else least, 1 if most is None else most
    if least is None or most is None:
        raise UsageError(f"`{parameter.name}` has no `min` and `max` to sweep between; try its values with `--set`")
    return Fraction(str(least)), Fraction(str(most))


def _numbers(
    card: Scorecard, row: JsonMapping, verdicts: Sequence[VerdictResult], summed: Summed
) -> Iterator[Fraction]:
    """Yield the numbers of a row that a parameter may be compared with: rates, confidences, the score and the
    coverage."""
    yield from (Fraction(rate.numerator, rate.denominator) for rate in card.rates(summed[1]) if rate is not None)
    coverage = (row[ENGINE].get(name) for name in ("coverage", "coverage_at_most"))
    yield from _exact((row.get(card.plan.headline), *coverage, *{each.confidence for each in verdicts}))


def _exact(values: Iterable[object]) -> Iterator[Fraction]:
    """Yield the numbers among the values, and the shares that they may have been before they were rounded."""
    for value in values:
        if is_number(value):
            yield from _with_share(value)


@lru_cache(maxsize=4096)
def _with_share(value: float | Score) -> tuple[Fraction, Fraction]:
    return Fraction(repr(value)), Fraction(repr(value)).limit_denominator(_SHARES)


def _compared(policy: ScoringPolicy, name: str) -> Scorecard | None:
    """Return a scorecard whose outputs are what expressions compare with the parameter; None without any."""
    card = policy.card
    programs = [part.value for part in (*card.variables, *card.output)]
    found = [each for program in programs for each in _compared_with(program, name)]
    outputs = [replace(card.output[0], name=str(at), value=each, guards=False) for at, each in enumerate(found)]
    return ScoringPolicy(replace(card, output=tuple(outputs)), policy.parameters).prepared() if outputs else None


def _compared_with(program: Program, name: str) -> Iterator[Program]:
    """Yield the operands of comparisons with a name."""
    free = free_locals(program)
    for node in program.nodes:
        if node.op != "call" or node.value not in MIRRORED:
            continue
        for one, other in (node.args, node.args[::-1]):
            operand = extract(program, other)
            is_name = len(extract(program, one).nodes) <= _WRAPPED and name in mentioned([extract(program, one)])
            if is_name and not free[other] and name not in mentioned([operand]):
                yield operand


def literals_of(programs: Iterable[Program]) -> set[Fraction]:
    """Return the numeric literals of programs."""
    return {*numbers_of(constants_of(programs))}


def is_number(value: object) -> TypeGuard[int | float | Score]:
    """Whether a value is a finite number, or a score."""
    finite = not isinstance(value, float) or value - value == 0
    return isinstance(value, int | float | Score) and not isinstance(value, bool) and finite


Path = tuple[str, ...]


class _ColumnsRead(NamedTuple):
    """The rates, counts and sizes of lists, by index, that outputs depending on the parameter read."""

    rates: tuple[int, ...]
    counts: tuple[int, ...]
    lists: tuple[int, ...]


class _VerdictPart(NamedTuple):
    """The contribution of one verdict to a row: its effect on what is read, without the name of its check."""

    effect: Effect
    undecided: tuple[str, ...]
    eligible: bool
    resolved: bool
    word: str  # FAIL, or undecided; empty for a verdict that clears a row
    cause: str


def folded(run: StoredRun, card: Scorecard, name: str) -> list[list[str]]:
    """Return the transcripts of a run in groups whose members change together with the parameter."""
    read = _columns_read(card.plan, name)
    if read is None:
        return [[transcript] for transcript in run.rows]
    codes = _Codes(card, read)
    groups: dict[Any, list[str]] = {}
    for transcript, row in run.rows.items():
        if row.get("missing"):
            groups[transcript] = [transcript]
            continue
        key = codes.row(run.verdicts[transcript].values())
        groups.setdefault((key, tuple(row.get("left_out", ()))), []).append(transcript)
    return list(groups.values())


class _Codes:
    """Folds rows: verdicts with the same contribution share a code, and rows with the same codes are computed once."""

    def __init__(self, card: Scorecard, read: _ColumnsRead) -> None:
        self.card = card
        self.read = read
        self.codes: dict[object, int] = {}
        self.parts: list[_VerdictPart] = []
        self.places: dict[_VerdictPart, int] = {}
        self.known: dict[tuple[int, ...], object] = {}

    def row(self, verdicts: Iterable[VerdictResult]) -> Any:
        """Return the folded row of some verdicts."""
        key_of, codes = self.card.effects.key, self.codes
        found = []
        for verdict in verdicts:
            key = key_of(verdict) if verdict.cause is None else None
            code = codes.get(key)
            found.append(self._code(key, verdict) if code is None else code)
        found.sort()
        row = tuple(found)
        if row not in self.known:
            self.known[row] = self._folded([self.parts[code] for code in row])
        return self.known[row]

    def _code(self, key: Any, verdict: VerdictResult) -> int:
        part = self._part(self.card.effects.effect(verdict), verdict)
        if part not in self.places:
            self.places[part] = len(self.parts)
            self.parts.append(part)
        if key is not None:
            self.codes[key] = self.places[part]
        return self.places[part]

    def _part(self, does: Effect, verdict: VerdictResult) -> _VerdictPart:
        applies, read = verdict.eligible is not False, self.read
        clear = verdict.verdict in ("PASS", "NOT_APPLICABLE")
        effect = replace(
            does,
            check_id="",
            hits=_among(read.rates, does.hits),
            misses=_among(read.rates, does.misses),
            credits=tuple([each for each in does.credits if each[0] in read.rates]),
            counts=_among(read.counts, does.counts),
            lists=_among(read.lists, does.lists),
            flag=None,
            undecided=(),
        )
        return _VerdictPart(
            effect,
            tuple([f"{each['place']} {each['reason']}" for each in does.undecided]),
            applies,
            applies and verdict.verdict in ("PASS", "FAIL"),
            "" if clear or not applies else verdict.verdict,
            f"{verdict.check_id} {verdict.verdict}" if verdict.cause is not None else "",
        )

    def _folded(self, parts: Sequence[_VerdictPart]) -> object:
        _, totals = self.card.summed_of([part.effect for part in parts])
        eligible, resolved = sum(part.eligible for part in parts), sum(part.resolved for part in parts)
        words = {part.word for part in parts}
        return (
            tuple(totals.strongest),
            tuple(map(len, totals.leaving_open)),
            tuple(self.card.rates(totals)),
            tuple(totals.counts),
            tuple(sorted(listed for part in parts for listed in part.effect.lists)),
            tuple([each for part in parts for each in part.undecided]),
            Fraction(resolved, eligible) if eligible else None,
            any(strength == STOPS and part.word != "FAIL" for part in parts for _, strength in part.effect.gates),
            "FAIL" in words,
            bool(words - {"FAIL", ""}),
            tuple([part.cause for part in parts if part.cause]),
        )


def _among(read: Collection[int], indices: Iterable[int]) -> tuple[int, ...]:
    return tuple([each for each in indices if each in read])


def reads_verdicts(plan: ScorecardPlan, name: str) -> bool:
    """Whether a condition over single verdicts may read a parameter."""
    return name in mentioned(programs_of((plan.gates, plan.dimensions, plan.rates, plan.counts, plan.lists)))


def _columns_read(plan: ScorecardPlan, name: str) -> _ColumnsRead | None:
    """Return what the deciding outputs that depend on a parameter read; None if a condition over single verdicts reads
    the parameter, or if they read more than a folded row holds."""
    if reads_verdicts(plan, name):
        return None
    programs = {part.name: part.value for part in (*plan.variables, *plan.output)}
    paths: set[Path] = set()
    for shown in filter(None, plan.shown):
        reach = _reach(shown, programs, {part.name for part in plan.variables})
        if reach is None:
            return None
        if any(path[0] == name for path in reach):
            paths |= reach
    if any(path[0] in ("lists", "undecided", "verdicts", "flags") or path[-1] == "reasons" for path in paths):
        return None
    if any(path in (("gates",), ("rates",), ("counts",)) or (path[0] == "gates" and len(path) < 3) for path in paths):
        return None
    rates = [
        *(("dimensions", each.rate.name) for each in plan.dimensions),
        *(("rates", each.name) for each in plan.rates),
    ]
    kept = [at for at, rate in enumerate(rates) if rate in paths or rate[:1] in paths]
    lists = [at for at, listed in enumerate(plan.lists) if (SIZE, "lists", listed.name) in paths]
    counts = [at for at, count in enumerate(plan.counts) if ("counts", count.name) in paths]
    return _ColumnsRead(tuple(kept), tuple(counts), tuple(lists))


def _reach(name: str, programs: Mapping[str, Program], variables: set[str]) -> set[Path] | None:
    """Return the paths that an output reads, directly or through variables; None if unknown."""
    found: set[Path] = set()
    pending, seen = [name], set()
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        paths = paths_of(with_sizes(programs[here]))
        if paths is None:
            return None
        found |= set(paths)
        pending += [path[0] for path in paths if path[0] in variables]
    return found


# A pass rate.


def is_pass_rate(card: ScorecardPlan, name: str) -> bool:
    """Whether a parameter is read by the pass rate of a gate."""
    return name in mentioned(programs_of(tuple([gate.pass_rate for gate in card.gates])))


def sweep_pass_rate(run: StoredRun, policy: ScoringPolicy, name: str) -> list[JsonObject]:
    """Return the breakpoints as `sweep` does; no transcript changes, but `gates` do: a mapping of names to
    `{before, after}`. An exact value is also a `fraction`. Raises UsageError for a parameter that is not a number with
    bounds, or that other conditions read as well.
    """
    parameter, card = swept(policy.card.parameters, name), policy.prepared()
    bounds = range_of(parameter)
    gates = [replace(gate, pass_rate=UNSET) for gate in policy.card.gates]
    if name in mentioned(programs_of(replace(policy.card, gates=tuple(gates)))):
        raise UsageError(f"`{name}` is a pass rate and read by other conditions too: try its values with `--set`")
    found, refused = Unresolved(), run.summary["refused"]["count"]
    for row in rescored(run, card).values():
        found.add(row)

    def results(value: Fraction) -> dict[str, str]:
        try:
            rates = card.having({name: value if parameter.type == "score" else float(value)}).pass_rates
        except PlanError:  # a rate of 0, for example
            return {}
        for gate in found.gates.keys() & rates.keys():
            found.gates[gate].pass_rate = rates[gate]
        rated = found.result(refused)["gates"]
        return {gate: gate_result(each) for gate, each in rated.items() if gate in rates}

    shares = {*_shares_of(found.result(refused)["gates"].values()), *literals_of(programs_of(policy.card.gates))}
    return [each for change in changes(bounds, shares, results) for each in _breakpoint(*change, results)]


def _shares_of(gates: Iterable[JsonMapping]) -> Iterator[Fraction]:
    """Yield the least and the greatest share of transcripts that may pass each gate, of the run and of each model."""
    rates = [gate["pass_rate"] for gate in gates if "pass_rate" in gate]
    for each in (part for rate in rates for part in (rate, *rate["models"].values())):
        if of := each["passed"] + each["failed"] + each["open"]:
            yield from (Fraction(each["passed"], of), Fraction(each["passed"] + each["open"], of))


def _breakpoint(
    value: Fraction, side: str, is_exact: bool, results: Callable[[Fraction], Mapping[str, str]]
) -> Iterator[JsonObject]:
    before, after = (results(value + _STEP * steps) for steps in ((-1, 0) if side == "at" else (0, 1)))
    gates = {
        gate: {"before": before[gate], "after": result}
        for gate, result in after.items()
        if before.get(gate, result) != result
    }
    if gates:
        about = {"at": float(value), "exact": is_exact, "side": side, "transcripts": []}
        yield {**about, **({"fraction": str(value)} if is_exact else {}), "gates": gates}
