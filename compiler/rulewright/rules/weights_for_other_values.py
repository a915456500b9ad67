"""Rule: a weighted mean with different numbers of values and weights."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error
from rulewright.expression.syntax_tree import Call, ListLiteral
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of


def weights_for_other_values(document: DocumentWithExpressions) -> Iterator[Diagnostic]:
    """The two lists of a `wmean` have different lengths.

    Why it matters: such a mean is not defined, so the expression fails every time.
    Instead: give every value a weight.
    """
    for written, part in parts_of(document):
        if not isinstance(part, Call) or part.function != "wmean" or len(part.args) != 2:
            continue
        values, weights = part.args
        if not isinstance(values, ListLiteral) or not isinstance(weights, ListLiteral):
            continue
        counts = len(values.items), len(weights.items)
        if counts[0] != counts[1] and not values.optional and not weights.optional:
            yield error(written.span(weights), f"`wmean` has {counts[0]} values and {counts[1]} weights")
