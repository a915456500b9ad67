from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Literal
from rulewright.expression.types import INT, UINT
from rulewright.lower.expressions_of import DocumentWithExpressions, operations_in


def integer_division(document: DocumentWithExpressions) -> Findings:
    """Both sides of a division are whole numbers.

    Why it matters: the result is a whole number, too: `3 / 4` is 0, so a share of counts is always 0 or 1.
    Instead: write one side as a decimal number, or convert it with `double(...)`.
    """
    for written, part in operations_in(document, {"/"}):
        sides = (part.left, part.right)
        kinds = {written.checked.type_of(side) for side in sides}
        if not kinds <= {INT, UINT} or any(id(side) in written.checked.scores for side in sides):
            continue
        left, right = (side.value if isinstance(side, Literal) else None for side in sides)
        if isinstance(left, int) and isinstance(right, int) and right and left % right == 0:
            continue
        message = f"`{written.text(part)}` divides whole numbers and drops the remainder"
        yield warning(written.span(part), message, help=f"write `double({written.text(part.left)}) / ...`")
