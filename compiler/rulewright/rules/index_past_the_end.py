"""Rule: an index equal to the size of its list, or below 0."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.expression.syntax_tree import Call, Expr, Index, Literal
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of


def index_past_the_end(document: DocumentWithExpressions) -> Iterator[Diagnostic]:
    """An index is the size of its own list, or below 0.

    Why it matters: the last item has the index `size(xs) - 1`, so there is never an item at this one, and the condition
    can't be decided. Nor is there an item below 0: a negative index does not count from the end.
    Instead: write `xs[size(xs) - 1]` for the last item.
    """
    for written, part in parts_of(document):
        if isinstance(part, Index) and _is_negative(part.index):
            name, index = written.text(part.operand), written.text(part.index)
            message = f"`{name}` never has an item at `{index}`"
            yield warning(written.span(part.index), message, help=f"write `size({name}) - {index.lstrip('- ')}`")
        if not isinstance(part, Index) or not isinstance(part.index, Call) or part.index.function != "size":
            continue
        if part.operand in (part.index.target, *part.index.args):
            name, index = written.text(part.operand), written.text(part.index)
            message = f"`{name}` never has an item at `{index}`"
            yield warning(written.span(part.index), message, help=f"write `{index} - 1`")


def _is_negative(index: Expr) -> bool:
    return isinstance(index, Literal) and type(index.value) is int and index.value < 0
