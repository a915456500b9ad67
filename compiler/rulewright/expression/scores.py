"""Converts number literals to the type of the operand next to them: exact scores in the author's digits, or doubles."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from rulewright.diagnostics import Guess
from rulewright.expression.checking_context import CheckingContext
from rulewright.expression.direction import COMPARISONS
from rulewright.expression.syntax_tree import Binary, Call, Conditional, Expr, ListLiteral, Literal, Unary
from rulewright.expression.types import DOUBLE, INT, SCORE, UINT, ListType, OptionalType, Type
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.score import exact_pair, parse_score

_NUMBERS: Final = (INT, UINT, DOUBLE)
_ARITHMETIC: Final = frozenset("+-*/")


def exact(e: Literal) -> Fraction | None:
    """The exact value of a number literal as the author wrote it; None for any other literal, and for a number with
    more digits than a score may have."""
    value = e.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int):
        return Fraction(value)
    try:
        return Fraction(*exact_pair(parse_score(e.text if e.text is not None else repr(value))))
    except EvaluationError:
        return None


def convert(c: CheckingContext, e: Expr, to: Type) -> bool:
    """Read `e` as a score or a double if it consists of number literals only; returns whether it does."""
    literals = _literals(e)
    for literal in literals or ():
        (c.scores if to == SCORE else c.doubles).add(id(literal))
        c.types[id(literal)] = to
    return bool(literals)


def _literals(e: Expr) -> list[Literal] | None:
    """The number literals that `e` consists of, or None if it contains anything else."""
    match e:
        case Literal():
            return [e] if exact(e) is not None else None
        case Unary(operator="-", operand=operand):
            return _literals(operand)
        case Binary(operator=operator, left=left, right=right) if operator in _ARITHMETIC:
            return _all((left, right))
        case Conditional(then=then, otherwise=otherwise):
            return _all((then, otherwise))
        case ListLiteral(items=items):
            return _all(items)
    return None


def _all(parts: Sequence[Expr]) -> list[Literal] | None:
    all_literals: list[Literal] = []
    for part in parts:
        literals = _literals(part)
        if literals is None:
            return None
        all_literals += literals
    return all_literals


def meet(c: CheckingContext, e: Binary, left: Type, right: Type) -> tuple[Type, Type]:
    """The types of both operands, after a literal next to a score became a score."""
    a, b = c.known.resolve(left), c.known.resolve(right)
    if a == SCORE and b in _NUMBERS and convert(c, e.right, SCORE):
        _check_range(c, e, e.left, e.right)
        return a, SCORE
    if b == SCORE and a in _NUMBERS and convert(c, e.left, SCORE):
        _check_range(c, e, e.right, e.left)
        return SCORE, b
    if e.operator == "in" and a == SCORE and isinstance(b, ListType) and convert(c, e.right, SCORE):
        return a, ListType(SCORE)
    return left, right


def _check_range(c: CheckingContext, e: Binary, score: Expr, literal: Expr) -> None:
    """Report a compared literal outside [0, 1], unless `score` is arithmetic, which may leave the interval."""
    if e.operator in COMPARISONS and not _may_leave_range(score):
        within(c, literal)


def _may_leave_range(e: Expr) -> bool:
    return isinstance(e, (Binary, Unary, Conditional)) or (
        isinstance(e, Call) and (e.function == "sum" or (e.target is not None and _may_leave_range(e.target)))
    )


def within(c: CheckingContext, e: Expr) -> None:
    """Report `e` if it is a literal outside [0, 1]."""
    value = exact(e) if isinstance(e, Literal) else None
    if value is not None and not 0 <= value <= 1:
        written = e.text if isinstance(e, Literal) and e.text else str(value)
        percent = Guess(f"{float(value / 100):g}") if 2 <= value <= 100 else None
        c.report(e, f"`{written}` is outside the range of a score, 0 to 1", percent, whole=True)


def agree(c: CheckingContext, nodes: tuple[Expr, Expr], types: tuple[Type, Type]) -> tuple[Type, Type]:
    """The types of two branches, after literals in one became a score or a double like the other."""
    a, b = (c.known.resolve(t) for t in types)
    if a in _NUMBERS and b in (SCORE, DOUBLE) and a != b and convert(c, nodes[0], b):
        return b, b
    if b in _NUMBERS and a in (SCORE, DOUBLE) and a != b and convert(c, nodes[1], a):
        return a, a
    return types


def element(c: CheckingContext, e: ListLiteral, joined: Type) -> Type:
    """The element type of a list: literals next to scores become scores, other mixed numbers doubles or ints."""
    types: set[Type] = set()
    for i, item in enumerate(e.items):
        t = c.known.resolve(c.types[id(item)])
        types.add(t.value if i in e.optional and isinstance(t, OptionalType) else t)
    if len(types) < 2 or not types <= {*_NUMBERS, SCORE}:
        return joined
    common = SCORE if SCORE in types else DOUBLE if DOUBLE in types else INT
    if common != INT:
        for item in e.items:
            convert(c, item, common)
    return common


def reread(c: CheckingContext, nodes: Sequence[Expr], types: Sequence[Type]) -> list[Type] | None:
    """The types of arguments after literals are read as scores; None if no type contains a score."""
    if not any(_contains_score(c.known.resolve(t)) for t in types):
        return None
    result = list(types)
    for i, node in enumerate(nodes):
        resolved = c.known.resolve(result[i]) if i < len(result) else None
        if resolved in _NUMBERS and convert(c, node, SCORE):
            result[i] = SCORE
        elif isinstance(resolved, ListType) and resolved.element in _NUMBERS and convert(c, node, SCORE):
            result[i] = ListType(SCORE)
    return result


def _contains_score(t: Type) -> bool:
    return t == SCORE or any(_contains_score(p) for p in t.params)
