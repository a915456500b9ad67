"""Rule: a search in an empty list, or for an empty list of phrases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.expression.syntax_tree import Binary, Call, ListLiteral, Literal
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of

SEARCHING: Final = frozenset({"contains_any", "contains_all", "contains_none", "has_any_word", "called_in_order"})


def empty_list_searched(document: DocumentWithExpressions) -> Iterator[Diagnostic]:
    """A condition searches an empty list, or searches a text for an empty list of phrases.

    Why it matters: `in []` never holds, and a search for no phrases can't be decided.
    Instead: add the values to search for, or remove the condition.
    """
    for written, part in parts_of(document):
        match part:
            case Binary(operator="in", right=ListLiteral(items=())):
                consequence = "can never hold: the list is empty"
            case Call(function=name, args=(*_, ListLiteral(items=()))) if name in SEARCHING:
                consequence = "searches for nothing: the list is empty"
            case Call(function="contains" | "startsWith" | "endsWith", args=(Literal(value=""),)):
                consequence = "always holds: the text is empty"
            case _:
                continue
        yield error(written.span(part), f"`{written.text(part)}` {consequence}")
