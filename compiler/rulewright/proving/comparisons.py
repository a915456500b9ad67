"""What comparisons depend on: those of one variable on the numbers or texts at which their result changes, those of two
numbers on their order, those of exact sums on the value of one sum.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple

from rulewright.expression.types import SCORE
from rulewright.proving.domains import Domain, Domains, NumberRange, Path, wholes_at
from rulewright.proving.program_parts import COMPARISONS, EQUALITY, exact_of, extract, path_at, paths_of, value_of
from rulewright.proving.static_types import typed
from rulewright.proving.sums import Sum, Terms, bounds_of
from rulewright_runtime.ir import CONNECTIVES, MIRRORED, NUMBERS, Node, Program, free_locals
from rulewright_runtime.score import Score
from rulewright_runtime.values import Optional, Value

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

    def is_met(self, span: NumberRange) -> bool:
        """Whether the comparison holds where the sum is in one of its cells."""
        relation = EQUAL if span.low == span.high == self.cut else LESS if span.high <= self.cut else GREATER
        return bool(self.holds & relation)


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
    relations = _RELATIONS[node.value if sides[0] == left else MIRRORED[node.value]]
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
    terms = sorted(total.factors.items())
    if not terms or ("int" in kinds and not all(_is_small(bounds_of(domain)) for domain in reads.values())):
        return None
    first = terms[0][1]
    holds = _RELATIONS[node.value if first > 0 else MIRRORED[node.value]]
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
    if node.op != "call" or (whole and node.value == "_/_"):
        return None
    parts = [part for arg in node.args if (part := _sum(program, arg, whole)) is not None]
    found = _calculated(str(node.value), parts) if len(parts) == len(node.args) else None
    is_large = found is not None and any(abs(each) > _LARGEST_FACTOR for each in found.factors.values())
    return None if whole and is_large else found


def _calculated(function: str, sums: Sequence[Sum]) -> Sum | None:
    """The sum that an operation gives; None for others."""
    match function, sums:
        case "-_", [one]:
            return one.times(Fraction(-1))
        case "_+_", [one, two]:
            return one.plus(two)
        case "_-_", [one, two]:
            return one.plus(two, -1)
        case "_*_", [one, two] if not (one.factors and two.factors):
            return one.times(two.constant) if one.factors else two.times(one.constant)
        case "_/_", [one, two] if two.constant and not two.factors:
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
    """A constant number as a sum; a double next to a score is its shortest decimal."""
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


_MOST_FORMS: Final = 64


class BeyondAtoms(Exception):  # noqa: N818  it is a way out, no mistake
    """The cuts of the atom can't be determined."""


