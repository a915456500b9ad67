"""Rule: an operator with two equal sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.expression.syntax_tree import Binary, Conditional
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of

COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
JOINING: Final = frozenset({"&&", "||"})
PROVED: Final = frozenset({"CheckDocument", "Profile", "ScorecardDocument", "CaseScorecardDocument", "TaskDocument"})


def both_sides_equal(document: DocumentWithExpressions) -> Iterator[Diagnostic]:
    """Both sides of an operator, or both branches of a choice, are the same expression.

    Why it matters: the result is the same for every input; usually one side was meant to be something else.
    Instead: correct one side, or simplify the expression.
    """
    # Where `condition-adds-nothing` runs, it reports joined conditions.
    operators = COMPARISONS if type(document).__name__ in PROVED else COMPARISONS | JOINING
    for written, part in parts_of(document):
        if isinstance(part, Binary) and part.operator in operators and part.left == part.right:
            yield warning(written.span(part), f"both sides of `{part.operator}` are `{written.text(part.left)}`")
        elif isinstance(part, Conditional) and part.then == part.otherwise:
            yield warning(written.span(part), f"both branches are `{written.text(part.then)}`")
