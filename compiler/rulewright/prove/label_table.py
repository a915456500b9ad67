"""Whether a label table leaves a case out, and whether each of its rows can ever be the first that holds.

The labels of a scorecard over cases compare scores with thresholds, so only the place of each score among its
thresholds matters: one representative of every place decides the table exactly. Which places a score can take follows
from its formula: between the shares at which the formula changes it is a straight line.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import Scorer
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.evaluate import prepare
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.score import Score

COMPARISONS: Final = frozenset({"_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"})
MAX_CELLS: Final = 200_000
_SHARE: Final = "share"
_LINES: Final = frozenset({"_+_", "_-_", "-_", "score"})


@dataclass(frozen=True, slots=True)
class TableStudy:
    """What is known of a label table: scores for which no row holds (first found), the indices of rows that are never
    the first to hold, and why nothing could be proved, if so."""

    gaps: tuple[dict[str, float], ...]
    dead: tuple[int, ...]
    unproved: str | None = None


class _NotProved(Exception):  # noqa: N818 - it is a way out, no mistake
    """The table or a formula is outside of what this proof understands."""


def study(plan: CaseScorecardPlan, scorer: Scorer) -> TableStudy:
    """Decide the label table of `plan` for every case under the scorer's parameters."""
    names = [metric.name for metric in plan.metrics]
    try:
        thresholds: dict[str, set[Fraction]] = {name: set() for name in names}
        for row in plan.labels:
            _gather(row.when, names, scorer.parameters, thresholds)
        places = [
            sorted(_representatives(_image(metric.score, scorer.parameters), thresholds[metric.name]))
            for metric in plan.metrics
        ]
        if not all(places) or _product(len(each) for each in places) > MAX_CELLS:
            raise _NotProved("there are too many thresholds")
    except (_NotProved, EvaluationError) as reason:
        return TableStudy((), (), str(reason))
    return _decide(plan, scorer, names, places)


def _decide(plan: CaseScorecardPlan, scorer: Scorer, names: list[str], places: list[list[Fraction]]) -> TableStudy:
    rows = [prepare(row.when) for row in plan.labels]
    first = [False] * len(rows)
    gaps: list[dict[str, float]] = []
    for cell in itertools.product(*places):
        bindings = dict(scorer.parameters)
        bindings.update({name: Score(v.numerator, v.denominator) for name, v in zip(names, cell, strict=True)})
        try:
            at = next((index for index, row in enumerate(rows) if row(bindings) is True), None)
        except EvaluationError as error:
            return TableStudy((), (), str(error))
        if at is None:
            gaps.append({name: float(v) for name, v in zip(names, cell, strict=True)})
        else:
            first[at] = True
    return TableStudy(tuple(gaps), tuple(index for index, reached in enumerate(first) if not reached))


