"""Turns the text of an expression into syntax nodes, or into every mistake that can soundly be told apart.

Lark parses. It is imported with the first expression, so that whoever has none starts without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.nodes import Dialect, Expr

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "Dialect", "parse", "parse_unfinished"]

MAX_LENGTH: Final = 100_000  # code points, as in cel-go
MAX_DEPTH: Final = 250  # of brackets, and of the tree: whoever walks it may recurse
_REMEMBERED: Final = 2_000  # code points; longer texts are seldom met twice
_HALF: Final = re.compile("[\ud800-\udfff]")


def parse(text: str, dialect: Dialect = Dialect.PROFILE, *, macros: bool = True) -> Expr:
    """The syntax tree of `text`, at most 250 levels deep; without `macros` a macro is an ordinary call.

    Raises `ExpressionError` with every mistake found, in source order.
    """
    found = _remembered(text, dialect, macros) if len(text) <= _REMEMBERED else _read(text, dialect, macros)
    if isinstance(found, Mistakes):
        raise found.error()
    return found


def parse_unfinished(text: str, dialect: Dialect = Dialect.PROFILE) -> Expr:
    """The tree of a text that breaks off, with what is missing behind it made up.

    Raises `ExpressionError` where no expression begins like this.
    """
    found = _read(text, dialect, True, unfinished=True)
    if isinstance(found, Mistakes):
        raise found.error()
    return found


@lru_cache(maxsize=4096)
def _remembered(text: str, dialect: Dialect, macros: bool) -> Expr | Mistakes:
    return _read(text, dialect, macros)


def _read(text: str, dialect: Dialect, macros: bool, *, unfinished: bool = False) -> Expr | Mistakes:
    """The tree, or what is wrong."""
    mistakes = Mistakes(text)
    if len(text) > MAX_LENGTH:
        mistakes.add(f"the expression has {len(text)} characters, more than {MAX_LENGTH}", 0, 0)
        return mistakes
    if not text.isascii() and (half := _HALF.search(text)):
        mistakes.add("half of a character stands in the text", half.start(), half.end(), "it isn't valid Unicode")
        return mistakes
    from rulewright.expression.recovery import Recovery

    reading = Recovery(text, dialect, mistakes, MAX_DEPTH, macros=macros)
    tree = reading.unfinished() if unfinished else reading.whole()
    if tree is not None and not mistakes.found:
        return tree
    return mistakes.without_echoes() if dialect is Dialect.PROFILE else mistakes
