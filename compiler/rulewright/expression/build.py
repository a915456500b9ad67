"""Parses, checks and lowers an expression in one call, which the rest of the compiler uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rulewright.errors import ExpressionError
from rulewright.expression import syntax_tree as ast
from rulewright.expression.checker import TOO_DEEP, CheckedExpression, check
from rulewright.expression.environment import TYPE_NAMES, Environment
from rulewright.expression.lower import lower
from rulewright.expression.parser import parse
from rulewright.expression.type_messages import mistake
from rulewright.expression.types import SCORE, Type
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate

_SURELY_SMALL: Final = 100  # nodes; a program of that size is far below the limits of the instruction set


@dataclass(frozen=True, slots=True)
class Built:
    """A valid expression: its program, its type and the paths it reads, such as
    `("review", "decision")`."""

    program: Program
    type: Type
    reads: frozenset[tuple[str, ...]]


def build(text: str, environment: Environment, *, expect: Type | None = None, fold: bool = True) -> Built:
    """Parse, check and lower `text`.

    With `expect` the expression must have that type: `expect=BOOL` rejects a condition that is only `dyn`, an enum
    accepts the texts that are its members, and `expect=SCORE` reads any number as a score. Without `fold` constants are
    computed at run time. Raises ExpressionError with every mistake.
    """
    checked = check(parsed(text, environment), text, environment, expect=expect)
    as_score = expect == SCORE and checked.type != SCORE
    program = lower(checked, text, environment, fold=fold, score=as_score)
    if len(program.nodes) > _SURELY_SMALL:
        try:
            validate(program)
        except PlanError:
            raise ExpressionError(text, [mistake(text, checked.expr, TOO_DEEP, whole=True)]) from None
    return Built(program, SCORE if as_score else checked.type, frozenset(_reads(checked, environment)))


def parsed(text: str, environment: Environment) -> ast.Expr:
    """The syntax tree of `text`, with calls of the environment's lookups as index nodes. Raises ExpressionError."""
    return with_lookups(parse(text, environment.dialect), environment)


def with_lookups(tree: ast.Expr, environment: Environment) -> ast.Expr:
    """The tree with calls of the environment's lookups as index nodes."""
    return _with_lookups(tree, environment.lookups) if environment.lookups else tree


def _with_lookups(tree: ast.Expr, lookups: frozenset[str]) -> ast.Expr:
    tree = ast.with_children(tree, lambda child: _with_lookups(child, lookups))
    if isinstance(tree, ast.Call) and tree.target is None and tree.function in lookups and len(tree.args) == 1:
        name = ast.TextSpan(tree.span.start, tree.span.start + len(tree.function), tree.span.start)
        return ast.Index(ast.Name(tree.function, name), tree.args[0], tree.span)
    return tree


def _reads(checked: CheckedExpression, environment: Environment) -> Iterator[tuple[str, ...]]:
    """Yield the longest paths that start at a variable."""
    pending: list[ast.Expr] = [checked.expr]
    while pending:
        e = pending.pop()
        fields: list[str] = []
        at = e
        while id(at) not in checked.names and (step := _step(at)) is not None:
            field, at = step
            fields.append(field)
        if isinstance(at, (ast.Name, ast.Select)):
            name = checked.names.get(id(at))
            if name is not None and (name in environment.variables or name not in TYPE_NAMES):
                yield (*name.split("."), *reversed(fields))
        else:
            pending += ast.children(at)


def _step(e: ast.Expr) -> tuple[str, ast.Expr] | None:
    """The field that `e` selects and its operand; None if `e` doesn't select a constant field."""
    match e:
        case ast.Select() | ast.Has():
            return e.field, e.operand
        case ast.Index(index=ast.Literal(value=str() as key)):
            return key, e.operand
    return None
