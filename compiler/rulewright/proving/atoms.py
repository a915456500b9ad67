"""Splits conditions into connectives (and, or, not, conditionals) and atoms, most of which read a single variable.

An atom's value can change only at the cuts of its variable: the numbers at which a comparison changes, the texts it
compares with. A comparison of two numbers depends on their order. Any other atom of several variables, and any atom
that this proof doesn't support, is opaque: it may have any value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rulewright.expression.calls import ORDERING
from rulewright.expression.types import BOOL, DOUBLE, INT, STRING, Type
from rulewright.proving.comparisons import BeyondAtoms, Compared, Cuts, Order, order_of, sum_of, with_choices
from rulewright.proving.domains import MAX_TEXTS, Domain, Domains, Path
from rulewright.proving.program_parts import (
    COMPARISONS,
    EQUALITY,
    extract,
    is_optional,
    path_at,
    paths_of,
    reading,
    shape,
    unabridged,
    with_parts,
    written,
)
from rulewright.proving.static_types import typed
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.interpreter import Evaluator
from rulewright_runtime.ir import CONNECTIVES, Node, Program
from rulewright_runtime.values import Value

_STRICT: Final = frozenset(("_+_", "_-_", "_*_", "_/_", "-_", "score"))
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


class Atom(Struct, frozen=True, eq=False):
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


class Term(NamedTuple):
    """A part of conditions that has a variable in its place, because only what it computes can be divided into cells:
    `reason` says why no input can be made from one."""

    program: Program
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
        self._choices = 0
        program = with_choices(program, self.domains)
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
            if node.value in EQUALITY and all(self._is_bool(program, arg) for arg in node.args):
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
            return node.value in COMPARISONS or node.value == "@in"
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
        found = self._decided(program)
        return found if isinstance(found, Atom) else self._opaque(program, *found)

    def _decided(self, program: Program) -> Atom | tuple[str, Order | None]:
        """The atom with the cuts of its variable, or why it is opaque and the order that it depends on."""
        paths = paths_of(program)
        if paths is None:
            return "", None
        reads: dict[Path, Domain] = {}
        for path in paths:
            domain = self.domains.find(path)
            if domain is None:
                return f", because the values of `{'.'.join(path)}` are not known", None
            reads[path] = domain
        if any(not domain.finite for domain in reads.values()):
            if len(reads) > 1 and (sum_comparison := sum_of(program, reads)) is not None:
                self.summed.update(reads)
                return Atom(program, (), None, None, sum_comparison)
            if len(reads) > 1:
                return ", because it reads several variables at once", order_of(program, reads)
            ((path, domain),) = reads.items()
            try:
                cuts = self.cuts.get(path, set()) | Cuts(program, path, domain).collect()
            except BeyondAtoms:
                return "", None
            if domain.kind == "texts" and len(cuts) > MAX_TEXTS:
                return f", because more than {MAX_TEXTS} texts are looked for", None
            self.cuts[path] = cuts
        elif prod(len(domain.cells(())) for domain in reads.values()) > _LARGEST_JOINT:
            return ", because it reads too many variables at once", None
        self.found.update(reads)
        return Atom(program, tuple(reads), None)

    def _opaque(self, program: Program, reason: str, order: Order | None) -> Atom:
        total = typed(program, self.domains)[-1] == (BOOL, True)
        return Atom(program, (), f"`{written(program)}` is too complex for this proof{reason}", order, total=total)

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
        if domain is None or path_at(program, at) is not None or (domain.kind == "string" and node.value in ORDERING):
            return opaque
        variable = (unabridged(part),)
        known = Domains({}, {variable: domain if total else replace(domain, absent=frozenset({0}))})
        atoms = Atoms(known, cuts=self.cuts, found=self.found)
        atom = atoms._decided(with_parts(program, {at: reading(variable)}))
        if not isinstance(atom, Atom):
            return opaque
        self.terms[variable] = Term(part, str(opaque.opaque))
        return atom


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
    return program.having(nodes)


def bits_of(evaluate: Evaluator, bindings: Mapping[str, object]) -> int:
    """The result of a condition: TRUE, FALSE or ERROR."""
    try:
        value = evaluate(bindings)
    except RuntimeFailure:
        return ERROR
    return TRUE if value is True else FALSE if value is False else ERROR
