"""The direction of a condition: which way its comparisons point, and whether it means something good or bad."""

import re
from collections.abc import Iterator
from typing import Final

from rulewright.expression import syntax_tree as ast

ORDERED: Final = frozenset({"<", "<=", ">", ">="})
COMPARISONS: Final = ORDERED | {"==", "!="}
OPPOSITE: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATIVE: Final = frozenset({"<", "<=", "!=", "-"})  # operators that make a condition one of absence
_GOOD: Final = """
    accept accepted approve approved book booked clean go good green ok okay pass passed publish published ready release
    released run safe send sent ship shipped valid
"""
_BAD: Final = """
    adjudicate adjudication barred block blocked broken discard error errors fail failed fails failure failures
    forbidden hold invalid missing no_go poor red reject rejected rework stop stopped stops unclear undecided unresolved
    unsafe violation violations
"""
GOOD: Final = frozenset(_GOOD.split())
BAD: Final = frozenset(_BAD.split())
_CONVERSIONS: Final = frozenset({"score", "of", "double"})
LEAST: Final = re.compile(r"(?:^|_)(?:floor|min|minimum|least|from|pass|required|enough)(?:$|_)")


def unwrapped(part: ast.Expr) -> ast.Expr:
    """The value inside of conversions: `0` of `optional.of(score(0))`."""
    while isinstance(part, ast.Call) and part.function in _CONVERSIONS and len(part.args) == 1:
        part = part.args[0]
    return part


def comparisons(part: ast.Expr, sign: int) -> Iterator[tuple[int, ast.Binary]]:
    """The ordered comparisons that a condition is made of, each with `sign`, which a negation turns around."""
    if isinstance(part, ast.Unary) and part.operator == "!":
        yield from comparisons(part.operand, -sign)
    elif isinstance(part, ast.Binary) and part.operator in ORDERED:
        yield sign, part
    elif isinstance(part, ast.Binary) and part.operator in ("&&", "||"):
        yield from (each for side in (part.left, part.right) for each in comparisons(side, sign))
    elif isinstance(part, ast.Macro) and part.kind in ("exists", "all"):
        yield from comparisons(part.bodies[-1], sign)


def conjoined(part: ast.Expr) -> Iterator[list[ast.Expr]]:
    """The parts of each `and` and `or` anywhere in an expression, each time all that are joined."""
    joined = part.operator if isinstance(part, ast.Binary) and part.operator in ("&&", "||") else None
    sides = [*ast.children(part)] if joined is None else ast.chain(part, joined)
    yield from [sides] if joined is not None else []
    yield from (each for side in sides for each in conjoined(side))


def denies(part: ast.Expr) -> bool:
    """Whether a condition tests for the absence of something anywhere: `not`, `== 0`, `contains_none`, `<`."""
    if isinstance(part, ast.Unary) or (isinstance(part, ast.Binary) and part.operator in NEGATIVE):
        return True
    if isinstance(part, ast.Binary) and part.operator == "==" and any(_is_nothing(each) for each in ast.children(part)):
        return True
    if isinstance(part, ast.Call) and re.search(r"none|not|missing|empty", part.function):
        return True
    return any(map(denies, ast.children(part)))


def _is_nothing(part: ast.Expr) -> bool:
    return (isinstance(part, ast.Literal) and not part.value) or (isinstance(part, ast.ListLiteral) and not part.items)


def outcome_sign(part: ast.Expr) -> int:
    """1 for a condition that means something good (`passed`, `x >= minimum`), -1 for something bad, 0 if unknown."""
    if isinstance(part, ast.Unary) and part.operator == "!":
        return -outcome_sign(part.operand)
    if isinstance(part, ast.Binary) and part.operator in ORDERED:
        if _is_nothing(part.right):
            return outcome_sign(part.left) if part.operator == ">" else 0
        if LEAST.search(ast.last_name(part.right)):
            return 1 if part.operator in (">", ">=") else -1
        return 0
    if isinstance(part, ast.Binary) and part.operator == "==" and ast.last_name(part.left) == "verdict":
        return {"PASS": 1, "FAIL": -1}.get(ast.last_name(part.right), 0)
    if isinstance(part, ast.Binary) and part.operator in ("&&", "||"):
        directions = {outcome_sign(part.left), outcome_sign(part.right)}
        return directions.pop() if len(directions) == 1 else 0
    if isinstance(part, ast.Call) and part.function in ("value", "orValue", "size") and (part.target or part.args):
        return outcome_sign(part.target or part.args[0])
    return meaning(ast.last_name(part))


def meaning(word: str) -> int:
    """1 for the name of something good, -1 for something bad, 0 for any other."""
    words = {word.lower(), *word.lower().split("_")}
    return (
        0
        if word.lower().startswith(("no_", "not_")) and not words & {"no_go"}
        else bool(words & GOOD) - bool(words & BAD)
    )
