"""Rule: two arguments in each other's place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.expression.syntax_tree import Call, Expr, Literal, Name, children
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of

JUDGED_BY: Final = frozenset({"matches", "valid_against"})  # a value of the conversation, and what it is held against
WEIGHTED: Final = frozenset({"wmean", "wmean_present"})


def arguments_swapped(document: DocumentWithExpressions) -> Iterator[Diagnostic]:
    """The arguments of `matches`, `valid_against` or a weighted mean are in each other's place.

    Why it matters: a pattern of the author is searched for whatever the model wrote, an answer is taken for the schema,
    or the weights are averaged. The types fit, so nothing refuses it.
    Instead: `text.matches(pattern)`, `valid_against(value, schema)`, `wmean(values, weights)`.
    """
    for written, part in parts_of(document):
        if not isinstance(part, Call):
            continue
        args = (*(() if part.target is None else (part.target,)), *part.args)
        if len(args) == 2 and _is_swapped(part.function, *args, *map(written.text, args)):
            first, second = map(written.text, args)
            help = f"`{second}` is what comes first"
            yield warning(written.span(part), f"`{first}` and `{second}` are swapped", help=help)


def _is_swapped(function: str, first: Expr, second: Expr, first_text: str, second_text: str) -> bool:
    if function == "contains_ci":
        return first_text == "it"  # an item of the list whose share is found
    if function in WEIGHTED:
        return "weight" in first_text and "weight" not in second_text
    return function in JUDGED_BY and _roots(first) == {"params"} and bool(_roots(second) - {"params", ""})


def _roots(part: Expr) -> set[str]:
    """The names that an expression reads."""
    if isinstance(part, Name):
        return {part.name}
    if isinstance(part, Literal):
        return {""}
    return {name for child in children(part) for name in _roots(child)}
