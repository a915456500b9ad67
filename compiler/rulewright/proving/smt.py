"""Decides with Z3 what exact splitting leaves open: conditions that join variables by arithmetic or comparison.

A condition is encoded as two formulas, when it is true and when it is undecided, with scores as exact reals. A part
that can't be encoded may have any value: then no solution is still a proof, but a solution is not a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Final, TypeAlias

from rulewright.proving.atoms import COMPARISONS, ERROR, FALSE, MIRRORED, TRUE
from rulewright.proving.domains import Absent, Domain, Domains, Path, wholes_at
from rulewright.proving.program_parts import extract, is_optional, path_at, paths_of, shape
from rulewright.proving.results import Unknown
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import CONNECTIVES, Program, literal_value
from rulewright_runtime.score import Score
from rulewright_runtime.values import INT_MAX, INT_MIN, Optional, UInt

STEPS: Final = 20_000_000  # the solver's own unit of work, so that it stops at the same point on every machine
MISSING: Final = "the extra `smt` brings a solver that may decide it"
GAVE_UP: Final = "the solver found no answer either"
Formula: TypeAlias = Any  # z3 ships no types


def solve(programs: Sequence[Program], allowed: Sequence[int], domains: Domains) -> Mapping[Path, Any] | Unknown | None:
    """Values for which each program's result is one of its `allowed` bits (TRUE, FALSE, ERROR); None if there are
    none, Unknown if the solver can't decide it."""
    try:
        import z3
    except ImportError:
        return Unknown(MISSING)
    encoding = _Encoding(z3, domains)
    solver = z3.Solver()
    solver.set("rlimit", STEPS)
    for program, bits in zip(programs, allowed, strict=True):
        solver.add(encoding.is_one_of(encoding.condition(program), bits))
    solver.add(*encoding.constraints)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat or encoding.guessed:
        return Unknown(GAVE_UP)
    values = encoding.values(solver.model())
    return Unknown(GAVE_UP) if values is None else values


@dataclass(frozen=True, slots=True)
class _Term:
    """A value as formulas: `value` is valid if `error` is false. A list has `items`, an optional has `present`."""

    kind: str
    value: Formula
    error: Formula
    present: Formula = None
    items: tuple[_Term, ...] = ()


@dataclass(frozen=True, slots=True)
class _Variable:
    domain: Domain
    term: _Term
    absent: tuple[tuple[int, Formula], ...]


class _BeyondSolver(Exception):  # noqa: N818  control flow, not an error
    """A part that can't be encoded as formulas."""


