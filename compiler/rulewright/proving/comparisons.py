"""Comparisons of several numbers: those of two depend on their order, those of exact sums on the value of one sum."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from rulewright.expression.types import SCORE
from rulewright.proving.domains import Domain, Domains, Path
from rulewright.proving.program_parts import COMPARISONS, exact_of, extract, path_at, paths_of, value_of
from rulewright.proving.static_types import typed
from rulewright.proving.sums import NumberRange, Sum, Terms, bounds_of
from rulewright_runtime.ir import NUMBERS, Node, Program
from rulewright_runtime.score import Score

_EXTREMES: Final = {"min": "_<=_", "max": "_>=_"}
_MOST_ITEMS: Final = 6  # of which the least is a choice, whose text doubles with each item
_LARGEST_FACTOR: Final = 2**15  # of ints, so that sums stay below 2**63
_LARGEST_WHOLE: Final = 2**32
LESS: Final = 1
EQUAL: Final = 2
GREATER: Final = 4
UNORDERED: Final = 8  # one of two doubles is not a number
_RELATIONS: Final = {
    "_<_": LESS, "_<=_": LESS | EQUAL, "_>_": GREATER, "_>=_": GREATER | EQUAL, "_==_": EQUAL,
    "_!=_": LESS | GREATER | UNORDERED,
}  # fmt: skip


class Order(NamedTuple):
    """Two numbers, their possible relations, and the relations for which a comparison holds: `LESS`, `EQUAL`, `GREATER`
    and `UNORDERED` as bits."""

    pair: tuple[Path, Path]
    possible: int
    holds: int


class Compared(NamedTuple):
    """A sum of exact numbers that is compared with `cut`, and the relations for which the comparison holds."""

    terms: Terms
    cut: Fraction
    holds: int


def order_of(program: Program, reads: Mapping[Path, Domain]) -> Order | None:
    """The order of the two numbers that a comparison compares, sorted by path; None for other comparisons."""
    node = program.nodes[-1]
    sides = [path_at(program, _unchecked(program, arg)) for arg in node.args]
    if node.op != "call" or node.value not in COMPARISONS or set(sides) != set(reads) or len(reads) != 2:
        return None
    one, two = (reads[path] for path in sorted(reads))
    comparable = one.kind == two.kind and one.kind in NUMBERS  # a value checked to be a score is a score
    if not comparable or any(each.optional or each.null or each.absent for each in (one, two)):
        return None
    left, right = sorted(reads)
    relations = _RELATIONS[node.value]
    if sides[0] != left:
        relations = relations & (EQUAL | UNORDERED) | (relations & LESS and GREATER) | (relations & GREATER and LESS)
    possible = LESS | EQUAL | GREATER | (UNORDERED if one.kind == "double" else 0)
    return Order((left, right), possible, relations & possible)


def sum_of(program: Program, reads: Mapping[Path, Domain]) -> Compared | None:
    """The sum that a comparison of exact numbers, all scores or all ints, compares with a constant; None for others."""
    node, kinds = program.nodes[-1], {domain.kind for domain in reads.values()}
    if node.op != "call" or node.value not in COMPARISONS or len(kinds) > 1 or not all(map(bounds_of, reads.values())):
        return None
    left, right = (_sum(program, arg, "int" in kinds) for arg in node.args)
    if left is None or right is None:
        return None
    total = left.plus(right, -1)
    terms = tuple([(path, factor) for path, factor in sorted(total.factors.items()) if factor])
    if not terms or ("int" in kinds and not all(_is_small(bounds_of(domain)) for domain in reads.values())):
        return None
    first, holds = terms[0][1], _RELATIONS[node.value]
    if first < 0:
        holds = holds & EQUAL | (holds & LESS and GREATER) | (holds & GREATER and LESS)
    return Compared(tuple([(path, factor / first) for path, factor in terms]), -total.constant / first, holds)


def _is_small(bounds: NumberRange | None) -> bool:
    """Whether sums of ints within these bounds don't overflow."""
    return bounds is not None and max(-bounds.low, bounds.high) <= _LARGEST_WHOLE


