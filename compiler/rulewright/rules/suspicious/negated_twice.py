from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Unary
from rulewright.lower.expressions_of import parts_of

if TYPE_CHECKING:
    from rulewright.lower.expressions_of import DocumentWithExpressions


def negated_twice(document: DocumentWithExpressions) -> Findings:
    """A condition is negated twice.

    Why it matters: two negations cancel out, so the condition means the opposite of what each of them says.
    Instead: remove one of them, or both.
    """
    for written, part in parts_of(document):
        if isinstance(part, Unary) and isinstance(part.operand, Unary) and part.operator == part.operand.operator:
            text = written.text(part.operand.operand)
            help = f"write `{written.text(part.operand)}` or `{text}`"
            yield warning(written.span(part), f"two negations of `{text}` cancel out", help=help)
