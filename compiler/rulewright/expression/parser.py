"""Turns the text of an expression into syntax nodes, or into every mistake that can soundly be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.expression.lexer import Dialect

if TYPE_CHECKING:
    from rulewright.expression import nodes

__all__ = ["Dialect", "parse"]


def parse(text: str, dialect: Dialect = Dialect.PROFILE, *, macros: bool = True) -> nodes.Expr:
    """The syntax tree of `text`, at most 250 levels deep; without `macros` a macro is an ordinary call.

    Raises `ExpressionError` with every mistake found, in source order.
    """
    raise NotImplementedError