class Cuts:
    """Collects the cuts of an atom of one variable; every comparison compares straight lines."""

    def __init__(self, program: Program, path: Path, domain: Domain) -> None:
        self.program = program
        self.path = path
        self.domain = domain
        self.cuts: set[object] = set()

    def collect(self) -> set[Value]:
        """The cuts of the atom. Raises BeyondAtoms."""
        self.truth(len(self.program.nodes) - 1)
        return self.cuts

    def truth(self, at: int) -> None:
        """Collect the cuts of a node used as a condition. Raises BeyondAtoms."""
        node = self.program.nodes[at]
        if node.op in CONNECTIVES:
            for arg in node.args:
                self.truth(arg)
        elif self.domain.kind == "texts":
            self.contents(at)
        elif node.op == "call" and node.value in COMPARISONS:
            self.comparison(*node.args, ordered=node.value not in EQUALITY)
        elif node.op == "call" and node.value == "@in":
            self.membership(*node.args)
        elif not (self.is_constant(at) or self.is_presence(at)):
            raise BeyondAtoms

    def is_presence(self, at: int) -> bool:
        """Whether a node tests the presence of the variable."""
        node = self.program.nodes[at]
        if node.op == "call" and node.value == "hasValue":
            return self.reads(node.args[0])
        return node.op == "has" and self.reads(at)

    def contents(self, at: int) -> None:
        """Collect the texts of a condition on a list of texts that depends only on the set of its members. Raises
        BeyondAtoms."""
        node = self.program.nodes[at]
        if node.op in ("exists", "all") and self.reads(node.args[0]) and len(node.value) == 1:
            self.element_condition(node.args[1], node.value[0])
        elif node.op == "call" and node.value == "@in" and self.reads(node.args[1]) and self.is_constant(node.args[0]):
            self.add_texts(value_of(self.program, node.args[0]))
        elif not (self.is_constant(at) or self.is_presence(at) or self.is_emptiness(node)):
            raise BeyondAtoms

    def element_condition(self, at: int, slot: int) -> None:
        """Collect the constants that a macro compares each text with. Raises BeyondAtoms."""
        node = self.program.nodes[at]
        if node.op in CONNECTIVES:
            for arg in node.args:
                self.element_condition(arg, slot)
        elif node.op == "call" and node.value in (*EQUALITY, "@in"):
            for arg in node.args:
                local = self.program.nodes[arg]
                if self.is_constant(arg):
                    self.add_texts(value_of(self.program, arg))
                elif local.op != "local" or local.value != slot or (node.value == "@in" and arg == node.args[1]):
                    raise BeyondAtoms
        elif not self.is_constant(at):
            raise BeyondAtoms

    def is_emptiness(self, node: Node) -> bool:
        """Whether a node compares the size of the list with 0, or whether it is at least 1."""
        if node.op != "call" or node.value not in COMPARISONS:
            return False
        left, right = (self.program.nodes[arg] for arg in node.args)
        if left.op != "call" or left.value != "size" or not self.reads(left.args[0]) or right.op != "const":
            return False
        return right.value == ["int", "0"] or (right.value == ["int", "1"] and node.value in ("_>=_", "_<_"))

    def comparison(self, left: int, right: int, *, ordered: bool) -> None:
        """Collect the cuts or texts of a comparison. Raises BeyondAtoms."""
        if self.domain.kind == "string":
            self.texts(left, right, ordered)
            return
        lines, others = self.lines(left), self.lines(right)
        if len(lines) * len(others) > _MOST_FORMS:
            raise BeyondAtoms
        self.meet(lines, others)

    def meet(self, lines: Iterable[Sum], others: Iterable[Sum]) -> None:
        """Collect the numbers at which lines meet."""
        for one, two in product(lines, others):
            difference = one.plus(two, -1)
            self.cuts.update(-difference.constant / factor for factor in difference.factors.values())

    def texts(self, left: int, right: int, ordered: bool) -> None:
        """Collect the texts of a comparison. Raises BeyondAtoms."""
        if ordered:
            raise BeyondAtoms
        for at in (left, right):
            if self.is_constant(at):
                self.add_texts(value_of(self.program, at))
            elif not self.reads_value(at):
                raise BeyondAtoms

    def membership(self, item: int, container: int) -> None:
        """Collect the members of a constant list. Raises BeyondAtoms."""
        items = value_of(self.program, container) if self.is_constant(container) else None
        if not isinstance(items, (list, tuple)):
            raise BeyondAtoms
        if self.domain.kind == "string":
            if not self.reads_value(item):
                raise BeyondAtoms
            self.add_texts(items)
            return
        self.meet(self.lines(item), [line for each in items for line in self.thresholds(each)])

    def add_texts(self, value: object) -> None:
        """Add a text, that of an optional, or those of a list."""
        for each in value if isinstance(value, (list, tuple)) else (value,):
            text = each.value if isinstance(each, Optional) and each.present else each
            if isinstance(text, str):
                self.cuts.add(text)

    def lines(self, at: int) -> list[Sum]:
        """The sums of the variable that a number is between the collected cuts. Raises BeyondAtoms."""
        if self.reads_value(at):
            return [Sum({self.path: Fraction(1)}, Fraction(0))]
        if self.is_constant(at):
            return self.thresholds(value_of(self.program, at))
        node = self.program.nodes[at]
        if node.op == "cond":
            self.truth(node.args[0])
            return self.limited([*self.lines(node.args[1]), *self.lines(node.args[2])])
        if node.op != "call":
            raise BeyondAtoms
        parts = [self.lines(arg) for arg in node.args]
        if node.value == "score":
            self.meet(parts[0], [Sum({}, Fraction(0)), Sum({}, Fraction(1))])
            return parts[0]
        if node.value == "orValue":
            return self.limited([*parts[0], *parts[1]])
        if self.domain.kind != "score" or not all(parts):  # ints overflow and doubles round
            raise BeyondAtoms
        return self.limited([_calculated(str(node.value), sums) for sums in product(*parts)])

    def limited(self, lines: Iterable[Sum | None]) -> list[Sum]:
        """The distinct lines. Raises BeyondAtoms."""
        found: dict[tuple[Fraction, ...], Sum] = {}
        for each in lines:
            if each is None:
                raise BeyondAtoms
            found[*each.factors.values(), each.constant] = each
        if len(found) > _MOST_FORMS:
            raise BeyondAtoms
        return list(found.values())

    def thresholds(self, value: object) -> list[Sum]:
        """The values at which a variable passes a constant. A double next to a score is its shortest decimal; an int
        next to a double is compared as its nearest double."""
        return [Sum({}, each) for each in sorted(self._thresholds(value))]

    def _thresholds(self, value: Value) -> set[Fraction]:
        if isinstance(value, Optional):
            return self._thresholds(value.value) if value.present else set()
        shortest = exact_of(value)
        if shortest is None:
            return set()
        if self.domain.kind == "score":
            return {shortest}
        if isinstance(value, float) and self.domain.kind != "double":
            low, high = wholes_at(value)
            return {shortest} if low > high else {Fraction(low), Fraction(high)}
        return {shortest, Fraction(float(value))}

    def reads(self, at: int) -> bool:
        node = self.program.nodes[at]
        if node.op == "opt_map" and not node.at:  # the conversion of an optional score
            at = node.args[0]
        return path_at(self.program, at) == self.path

    def reads_value(self, at: int) -> bool:
        """Whether a node is the variable, also if unwrapped from its optional or converted to a score."""
        node = self.program.nodes[at]
        if node.op == "call" and node.value in ("value", "score") and self.domain.kind == "score":
            return self.reads_value(node.args[0])
        if node.op == "call" and node.value == "value":
            return self.reads_value(node.args[0])
        return self.reads(at)

    def is_constant(self, at: int) -> bool:
        """Whether a node reads neither a variable nor a name bound outside it."""
        if self.program.nodes[at].op == "const":
            return True
        part = extract(self.program, at)
        return paths_of(part) == [] and not free_locals(part)[-1]
