"""A sweep: the exact values of one parameter at which the rows of a finished run change.

A row can change where the parameter equals a number of the row or a literal of the scorecard: a rate, a dimension, the
coverage, a confidence, a score, or what an expression compares with the parameter. Each of these values and the points
beside it are tried. A change elsewhere between two neighbours, where the parameter is computed with, is located by
bisection and reported as inexact; several of them are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Final, TypeGuard

from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.proving.program_parts import extract
from rulewright.reporting.stored_run import StoredRun, decision_of
from rulewright.whatif.columns import folded, reads_verdicts
from rulewright.whatif.rescoring import ScoringPolicy
from rulewright_runtime.aggregate.aggregation import Scorecard, Summed
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.ir import Program, free_locals, literal_value
from rulewright_runtime.plan.parameters import Parameter
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.verdicts import VerdictResult

_HALVINGS: Final = 40
_CLOSE: Final = 1 << 30
_SHARES: Final = 10_000
_SWEPT: Final = ("score", "number")
_COMPARISONS: Final = ("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_")
_WRAPPED: Final = 2  # nodes of a name, in a call of `score`


def sweep(run: StoredRun, policy: ScoringPolicy, name: str) -> list[dict[str, object]]:
    """Return the breakpoints of the parameter in ascending order: `{at, exact, side, transcripts}`. The transcripts
    change from that value on (`side` is `at`) or above it (`after`). Raises UsageError for a parameter that is unknown,
    not a number, or without bounds.
    """
    parameter = swept(policy.card.parameters, name)
    low, high = range_of(parameter)
    found: dict[tuple[Fraction, str, bool], list[str]] = {}
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
    for names in folded(run, at(low), name):
        row, verdicts = run.rows[names[0]], tuple(run.verdicts[names[0]].values())
        incomplete = bool(row.get("missing"))
        summed = at(low).summed(verdicts, incomplete=incomplete)
        numbers = {*_numbers(at(low), row, verdicts, summed), *written}
        if compared is not None:
            operands = compared.aggregate(verdicts, incomplete=incomplete, summed=summed)
            numbers.update(_exact(operands.values()))
        points = sorted({low, high, *(value for value in numbers if low < value < high)})
        for change in changes(points, partial(_told, at, row, verdicts, summed if same_effects else None)):
            found.setdefault(change, []).extend(names)
    place = {transcript: at_row for at_row, transcript in enumerate(run.rows)}
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[0][1] == "after"))
    return [
        {"at": float(value), "exact": exact, "side": side, "transcripts": sorted(names, key=place.__getitem__)}
        for (value, side, exact), names in ordered
    ]


def _told(
    at: Callable[[Fraction], Scorecard],
    row: JsonMapping,
    verdicts: Sequence[VerdictResult],
    summed: Summed | None,
    value: Fraction,
) -> object:
    card = at(value)
    waiting = [(name, card.waiting_for(name)) for name in row.get("left_out", ())]
    scored = card.aggregate(verdicts, None, waiting, incomplete=bool(row.get("missing")), summed=summed)
    return decision_of(scored, card.plan)


def changes(points: Sequence[Fraction], result: Callable[[Fraction], object]) -> Iterator[tuple[Fraction, str, bool]]:
    """Yield the changes of the result at the points and between them: the value, its side, and whether it is exact."""
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
        raise UsageError(f"the scorecard has no parameter `{name}`; it has {', '.join(map(_quoted, known)) or 'none'}")
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


def _quoted(name: str) -> str:
    return f"`{name}`"


def _numbers(
    card: Scorecard, row: JsonMapping, verdicts: Sequence[VerdictResult], summed: Summed
) -> Iterator[Fraction]:
    """Yield the numbers of a row that a parameter may be compared with: rates, confidences, the score and the
    coverage."""
    yield from (Fraction(rate.numerator, rate.denominator) for rate in card.rates(summed[1]) if rate is not None)
    yield from _exact((row.get(card.plan.headline), row[ENGINE]["coverage"], *{each.confidence for each in verdicts}))


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
    found = [each for program in programs for each in _beside(program, name)]
    outputs = [replace(card.output[0], name=str(at), value=each, guards=False) for at, each in enumerate(found)]
    return ScoringPolicy(replace(card, output=tuple(outputs)), policy.parameters).prepared() if outputs else None


def _beside(program: Program, name: str) -> Iterator[Program]:
    """Yield the operands of comparisons with a name."""
    free = free_locals(program)
    for node in program.nodes:
        if node.op != "call" or node.value not in _COMPARISONS:
            continue
        for one, other in (node.args, node.args[::-1]):
            operand = extract(program, other)
            is_name = len(extract(program, one).nodes) <= _WRAPPED and name in mentioned([extract(program, one)])
            if is_name and not free[other] and name not in mentioned([operand]):
                yield operand


def literals_of(programs: Iterable[Program]) -> set[Fraction]:
    """Return the numeric literals of programs."""
    constants = (literal_value(node.value) for program in programs for node in program.nodes if node.op == "const")
    return {Fraction(*exact_pair(value)) for value in constants if is_number(value)}


def is_number(value: object) -> TypeGuard[int | float | Score]:
    """Whether a value is a finite number, or a score."""
    finite = not isinstance(value, float) or value - value == 0
    return isinstance(value, int | float | Score) and not isinstance(value, bool) and finite