class _Encoding:
    def __init__(self, z3: Any, domains: Domains) -> None:
        self.z3 = z3
        self.domains = domains
        self.constraints: list[Formula] = []
        self.guessed: dict[Any, _Term] = {}
        self.variables: dict[Path, _Variable] = {}
        self.texts: dict[str, int] = {}
        self.missing: dict[Path, Formula] = {}
        self.no: Formula = z3.BoolVal(False)

    def is_one_of(self, term: _Term, bits: int) -> Formula:
        """The formula that a condition's result is one of `bits`."""
        z3, decided = self.z3, self.z3.Not(term.error)
        cases = [
            (TRUE, z3.And(decided, term.value)),
            (FALSE, z3.And(decided, z3.Not(term.value))),
            (ERROR, term.error),
        ]
        return z3.Or([formula for bit, formula in cases if bits & bit])

    def condition(self, program: Program) -> _Term:
        """The term of a condition; one that isn't a bool is undecided."""
        term = self.truth(program, len(program.nodes) - 1)
        return term if term.kind == "bool" else _Term("bool", self.no, self.z3.BoolVal(True))

    def truth(self, program: Program, at: int) -> _Term:
        """The term of a node used as a condition; an unconstrained bool if it can't be encoded."""
        node = program.nodes[at]
        if node.op in CONNECTIVES:
            parts = [self.truth(program, arg) for arg in node.args]
            try:
                return self.connective(node.op, parts)
            except _BeyondSolver:
                return self.guess(program, at)
        try:
            return self.term(program, at)
        except _BeyondSolver:
            return self.guess(program, at)

    def guess(self, program: Program, at: int) -> _Term:
        key = shape(extract(program, at))
        if key not in self.guessed:
            z3, number = self.z3, len(self.guessed)
            self.guessed[key] = _Term("bool", z3.Bool(f"guess {number}"), z3.Bool(f"guess {number} fails"))
        return self.guessed[key]

    def connective(self, op: str, parts: list[_Term]) -> _Term:
        z3 = self.z3
        if op == "cond":
            return self.conditional(*parts)
        if any(part.kind != "bool" for part in parts):
            raise _BeyondSolver
        if op == "not":
            return _Term("bool", z3.Not(parts[0].value), parts[0].error)
        decides = [
            z3.And(z3.Not(p.error), p.value if op == "or" else z3.Not(p.value)) for p in parts
        ]  # an operand that decides hides the errors of the others
        error = z3.And(z3.Not(z3.Or(decides)), z3.Or([p.error for p in parts]))
        return _Term("bool", z3.Or(decides) if op == "or" else z3.Not(z3.Or(decides)), error)

    def conditional(self, condition: _Term, then: _Term, otherwise: _Term) -> _Term:
        z3 = self.z3
        if condition.kind != "bool":
            raise _BeyondSolver
        one, two = self.same_kind(then, otherwise)
        if one.kind in ("list", "double"):
            raise _BeyondSolver
        error = z3.Or(condition.error, z3.If(condition.value, one.error, two.error))
        present = None if one.present is None else z3.If(condition.value, one.present, two.present)
        return _Term(one.kind, z3.If(condition.value, one.value, two.value), error, present)

    def same_kind(self, one: _Term, two: _Term) -> tuple[_Term, _Term]:
        """Both terms with the same kind; an int beside a score becomes a score."""
        if one.kind == two.kind:
            return one, two
        if {one.kind, two.kind} == {"int", "score"}:
            return self.real(one), self.real(two)
        raise _BeyondSolver

    def real(self, term: _Term) -> _Term:
        if term.kind == "int":
            return _Term("score", self.z3.ToReal(term.value), term.error)
        if term.kind == "score":
            return term
        raise _BeyondSolver

    def term(self, program: Program, at: int) -> _Term:
        """The term of any node. Raises _BeyondSolver."""
        node = program.nodes[at]
        if node.op == "const":
            return self.constant(literal_value(node.value))
        path = path_at(program, at)
        if path is not None:
            if node.args and is_optional(program, node.args[0]):
                raise _BeyondSolver
            return self.has(path) if node.op == "has" else self.read(path, optional=node.op.startswith("opt"))
        if node.op == "opt_map" and not node.at:  # the conversion of an optional score
            return self.term(program, node.args[0])
        if node.op in CONNECTIVES:
            return self.connective(node.op, [self.term(program, arg) for arg in node.args])
        if node.op == "list" and not node.value:
            items = tuple([self.term(program, arg) for arg in node.args])
            return _Term("list", None, self.z3.Or([i.error for i in items]) if items else self.no, None, items)
        if node.op != "call":
            raise _BeyondSolver
        part = extract(program, at)
        if paths_of(part) == []:
            return self.computed(part)
        args = [self.term(program, arg) for arg in node.args]
        if node.value in COMPARISONS:
            return self.comparison(node.value, *args)
        function = _FUNCTIONS.get((node.value, len(args)))
        if function is None:
            raise _BeyondSolver
        return function(self, *args)

    def computed(self, program: Program) -> _Term:
        """The computed value of a part without variables. Raises _BeyondSolver if it reads a bound variable."""
        try:
            return self.constant(prepare(program)({}))
        except PlanError:
            raise _BeyondSolver from None
        except EvaluationError:
            return _Term("bool", self.no, self.z3.BoolVal(True))

    def constant(self, value: Any) -> _Term:
        z3 = self.z3
        match value:
            case bool():
                return _Term("bool", z3.BoolVal(value), self.no)
            case Score():
                return _Term("score", z3.Q(value.numerator, value.denominator), self.no)
            case UInt():
                raise _BeyondSolver
            case int():
                return _Term("int", z3.IntVal(value), self.no)
            case float() if value - value == 0:
                return _Term("double", value, self.no)
            case str():
                return _Term("text", z3.IntVal(self.code(value)), self.no)
            case list() | tuple():
                return _Term("list", None, self.no, None, tuple([self.constant(item) for item in value]))
            case Optional(present=True):
                inner = self.constant(value.value)
                return _Term(inner.kind, inner.value, self.no, z3.BoolVal(True))
        raise _BeyondSolver

    def code(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts))

    def variable(self, path: Path) -> _Variable:
        """The variable of a path, created on first use."""
        if path in self.variables:
            return self.variables[path]
        z3, domain, name = self.z3, self.domains.find(path), ".".join(path)
        if domain is None or domain.null or domain.kind in ("double", "uint"):
            raise _BeyondSolver
        make = {"bool": z3.Bool, "score": z3.Real}.get(domain.kind, z3.Int)
        value = make(name)
        kind = {"string": "text", "enum": "text"}.get(domain.kind, domain.kind)
        absent = tuple([(part, self.is_missing(path[: part + 1])) for part in sorted(domain.absent)])
        error = z3.Or([formula for _, formula in absent]) if absent else self.no
        present = z3.Bool(f"{name} is present") if domain.optional else None
        self.variables[path] = _Variable(domain, _Term(kind, value, error, present), absent)
        self.constrain(domain, value)
        return self.variables[path]

    def is_missing(self, path: Path) -> Formula:
        if path not in self.missing:
            self.missing[path] = self.z3.Bool(f"{'.'.join(path)} is missing")
        return self.missing[path]

    def constrain(self, domain: Domain, value: Formula) -> None:
        z3 = self.z3
        match domain.kind:
            case "score":
                self.constraints.append(
                    z3.Or(
                        [
                            value == _rational(z3, piece.low)
                            if piece.low == piece.high
                            else z3.And(value > _rational(z3, piece.low), value < _rational(z3, piece.high))
                            for piece in domain.pieces
                        ]
                    )
                )
            case "int":
                self.constraints += [value >= max(INT_MIN, _floor(domain.low, INT_MIN)), value <= INT_MAX]
                if domain.high is not None:
                    self.constraints.append(value <= z3.IntVal(domain.high.__floor__()))
            case "enum":
                self.constraints.append(z3.Or([value == self.code(member) for member in domain.members]))

    def read(self, path: Path, *, optional: bool) -> _Term:
        variable = self.variable(path)
        if not optional:
            return variable.term
        last = [formula for part, formula in variable.absent if part == len(path) - 1]
        others = [formula for part, formula in variable.absent if part != len(path) - 1]
        if variable.term.present is not None:
            raise _BeyondSolver
        error = self.z3.Or(others) if others else self.no
        return _Term(variable.term.kind, variable.term.value, error, self.z3.Not(self.z3.Or(last)))

    def has(self, path: Path) -> _Term:
        term = self.read(path, optional=True)
        return _Term("bool", term.present, term.error)

    def comparison(self, name: str, left: _Term, right: _Term) -> _Term:
        error = self.z3.Or(left.error, right.error)
        if name in ("_==_", "_!=_"):
            value = self.equals(left, right)
            return _Term("bool", value if name == "_==_" else self.z3.Not(value), error)
        if {left.kind, right.kind} == {"int", "double"}:
            return _Term("bool", self.compare_with_double(name, left, right), error)
        one, two = self.numbers(left, right)
        return _Term("bool", _ORDER[name](one.value, two.value), error)

    def equals(self, left: _Term, right: _Term) -> Formula:
        z3 = self.z3
        if left.present is not None or right.present is not None or "list" in (left.kind, right.kind):
            raise _BeyondSolver
        if left.kind == right.kind and left.kind in ("text", "bool"):
            return left.value == right.value
        if "text" in (left.kind, right.kind) or "bool" in (left.kind, right.kind):
            return self.no
        if {left.kind, right.kind} == {"int", "double"}:
            return z3.And(self.compare_with_double("_<=_", left, right), self.compare_with_double("_>=_", left, right))
        one, two = self.numbers(left, right)
        return one.value == two.value

    def compare_with_double(self, name: str, left: _Term, right: _Term) -> Formula:
        """The comparison of an int with a double, always a constant here: an int is compared as its nearest double."""
        if left.present is not None or right.present is not None:
            raise _BeyondSolver
        if left.kind == "double":
            return self.compare_with_double(MIRRORED[name], right, left)
        low, high = wholes_at(right.value)
        return _ORDER[name](left.value, low if name in ("_<_", "_>=_") else high)

    def numbers(self, left: _Term, right: _Term) -> tuple[_Term, _Term]:
        """Two numbers of one kind, for comparison or arithmetic; a double beside a score is its shortest decimal."""
        if left.present is not None or right.present is not None:
            raise _BeyondSolver
        kinds = {left.kind, right.kind}
        if kinds <= {"int", "score"}:
            return self.same_kind(left, right)
        if "double" in kinds and kinds <= {"score", "double"} and len(kinds) == 2:
            return self.decimal(left), self.decimal(right)
        raise _BeyondSolver

    def decimal(self, term: _Term) -> _Term:
        if term.kind != "double":
            return term
        return _Term("score", _rational(self.z3, Fraction(repr(term.value))), term.error)

    def arithmetic(self, name: str, left: _Term, right: _Term) -> _Term:
        z3 = self.z3
        one, two = self.numbers(left, right)
        error = z3.Or(left.error, right.error)
        if name == "/":
            if one.kind != "score":
                raise _BeyondSolver
            return _Term("score", one.value / two.value, z3.Or(error, two.value == 0))
        value = {"+": lambda: one.value + two.value, "-": lambda: one.value - two.value}.get(
            name, lambda: one.value * two.value
        )()
        if one.kind == "int":
            error = z3.Or(error, value > INT_MAX, value < INT_MIN)
        return _Term(one.kind, value, error)

    def as_score(self, term: _Term) -> _Term:
        if term.present is not None:
            raise _BeyondSolver
        if term.kind == "score":
            return term
        number = self.real(self.decimal(term))
        return _Term("score", number.value, self.z3.Or(number.error, number.value < 0, number.value > 1))

    def scores(self, of: _Term) -> list[Formula]:
        """The values of a list that contains only numbers, at least one of them a score."""
        if of.kind != "list" or any(item.present is not None for item in of.items):
            raise _BeyondSolver
        if not any(item.kind == "score" for item in of.items):
            raise _BeyondSolver
        return [self.real(self.decimal(item)).value for item in of.items]

    def sum(self, of: _Term) -> _Term:
        return _Term("score", self.total(self.scores(of)), of.error, self.z3.BoolVal(True))

    def mean(self, of: _Term) -> _Term:
        values = self.scores(of)
        return _Term("score", self.total(values) / len(values), of.error, self.z3.BoolVal(True))

    def wmean(self, of: _Term, weights: _Term) -> _Term:
        z3 = self.z3
        values = self.scores(of)
        if weights.kind != "list" or len(weights.items) != len(values):
            raise _BeyondSolver
        if any(item.present is not None for item in weights.items):
            raise _BeyondSolver
        factors = [self.real(self.decimal(item)).value for item in weights.items]
        total = self.total(factors)
        value = self.total([v * w for v, w in zip(values, factors, strict=True)]) / total
        return _Term("score", value, z3.Or(of.error, weights.error, *[w < 0 for w in factors]), total != 0)

    def total(self, values: Sequence[Formula]) -> Formula:
        return reduce(lambda one, two: one + two, values)

    def extreme(self, of: _Term, least: bool) -> _Term:
        z3 = self.z3
        values = self.scores(of)
        best = reduce(lambda one, two: z3.If(one <= two if least else one >= two, one, two), values)
        return _Term("score", best, of.error, z3.BoolVal(True))

    def value_of(self, of: _Term) -> _Term:
        if of.present is None:
            raise _BeyondSolver
        return _Term(of.kind, of.value, self.z3.Or(of.error, self.z3.Not(of.present)))

    def or_value(self, of: _Term, default: _Term) -> _Term:
        if of.present is None or default.present is not None:
            raise _BeyondSolver
        fallback = self.decimal(default) if of.kind == "score" else default
        one, two = self.same_kind(_Term(of.kind, of.value, of.error), fallback)
        z3 = self.z3
        error = z3.Or(of.error, z3.And(z3.Not(of.present), two.error))
        return _Term(one.kind, z3.If(of.present, one.value, two.value), error)

    def has_value(self, of: _Term) -> _Term:
        if of.present is None:
            raise _BeyondSolver
        return _Term("bool", of.present, of.error)

    def negative(self, of: _Term) -> _Term:
        return self.arithmetic("-", self.constant(0), of)

    def membership(self, item: _Term, container: _Term) -> _Term:
        if container.kind != "list":
            raise _BeyondSolver
        hits = [self.equals(item, each) for each in container.items]
        return _Term("bool", self.z3.Or(hits) if hits else self.no, self.z3.Or(item.error, container.error))

    def values(self, model: Any) -> dict[Path, Any] | None:
        """The values of a solution by path; None if one of them is not a rational number."""
        values: dict[Path, Any] = {}
        text_of_code = {code: text for text, code in self.texts.items()}
        for path, variable in self.variables.items():
            missing = [part for part, formula in variable.absent if self.holds(model, formula)]
            if missing:
                values[path] = Absent(missing[0])
                continue
            value = self.model_value(model, variable, text_of_code)
            if value is None:
                return None
            term = variable.term
            if term.present is not None:
                value = Optional(value) if self.holds(model, term.present) else Optional(None, False)
            values[path] = value
        return values

    def holds(self, model: Any, formula: Formula) -> bool:
        return bool(self.z3.is_true(model.eval(formula, model_completion=True)))

    def model_value(self, model: Any, variable: _Variable, text_of_code: Mapping[int, str]) -> Any:
        value = model.eval(variable.term.value, model_completion=True)
        match variable.term.kind:
            case "bool":
                return bool(self.z3.is_true(value))
            case "score":
                if not self.z3.is_rational_value(value):
                    return None
                return Score(value.numerator_as_long(), value.denominator_as_long())
        number = value.as_long()
        return text_of_code.get(number, f"another text {number}") if variable.term.kind == "text" else number


