"""Splits conditions into connectives (and, or, not, conditionals) and atoms, most of which read a single variable.

An atom's value can change only at the cuts of its variable: the numbers at which a comparison changes, the texts it
compares with. A comparison of two numbers depends on their order. Any other atom of several variables, and any atom
that this proof doesn't support, is opaque: it may have any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

from rulewright.expression.types import BOOL, DOUBLE, INT, STRING, Type
from rulewright.proving.domains import MAX_TEXTS, Domain, Domains, Path, wholes_at
from rulewright.proving.program_parts import extract, is_optional, path_at, paths_of, shape, unabridged, written
from rulewright.proving.static_types import ORDER, typed
from rulewright.proving.sums import NumberRange, Sum, Terms, bounds_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import CONNECTIVES, NUMBERS, Node, Program, free_locals, literal_value
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import Optional, Value

COMPARISONS: Final = frozenset(("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"))
MIRRORED: Final = {
    "_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_",
}  # fmt: skip
_EQUALITY: Final = frozenset(("_==_", "_!=_"))
_STRICT: Final = frozenset(("_+_", "_-_", "_*_", "_/_", "-_", "score"))
_MOST_FORMS: Final = 64
_TERM_DOMAINS: Final[Mapping[Type | None, Domain]] = {
    INT: Domain("int"),
    DOUBLE: Domain("double"),
    STRING: Domain("string"),
}
_MOST_CHOICES: Final = 200

# A formula: ("atom", number), ("const", bits), ("and" | "or", parts), ("not", part), ("cond", parts), ("same", parts)
Formula: TypeAlias = "tuple[str, Any]"
TRUE: Final = 1
FALSE: Final = 2
ERROR: Final = 4
ANYTHING: Final = TRUE | FALSE | ERROR
_LARGEST_JOINT: Final = 4096
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


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A part of a condition: its program and the variables it reads; `opaque` is the reason why it can't be decided or
    shown by an input, or None. A comparison of several numbers depends on a sum that is `compared`, or on the `order`
    of two numbers.
    """

    program: Program
    reads: tuple[Path, ...]
    opaque: str | None
    order: Order | None = None
    compared: Compared | None = None
    total: bool = False  # whether it has a value for every input


@dataclass(frozen=True, slots=True)
class Term:
    """A part of conditions that has a variable in its place, because only what it computes can be divided into cells:
    `reason` says why no input can be made from one."""

    program: Program
    domain: Domain
    reason: str


