"""The cuts of an atom of one variable: the numbers or texts at which its result changes."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rulewright.proving.domains import Domain, Path, wholes_at
from rulewright.proving.program_parts import COMPARISONS, EQUALITY, exact_of, extract, path_at, paths_of, value_of
from rulewright_runtime.ir import CONNECTIVES, NUMBERS, Node, Program, free_locals
from rulewright_runtime.score import Score
from rulewright_runtime.values import Optional, Value

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
        """Collect the cuts of a node used as a condition."""
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
        """Collect the texts of a condition on a list of texts that depends only on the set of its members."""
        node = self.program.nodes[at]
        if node.op in ("exists", "all") and self.reads(node.args[0]) and len(node.value) == 1:
            self.element_condition(node.args[1], node.value[0])
        elif node.op == "call" and node.value == "@in" and self.reads(node.args[1]) and self.is_constant(node.args[0]):
            self.add_texts(self.value(node.args[0]))
        elif not (self.is_constant(at) or self.is_presence(at) or self.is_emptiness(node)):
            raise BeyondAtoms

    def element_condition(self, at: int, slot: int) -> None:
        """Collect the constants that a macro compares each text with."""
        node = self.program.nodes[at]
        if node.op in CONNECTIVES:
            for arg in node.args:
                self.element_condition(arg, slot)
        elif node.op == "call" and node.value in (*EQUALITY, "@in"):
            for arg in node.args:
                local = self.program.nodes[arg]
                if self.is_constant(arg):
                    self.add_texts(self.value(arg))
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
        if self.domain.kind == "string":
            self.texts(left, right, ordered)
            return
        lines, others = self.lines(left), self.lines(right)
        if len(lines) * len(others) > _MOST_FORMS:
            raise BeyondAtoms
        self.cuts.update((d - b) / (a - c) for a, b in lines for c, d in others if a != c)

    def texts(self, left: int, right: int, ordered: bool) -> None:
        if ordered:
            raise BeyondAtoms
        for at in (left, right):
            if self.is_constant(at):
                self.add_texts(self.value(at))
            elif not self.reads_value(at):
                raise BeyondAtoms

    def membership(self, item: int, container: int) -> None:
        items = self.value(container) if self.is_constant(container) else None
        if not isinstance(items, (list, tuple)):
            raise BeyondAtoms
        if self.domain.kind == "string":
            if not self.reads_value(item):
                raise BeyondAtoms
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
            raise BeyondAtoms
        if self.reads_value(at):
            return {(Fraction(1), Fraction(0))}
        if self.is_constant(at):
            return {(Fraction(0), each) for each in self.thresholds(self.value(at))}
        node = self.program.nodes[at]
        if node.op == "cond":
            self.truth(node.args[0])
            return self.limited(self.lines(node.args[1]) | self.lines(node.args[2]))
        if node.op != "call":
            raise BeyondAtoms
        if node.value == "score":
            lines = self.lines(node.args[0])
            self.cuts.update((edge - b) / a for a, b in lines if a for edge in (Fraction(0), Fraction(1)))
            return lines
        if node.value == "orValue":
            return self.limited(self.lines(node.args[0]) | self.lines(node.args[1]))
        if self.domain.kind != "score":  # ints overflow and doubles round
            raise BeyondAtoms
        return self.arithmetic(node)

    def arithmetic(self, node: Node) -> set[tuple[Fraction, Fraction]]:
        parts = [self.lines(arg) for arg in node.args]
        if node.value == "-_":
            return {(-a, -b) for a, b in parts[0]}
        if len(parts) != 2:
            raise BeyondAtoms
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
        raise BeyondAtoms

    def limited(self, lines: set[tuple[Fraction, Fraction]]) -> set[tuple[Fraction, Fraction]]:
        if len(lines) > _MOST_FORMS:
            raise BeyondAtoms
        return lines

    def thresholds(self, value: object) -> set[Fraction]:
        """The values at which a variable passes a constant. A double beside a score is its shortest decimal; an int
        beside a double is compared as its nearest double."""
        if isinstance(value, Optional):
            return self.thresholds(value.value) if value.present else set()
        if isinstance(value, bool) or not isinstance(value, (int, float, Score)):
            return set()
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

    def value(self, at: int) -> Value:
        """The value of a part that reads nothing; None when it has none."""
        return value_of(self.program, at)