def _rational(z3: Any, value: Fraction) -> Formula:
    return z3.Q(value.numerator, value.denominator)


def _floor(value: Fraction | None, otherwise: int) -> int:
    return otherwise if value is None else value.__ceil__()


_ORDER: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "_<_": lambda a, b: a < b,
    "_<=_": lambda a, b: a <= b,
    "_>_": lambda a, b: a > b,
    "_>=_": lambda a, b: a >= b,
}
_FUNCTIONS: Final[Mapping[tuple[str, int], Callable[..., _Term]]] = {
    ("_+_", 2): lambda e, a, b: e.arithmetic("+", a, b),
    ("_-_", 2): lambda e, a, b: e.arithmetic("-", a, b),
    ("_*_", 2): lambda e, a, b: e.arithmetic("*", a, b),
    ("_/_", 2): lambda e, a, b: e.arithmetic("/", a, b),
    ("-_", 1): _Encoding.negative,
    ("score", 1): _Encoding.as_score,
    ("sum", 1): _Encoding.sum,
    ("mean", 1): _Encoding.mean,
    ("wmean", 2): _Encoding.wmean,
    ("min", 1): lambda e, a: e.extreme(a, True),
    ("max", 1): lambda e, a: e.extreme(a, False),
    ("value", 1): _Encoding.value_of,
    ("orValue", 2): _Encoding.or_value,
    ("hasValue", 1): _Encoding.has_value,
    ("@in", 2): _Encoding.membership,
}