@dataclass(slots=True)
class Atoms:
    """The distinct atoms of several conditions over the same variables, with the cuts of every variable."""

    domains: Domains
    by_terms: bool = False  # whether what a part computes may be divided into cells
    atoms: list[Atom] = field(default_factory=list)
    cuts: dict[Path, set[Value]] = field(default_factory=dict)
    found: dict[Path, Domain] = field(default_factory=dict)
    summed: dict[Path, Domain] = field(default_factory=dict)  # the variables of sums
    terms: dict[Path, Term] = field(default_factory=dict)  # by the variables in their places
    _numbers_by_shape: dict[Value, int] = field(default_factory=dict)
    _choices: int = 0  # inside comparisons of the current condition

    def formula(self, program: Program) -> Formula:
        """The formula of a condition."""
        self._choices = 0
        return self._formula(program, len(program.nodes) - 1)

    def _formula(self, program: Program, at: int) -> Formula:
        node = program.nodes[at]
        if node.op in CONNECTIVES:
            return node.op, tuple([self._formula(program, arg) for arg in node.args])
        if node.op == "const":
            if node.value[0] != "bool":
                return "const", ERROR
            return "const", TRUE if node.value[-1] else FALSE
        if node.op == "call" and node.value in COMPARISONS:
            if node.value in _EQUALITY and all(self._is_bool(program, arg) for arg in node.args):
                same: Formula = ("same", tuple([self._formula(program, arg) for arg in node.args]))
                return same if node.value == "_==_" else ("not", (same,))
            choice = _choice_below(program, at)
            if choice is not None and self._choices < _MOST_CHOICES:
                self._choices += 1
                return self._distribute_choice(program, at, choice)
        return "atom", self._atom(program, at)

    def _distribute_choice(self, program: Program, at: int, choice: int) -> Formula:
        """The formula of a comparison with a conditional inside: a conditional between two comparisons."""
        condition, then, otherwise = program.nodes[choice].args
        parts = [self._formula(program, condition)]
        parts += [self._formula(_redirected(program, choice, branch), at) for branch in (then, otherwise)]
        return "cond", tuple(parts)

    def _is_bool(self, program: Program, at: int) -> bool:
        """Whether the node's result is always true, false or an error."""
        node = program.nodes[at]
        if node.op == "call":
            return node.value in COMPARISONS
        path = path_at(program, at)
        if path is not None and node.op in ("name", "select") and not is_optional(program, at):
            domain = self.domains.find(path)
            return domain is not None and domain.kind == "bool" and not (domain.null or domain.optional)
        return node.op in ("and", "or", "not") or (node.op == "const" and node.value[0] == "bool")

    def _atom(self, program: Program, at: int) -> int:
        part = extract(program, at)
        key = shape(part)
        if key not in self._numbers_by_shape:
            self._numbers_by_shape[key] = len(self.atoms)
            atom = self._analyse(part)
            self.atoms.append(self._by_term(part, atom) if self.by_terms and atom.opaque and not atom.order else atom)
        return self._numbers_by_shape[key]

    def _analyse(self, program: Program) -> Atom:
        paths = paths_of(program)
        if paths is None:
            return self._opaque(program, "")
        reads: dict[Path, Domain] = {}
        for path in paths:
            domain = self.domains.find(path)
            if domain is None:
                return self._opaque(program, f", because the values of `{'.'.join(path)}` are not known")
            reads[path] = domain
        if any(not domain.finite for domain in reads.values()):
            if len(reads) > 1 and (sum_comparison := _compared_sum(program, reads)) is not None:
                self.summed.update(reads)
                return Atom(program, (), None, None, sum_comparison)
            if len(reads) > 1:
                return self._opaque(program, ", because it reads several variables at once", _order(program, reads))
            ((path, domain),) = reads.items()
            try:
                cuts = self.cuts.get(path, set()) | _Cuts(program, path, domain).collect()
            except _BeyondAtoms:
                return self._opaque(program, "")
            if domain.kind == "texts" and len(cuts) > MAX_TEXTS:
                return self._opaque(program, f", because more than {MAX_TEXTS} texts are looked for")
            self.cuts[path] = cuts
        elif _product(domain.cells(()) for domain in reads.values()) > _LARGEST_JOINT:
            return self._opaque(program, ", because it reads too many variables at once")
        self.found.update(reads)
        return Atom(program, tuple(reads), None)

    def _opaque(self, program: Program, reason: str, order: Order | None = None) -> Atom:
        total = typed(program, self.domains)[-1] == (BOOL, True)
        return Atom(program, (), f"`{written(program)}` is beyond exact splitting{reason}", order, total=total)

    def _by_term(self, program: Program, opaque: Atom) -> Atom:
        """The opaque atom as one of a variable, where it only compares what a part computes with constants."""
        node = program.nodes[-1]
        if node.op != "call" or node.value not in (*COMPARISONS, "@in"):
            return opaque
        open_sides = [arg for arg in node.args if paths_of(extract(program, arg)) != []]
        if len(open_sides) != 1 or (node.value == "@in" and open_sides != [node.args[0]]):
            return opaque
        (at,) = open_sides
        part, (type_, total) = extract(program, at), typed(program, self.domains)[at]
        domain = _TERM_DOMAINS.get(type_)
        if domain is None or path_at(program, at) is not None or (domain.kind == "string" and node.value in ORDER):
            return opaque
        variable = (unabridged(part),)
        known = Domains({}, {variable: domain if total else replace(domain, absent=frozenset({0}))})
        nodes = list(program.nodes)
        nodes[at] = Node("name", (), [[variable[0], []]], node.at)
        renamed = Program(tuple(nodes), program.source, program.strict)
        atoms = Atoms(known, cuts=self.cuts, found=self.found)
        atom = atoms._analyse(extract(renamed, len(nodes) - 1))
        if atom.opaque is not None:
            return opaque
        self.terms[variable] = Term(part, known.known[variable], str(opaque.opaque))
        return atom


def _order(program: Program, reads: Mapping[Path, Domain]) -> Order | None:
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


def _compared_sum(program: Program, reads: Mapping[Path, Domain]) -> Compared | None:
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
    exact = _exact(value)
    return None if exact is None or (whole and abs(exact) > _LARGEST_FACTOR) else Sum({}, exact)


def _unchecked(program: Program, at: int) -> int:
    """The node, or the argument of an implicit conversion to a score."""
    node = program.nodes[at]
    return node.args[0] if node.op == "call" and node.value == "score" and not node.at else at


