from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Binary
from rulewright.expression.types import DOUBLE
from rulewright.lower.expressions_of import DocumentWithExpressions, operations_in

ROUNDING: Final = frozenset("+-*/")


def equality_after_rounding(document: DocumentWithExpressions) -> Findings:
    """`==` or `!=` compares the result of floating-point arithmetic.

    Why it matters: the arithmetic rounds: `0.1 + 0.2 == 0.3` is false. Scores are exact; other decimal numbers are not.
    Instead: compare with `<=` or `>=`, or declare the parameter as a `score`.
    """
    for written, part in operations_in(document, {"==", "!="}):
        for side in (part.left, part.right):
            computed = isinstance(side, Binary) and side.operator in ROUNDING
            if computed and written.checked.type_of(side) == DOUBLE:
                message = f"`{written.text(side)}` is rounded, so `{part.operator}` is unreliable"
                yield warning(written.span(part), message)
                break
