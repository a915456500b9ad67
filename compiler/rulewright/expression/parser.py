"""Parses the text of an expression into syntax nodes, or reports every mistake that can be found reliably.

Lark parses. It is imported with the first expression, so that a project without any starts without it.
"""

import re
from functools import lru_cache
from typing import Final

from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.syntax_tree import Dialect, Expr

MAX_LENGTH: Final = 100_000  # code points, as in cel-go
MAX_DEPTH: Final = 250  # of brackets, and of the tree, so that a walk over it may recurse
_MAX_CACHED: Final = 2_000  # code points; longer texts rarely occur twice
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def parse(text: str, dialect: Dialect = Dialect.PROFILE, *, macros: bool = True) -> Expr:
    """The syntax tree of `text`, at most 250 levels deep; without `macros` a macro is an ordinary call.

    Raises `ExpressionError` with every mistake found, in source order.
    """
    result = _parse_cached(text, dialect, macros) if len(text) <= _MAX_CACHED else _parse(text, dialect, macros)
    if isinstance(result, Mistakes):
        raise result.error()
    return result


def parse_unfinished(text: str, dialect: Dialect = Dialect.PROFILE) -> Expr:
    """The tree of a text that ends too early, completed with placeholders.

    Raises `ExpressionError` if no expression starts with this text.
    """
    result = _parse(text, dialect, True, unfinished=True)
    if isinstance(result, Mistakes):
        raise result.error()
    return result


@lru_cache(maxsize=4096)
def _parse_cached(text: str, dialect: Dialect, macros: bool) -> Expr | Mistakes:
    return _parse(text, dialect, macros)


def _parse(text: str, dialect: Dialect, macros: bool, *, unfinished: bool = False) -> Expr | Mistakes:
    """The tree, or the mistakes."""
    mistakes = Mistakes(text)
    if len(text) > MAX_LENGTH:
        mistakes.add(f"the expression has {len(text)} characters, more than {MAX_LENGTH}", 0, 0)
        return mistakes
    if not text.isascii() and (surrogate := _SURROGATE.search(text)):
        mistakes.add("unpaired surrogate", surrogate.start(), surrogate.end(), "it isn't valid Unicode")
        return mistakes
    from rulewright.expression.recovery import Recovery

    recovery = Recovery(text, dialect, mistakes, MAX_DEPTH, macros=macros)
    tree = recovery.unfinished() if unfinished else recovery.whole()
    if tree is not None and not mistakes.by_start:
        return tree
    return mistakes.without_echoes() if dialect is Dialect.PROFILE else mistakes