def _choice_below(program: Program, at: int) -> int | None:
    """The last conditional among the operands of a comparison, also inside operators that evaluate all operands."""
    pending = list(program.nodes[at].args)
    while pending:
        index = pending.pop()
        node = program.nodes[index]
        if node.op == "cond":
            return index
        if node.op == "call" and node.value in _STRICT:
            pending += node.args
    return None


def _redirected(program: Program, old: int, new: int) -> Program:
    """The program with node `new` in place of every use of node `old`."""
    nodes = [
        Node(n.op, tuple([new if a == old else a for a in n.args]), n.value, n.at) if old in n.args else n
        for n in program.nodes
    ]
    return Program(tuple(nodes), program.source, program.strict)


def _product(parts: Iterator[list[object]]) -> int:
    result = 1
    for part in parts:
        result *= len(part)
    return result


def bits_of(evaluate: Evaluator, bindings: Mapping[str, object]) -> int:
    """The result of a condition: TRUE, FALSE or ERROR."""
    try:
        value = evaluate(bindings)
    except RuntimeFailure:
        return ERROR
    return TRUE if value is True else FALSE if value is False else ERROR


class _BeyondAtoms(Exception):  # noqa: N818  it is a way out, no mistake
    """The cuts of the atom can't be determined."""


class _Cuts:
    """Collects the cuts of an atom of one variable; every comparison compares straight lines."""

    def __init__(self, program: Program, path: Path, domain: Domain) -> None:
        self.program = program
        self.path = path
        self.domain = domain
        self.cuts: set[object] = set()

    def collect(self) -> set[Value]:
        """The cuts of the atom. Raises _BeyondAtoms."""
        self.truth(len(self.program.nodes) - 1)
        return self.cuts

    def truth(self, at: int) -> None:
        """Collect the cuts of a node used as a condition."""
        node = self.program.nodes[at]
        if node.op in CONNECTIVES:
            for arg in node.args:
                self.truth(arg)
        elif self.domain.kind == "texts":
            self.contents(at)
        elif node.op == "call" and node.value in COMPARISONS:
            self.comparison(*node.args, ordered=node.value not in _EQUALITY)
        elif node.op == "call" and node.value == "@in":
            self.membership(*node.args)
        elif not (self.is_constant(at) or self.is_presence(at)):
            raise _BeyondAtoms

    def is_presence(self, at: int) -> bool:
        """Whether a node tests the presence of the variable."""
        node = self.program.nodes[at]
        if node.op == "call" and node.value == "hasValue":
            return self.reads(node.args[0])
        return node.op == "has" and self.reads(at)

    def contents(self, at: int) -> None:
        """Collect the texts of a condition on a list of texts that depends only on the set of its members."""
        node = self.program.nodes[at]
        if node.op in ("exists", "all") and self.reads(node.args[0]) and len(node.value) == 1:
            self.element_condition(node.args[1], node.value[0])
        elif node.op == "call" and node.value == "@in" and self.reads(node.args[1]) and self.is_constant(node.args[0]):
            self.add_texts(self.value(node.args[0]))
        elif not (self.is_constant(at) or self.is_presence(at) or self.is_emptiness(node)):
            raise _BeyondAtoms

    def element_condition(self, at: int, slot: int) -> None:
        """Collect the constants that a macro compares each text with."""
        node = self.program.nodes[at]
        if node.op in CONNECTIVES:
            for arg in node.args:
                self.element_condition(arg, slot)
        elif node.op == "call" and node.value in (*_EQUALITY, "@in"):
            for arg in node.args:
                local = self.program.nodes[arg]
                if self.is_constant(arg):
                    self.add_texts(self.value(arg))
                elif local.op != "local" or local.value != slot or (node.value == "@in" and arg == node.args[1]):
                    raise _BeyondAtoms
        elif not self.is_constant(at):
            raise _BeyondAtoms

    def is_emptiness(self, node: Node) -> bool:
        """Whether a node compares the size of the list with 0, or whether it is at least 1."""
        if node.op != "call" or node.value not in COMPARISONS:
            return False
        left, right = (self.program.nodes[arg] for arg in node.args)
        if left.op != "call" or left.value != "size" or not self.reads(left.args[0]) or right.op != "const":
            return False
        return right.value == ["int", "0"] or (right.value == ["int", "1"] and node.value in ("_>=_", "_<_"))

    def comparison(self, left: int, right: int, *, ordered: bool) -> None:
        if self.domain.kind == "string":
            self.texts(left, right, ordered)
            return
        lines, others = self.lines(left), self.lines(right)
        if len(lines) * len(others) > _MOST_FORMS:
            raise _BeyondAtoms
        self.cuts.update((d - b) / (a - c) for a, b in lines for c, d in others if a != c)

    def texts(self, left: int, right: int, ordered: bool) -> None:
        if ordered:
            raise _BeyondAtoms
        for at in (left, right):
            if self.is_constant(at):
                self.add_texts(self.value(at))
            elif not self.reads_value(at):
                raise _BeyondAtoms

    def membership(self, item: int, container: int) -> None:
        items = self.value(container) if self.is_constant(container) else None
        if not isinstance(items, (list, tuple)):
            raise _BeyondAtoms
        if self.domain.kind == "string":
            if not self.reads_value(item):
                raise _BeyondAtoms
            self.add_texts(items)
            return
        values = {threshold for each in items for threshold in self.thresholds(each)}
        self.cuts.update((value - b) / a for a, b in self.lines(item) for value in values if a)

    def add_texts(self, value: object) -> None:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, str):
                self.cuts.add(each)

    def lines(self, at: int) -> set[tuple[Fraction, Fraction]]:
        """The straight lines `a * variable + b`, as pairs (a, b), that a number follows between the collected cuts."""
        if self.domain.kind not in NUMBERS:
            raise _BeyondAtoms
        if self.reads_value(at):
            return {(Fraction(1), Fraction(0))}
        if self.is_constant(at):
            return {(Fraction(0), each) for each in self.thresholds(self.value(at))}
        node = self.program.nodes[at]
        if node.op == "cond":
            self.truth(node.args[0])
            return self.limited(self.lines(node.args[1]) | self.lines(node.args[2]))
        if node.op != "call":
            raise _BeyondAtoms
        if node.value == "score":
            lines = self.lines(node.args[0])
            self.cuts.update((edge - b) / a for a, b in lines if a for edge in (Fraction(0), Fraction(1)))
            return lines
        if node.value == "orValue":
            return self.limited(self.lines(node.args[0]) | self.lines(node.args[1]))
        if self.domain.kind != "score":  # ints overflow and doubles round
            raise _BeyondAtoms
        return self.arithmetic(node)

    def arithmetic(self, node: Node) -> set[tuple[Fraction, Fraction]]:
        parts = [self.lines(arg) for arg in node.args]
        if node.value == "-_":
            return {(-a, -b) for a, b in parts[0]}
        if len(parts) != 2:
            raise _BeyondAtoms
        pairs = [(one, two) for one in parts[0] for two in parts[1]]
        match node.value:
            case "_+_":
                return self.limited({(a + c, b + d) for (a, b), (c, d) in pairs})
            case "_-_":
                return self.limited({(a - c, b - d) for (a, b), (c, d) in pairs})
            case "_*_" if all(a == 0 or c == 0 for (a, _), (c, _) in pairs):
                return self.limited({(a * d + c * b, b * d) for (a, b), (c, d) in pairs})
            case "_/_" if all(c == 0 and d != 0 for _, (c, d) in pairs):
                return self.limited({(a / d, b / d) for (a, b), (_, d) in pairs})
        raise _BeyondAtoms

    def limited(self, lines: set[tuple[Fraction, Fraction]]) -> set[tuple[Fraction, Fraction]]:
        if len(lines) > _MOST_FORMS:
            raise _BeyondAtoms
        return lines

    def thresholds(self, value: object) -> set[Fraction]:
        """The values at which a variable passes a constant. A double beside a score is its shortest decimal; an int
        beside a double is compared as its nearest double."""
        if isinstance(value, Optional):
            return self.thresholds(value.value) if value.present else set()
        if isinstance(value, bool) or not isinstance(value, (int, float, Score)):
            return set()
        shortest = _exact(value)
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

    def value(self, at: int) -> Value:
        """The value of a part that reads nothing; None when it has none."""
        return value_of(self.program, at)


def value_of(program: Program, at: int) -> Value:
    """The value of a part that reads nothing; None when it reads something or has no value."""
    node = program.nodes[at]
    if node.op == "const":
        return literal_value(node.value)
    part = extract(program, at)
    if paths_of(part) != [] or free_locals(part)[-1]:
        return None
    try:
        return prepare(part)({})
    except RuntimeFailure:
        return None


def _exact(value: Value) -> Fraction | None:
    try:
        return Fraction(*exact_pair(value))
    except RuntimeFailure:
        return None
