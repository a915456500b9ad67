from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import text
from rulewright.expression.direction import OPPOSITE
from rulewright.expression.syntax_tree import Expr, Name, field_of
from rulewright.lower.expressions_of import DocumentWithExpressions, operations_in

LOWER: Final = re.compile(r"(?:^|_)(?:from|min|minimum|at_least)(?:_|$)")
FROM: Final = re.compile(r"(?:from|at least|below|under)\b", re.IGNORECASE)  # how a description of a lower bound starts
MEANT: Final = {"<=": ">=", ">": "<"}


def bound_excluded(document: DocumentWithExpressions) -> Iterator[Diagnostic]:
    """A value is compared by `<=` or `>` with a parameter that is a lower bound by its name or description.

    Why it matters: a value that equals its lower bound reaches it, so `>=` and `<` are expected. `<=` and `>` usually
    point in the wrong direction, so that good values count as bad.
    Instead: reverse the comparison, or rename the parameter.
    """
    for written, part in operations_in(document, OPPOSITE):
        for bound, operator in ((part.right, part.operator), (part.left, OPPOSITE[part.operator])):
            other = part.left if bound is part.right else part.right
            if operator in MEANT and _is_lower_bound(bound, document) and not _is_lower_bound(other, document):
                meant = MEANT[operator] if bound is part.right else OPPOSITE[MEANT[operator]]
                message = f"`{written.text(bound)}` is a lower bound, so `{part.operator}` is the wrong way round"
                yield warning(written.span(part), message, help=f"did you mean `{meant}`?")


def _is_lower_bound(bound: Expr, document: DocumentWithExpressions) -> bool:
    """Whether an expression is a parameter that a value should reach."""
    if (parameter := field_of(bound, "params")) is not None:
        return LOWER.search(parameter) is not None
    if not isinstance(bound, Name) or document.get("parameters", bound.name) is None:
        return False
    described = text(document.node, "parameters", bound.name, "description")
    return LOWER.search(bound.name) is not None or FROM.match(described) is not None
