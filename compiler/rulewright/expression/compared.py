"""Finds the text literals that an expression compares a field with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import eq
from typing import TypeGuard

from rulewright.expression.syntax_tree import NOWHERE, Binary, Expr, ListLiteral, Literal, Macro, Name, children


def texts_compared(part: Expr, names: Callable[[Expr], bool]) -> Iterator[Literal]:
    """Yield the text literals that the operator `part` compares with an operand for which `names` holds: by `==`, `!=`
    or `in` a list of literals."""
    if not isinstance(part, Binary):
        return
    if part.operator in ("==", "!="):
        sides = ((part.left, part.right), (part.right, part.left))
        yield from (other for one, other in sides if names(one) and _is_text(other))
    elif part.operator == "in" and isinstance(part.right, ListLiteral) and names(part.left):
        yield from (item for item in part.right.items if _is_text(item))


def texts_sought(part: Expr, names: Callable[[Expr], bool]) -> Iterator[Literal]:
    """Yield the text literals that `part` searches for in a list for which `names` holds: by `'x' in list`, or by a
    comparison in a macro over the list (`list.exists(x, x == 'x')`)."""
    if isinstance(part, Binary) and part.operator == "in" and names(part.right) and _is_text(part.left):
        yield part.left
    if isinstance(part, Macro) and names(part.target) and len(part.variables) == 1:
        pending = list(part.bodies)
        while pending:
            body = pending.pop()
            yield from texts_compared(body, partial(eq, Name(part.variables[0], NOWHERE)))
            pending += children(body)


def _is_text(part: Expr) -> TypeGuard[Literal]:
    return isinstance(part, Literal) and isinstance(part.value, str)