def _product(sizes: Iterable[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


# The label table: every comparison sets one score against a number.


def _gather(
    program: Program, names: list[str], parameters: Mapping[str, Any], thresholds: dict[str, set[Fraction]]
) -> None:
    used: set[int] = set()
    for node in program.nodes:
        if node.op == "call" and node.value in COMPARISONS:
            sides = [_side(program, at, names, parameters) for at in node.args]
            metrics = [side for side in sides if isinstance(side, str)]
            if len(metrics) > 1:
                raise _NotProved("a row compares two scores with each other")
            for side in sides:
                if metrics and isinstance(side, Fraction):
                    thresholds[metrics[0]].add(side)
            used.update(_below(program, node))
        elif node.op not in ("and", "or", "not", "cond", "name", "const", "call"):
            raise _NotProved(f"a row uses `{node.op}`")
    for at, node in enumerate(program.nodes):
        if at not in used and node.op in ("name", "call") and not (node.op == "call" and node.value in COMPARISONS):
            name = _name(node)
            if node.op == "call" or (name is not None and not isinstance(parameters.get(name), bool)):
                raise _NotProved("a row is more than comparisons of scores with thresholds")


def _side(program: Program, at: int, names: list[str], parameters: Mapping[str, Any]) -> str | Fraction:
    """A metric's name, or the number that the side is."""
    node = program.nodes[at]
    while node.op == "call" and node.value in ("score", "double"):
        node = program.nodes[node.args[0]]
    name = _name(node)
    if name in names:
        return str(name)
    value = parameters.get(name) if name is not None else _constant(node)
    if value is None or isinstance(value, bool):
        raise _NotProved("a row compares something that is neither a score nor a threshold")
    return _fraction(value)


def _below(program: Program, node: Node) -> Iterator[int]:
    waiting = list(node.args)
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(program.nodes[at].args)


def _name(node: Node) -> str | None:
    if node.op == "name" and len(node.value) == 1 and not node.value[0][1]:
        return str(node.value[0][0])
    return None


def _constant(node: Node) -> Any:
    """The number of a constant."""
    if node.op != "const" or node.value[0] not in ("int", "uint", "double", "score"):
        return None
    return Fraction(str(node.value[1]))


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Score):
        return Fraction(value.numerator, value.denominator)
    return value if isinstance(value, Fraction) else Fraction(repr(value))


# A score's formula: which values it takes as its share runs from 0 to 1.


@dataclass(frozen=True, slots=True)
class _Piece:
    """A value, or the open interval between two values."""

    low: Fraction
    high: Fraction


def _image(formula: Program, parameters: Mapping[str, Any]) -> list[_Piece]:
    root = len(formula.nodes) - 1
    breaks = {Fraction(0), Fraction(1)}
    _check_line(formula, root, parameters, breaks)
    cuts = sorted(cut for cut in breaks if 0 <= cut <= 1)
    evaluate = prepare(formula)

    def at(share: Fraction) -> Fraction:
        return _fraction(evaluate({**parameters, _SHARE: Score(share.numerator, share.denominator)}))

    pieces = [_Piece(value, value) for value in map(at, cuts)]
    for low, high in itertools.pairwise(cuts):
        one, two = at(low + (high - low) / 3), at(low + (high - low) * 2 / 3)
        step = two - one  # on an open piece the formula is a straight line: its ends follow from two points
        ends = sorted((one - step, two + step))
        pieces.append(_Piece(ends[0], ends[1]))
    return pieces


def _check_line(formula: Program, at: int, parameters: Mapping[str, Any], breaks: set[Fraction]) -> bool:
    """Whether the node depends on the share; refuses what is no straight line between the breaks it gathers."""
    node = formula.nodes[at]
    if node.op == "const":
        return False
    if node.op == "name":
        return _name(node) == _SHARE
    if node.op == "cond":
        return _check_choice(formula, node, parameters, breaks)
    if node.op != "call":
        raise _NotProved(f"a score uses `{node.op}`")
    depends = [_check_line(formula, arg, parameters, breaks) for arg in node.args]
    if not any(depends):
        return False
    if node.value in _LINES or (node.value == "_*_" and not all(depends)) or (node.value == "_/_" and not depends[1]):
        return True
    raise _NotProved(f"a score uses `{node.value}`")


def _check_choice(formula: Program, node: Node, parameters: Mapping[str, Any], breaks: set[Fraction]) -> bool:
    condition = formula.nodes[node.args[0]]
    name = _name(condition)
    if name is not None and isinstance(parameters.get(name), bool):
        return _check_line(formula, node.args[1 if parameters[name] else 2], parameters, breaks)
    if condition.op != "call" or condition.value not in COMPARISONS:
        raise _NotProved("a score depends on a condition that is no comparison")
    sides = [_side(formula, arg, [_SHARE], parameters) for arg in condition.args]
    breaks.update(side for side in sides if isinstance(side, Fraction))
    for arg in node.args[1:]:
        _check_line(formula, arg, parameters, breaks)
    return True


def _representatives(pieces: list[_Piece], thresholds: set[Fraction]) -> set[Fraction]:
    """A value of every place among the thresholds that the pieces reach."""
    found: set[Fraction] = set()
    for piece in pieces:
        if piece.low == piece.high:
            found.add(piece.low)
            continue
        inside = sorted(cut for cut in thresholds if piece.low < cut < piece.high)
        edges = [piece.low, *inside, piece.high]
        found.update(inside)
        found.update((low + high) / 2 for low, high in itertools.pairwise(edges))
    return found
