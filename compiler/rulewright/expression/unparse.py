"""Prints a syntax tree as the text a person would write: minimal parentheses, one space around operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.expression.lexer import Dialect

if TYPE_CHECKING:
    from rulewright.expression import nodes


def unparse(expr: nodes.Expr, dialect: Dialect = Dialect.PROFILE) -> str:
    """The text of `expr`, so that `parse(unparse(expr, dialect), dialect) == expr`; operators in their CEL spelling.

    Raises `ValueError` for a tree no text can stand for, such as a name that is an operator in the dialect.
    """
    raise NotImplementedError