def _sum(program: Program, at: int, whole: bool) -> Sum | None:
    """The linear sum that a node computes; None for others, and for `whole` numbers if it could round or overflow."""
    node, path = program.nodes[at], path_at(program, _unchecked(program, at))
    if path is not None:
        return Sum({path: Fraction(1)}, Fraction(0))
    if paths_of(extract(program, at)) == []:
        return _constant_sum(value_of(program, at), whole)
    if node.op == "call" and node.value == "value" and not whole:
        return _mean(program, program.nodes[node.args[0]])
    parts = [_sum(program, arg, whole) for arg in node.args] if node.op == "call" else []
    match node.value, parts:
        case "-_", [Sum() as one]:
            return one.times(Fraction(-1))
        case "_+_" | "_-_", [Sum() as one, Sum() as two]:
            return one.plus(two, 1 if node.value == "_+_" else -1)
        case "_*_", [Sum() as one, Sum() as two] if not (one.factors and two.factors):
            product = one.times(two.constant) if one.factors else two.times(one.constant)
            return None if whole and any(abs(each) > _LARGEST_FACTOR for each in product.factors.values()) else product
        case "_/_", [Sum() as one, Sum() as two] if two.constant and not (whole or two.factors):
            return one.times(1 / two.constant)
    return None


def _mean(program: Program, node: Node) -> Sum | None:
    """The sum or mean that a node computes of a list of scores, with constant weights; None for others."""
    items = program.nodes[node.args[0]] if node.op == "call" and node.value in ("sum", "mean", "wmean") else None
    if items is None or items.op != "list" or items.value or not items.args:
        return None
    given = value_of(program, node.args[1]) if node.value == "wmean" else [1] * len(items.args)
    weights = [_constant_sum(each, whole=False) for each in given] if isinstance(given, list | tuple) else []
    parts = [_sum(program, arg, whole=False) for arg in items.args]
    total, found = Fraction(0), Sum({}, Fraction(0))
    for part, weight in zip(parts, weights, strict=False):
        if part is None or weight is None or weight.constant < 0:
            return None
        total, found = total + weight.constant, found.plus(part.times(weight.constant))
    if not total or len(parts) != len(weights):
        return None
    return found if node.value == "sum" else found.times(1 / total)


def _constant_sum(value: object, whole: bool) -> Sum | None:
    """A constant number as a sum; a double beside a score is its shortest decimal."""
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float | Score):
        return None
    exact = exact_of(value)
    return None if exact is None or (whole and abs(exact) > _LARGEST_FACTOR) else Sum({}, exact)


def _unchecked(program: Program, at: int) -> int:
    """The node, or the argument of an implicit conversion to a score."""
    node = program.nodes[at]
    return node.args[0] if node.op == "call" and node.value == "score" and not node.at else at


def with_choices(program: Program, domains: Domains) -> Program:
    """The program with a choice in place of the least or greatest of some scores: `a <= b ? a : b` for
    `min([a, b]).value()`."""
    if not any(node.op == "call" and node.value in _EXTREMES for node in program.nodes):
        return program
    types, nodes, index = typed(program, domains), list[Node](), list[int]()
    for node in program.nodes:
        extreme = program.nodes[node.args[0]] if node.op == "call" and node.value == "value" else node
        items = program.nodes[extreme.args[0]] if extreme.op == "call" and extreme.value in _EXTREMES else node
        sums = [types[arg].type == SCORE and _sum(program, arg, whole=False) for arg in items.args]
        if items is node or items.op != "list" or items.value or not all(sums) or not 0 < len(sums) <= _MOST_ITEMS:
            index.append(len(nodes))
            nodes.append(Node(node.op, tuple([index[arg] for arg in node.args]), node.value, node.at))
            continue
        best, *others = [index[arg] for arg in items.args]
        for other in others:
            test = Node("call", (best, other), _EXTREMES[extreme.value], node.at)
            nodes += [test, Node("cond", (len(nodes), best, other), None, node.at)]
            best = len(nodes) - 1
        index.append(best)
    return program.having(nodes)
