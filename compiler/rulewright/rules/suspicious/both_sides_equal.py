from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import repeated
from rulewright.expression import syntax_tree as ast
from rulewright.expression.direction import COMPARISONS, ORDERED
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of

JOINING: Final = frozenset({"&&", "||"})
SELF_CANCELLING: Final = frozenset({"-", "/", "%"})
PROVED: Final = frozenset(
    {"CheckDocument", "Profile", "ScorecardDocument", "CaseScorecardDocument", "StateMachineDocument", "TaskDocument"}
)


def both_sides_equal(document: DocumentWithExpressions) -> Findings:
    """Both sides of an operator, all arguments or both branches are the same expression, or a sum or list repeats one.

    Why it matters: the result is the same for every input; usually one side was meant to be something else. A number
    that a sum contains twice usually is in the place of another.
    Instead: correct one side, or simplify the expression.
    """
    # Where `condition-adds-nothing` runs, it reports joined conditions.
    operators = COMPARISONS | SELF_CANCELLING | (JOINING if type(document).__name__ not in PROVED else frozenset())
    for written, part in parts_of(document):
        if isinstance(part, ast.Binary) and part.operator in operators and part.left == part.right:
            yield warning(written.span(part), f"both sides of `{part.operator}` are `{written.text(part.left)}`")
        elif isinstance(part, ast.Binary) and part.operator in ORDERED and (same := _of_itself(part)) is not None:
            message = f"both sides of `{part.operator}` depend on `{written.text(same)}` alone"
            yield warning(written.span(part), message)
        elif isinstance(part, ast.Binary) and part.operator == "+" and _unscaled(part.right) in _summands(part.left):
            yield warning(written.span(part.right), f"`{written.text(_unscaled(part.right))}` is added twice")
        elif isinstance(part, ast.Call) and len({*part.args}) == 1 < len(part.args) and not _is_literal(part.args[0]):
            yield warning(written.span(part), f"both arguments of `{part.function}` are `{written.text(part.args[0])}`")
        elif isinstance(part, ast.ListLiteral) and (twice := _repeated(part)) is not None:
            yield warning(written.span(twice), f"`{written.text(twice)}` is in the list twice")
        elif isinstance(part, ast.Conditional) and part.then == part.otherwise:
            yield warning(written.span(part), f"both branches are `{written.text(part.then)}`")


def _is_literal(part: ast.Expr) -> bool:
    return isinstance(part, ast.Literal)


def _of_itself(part: ast.Binary) -> ast.Expr | None:
    """The value that a comparison holds against a multiple of itself: `loan > 0.9 * loan`."""
    for side, other in ((part.left, part.right), (part.right, part.left)):
        if isinstance(other, ast.Binary) and other.operator == "*" and ast.number_in(side) is None:
            factor = other.left if other.right == side else other.right if other.left == side else None
            if factor is not None and (ast.number_in(factor) is not None or ast.field_of(factor, "params")):
                return side
    return None


def _repeated(part: ast.ListLiteral) -> ast.Expr | None:
    """The first item of a list that it contains before, unless it is a number."""
    return next((each for each, _ in repeated(part.items, lambda item: item) if ast.number_in(each) is None), None)


def _summands(part: ast.Expr) -> Iterator[ast.Expr]:
    """The parts of a sum without its texts and numbers."""
    if isinstance(part, ast.Binary) and part.operator == "+":
        yield from _summands(part.left)
        yield from _summands(part.right)
    elif not isinstance(part, ast.Literal):
        yield _unscaled(part)


def _unscaled(part: ast.Expr) -> ast.Expr:
    """A summand without the number that it is multiplied by."""
    if (
        isinstance(part, ast.Binary)
        and part.operator == "*"
        and (ast.number_in(part.left) is None) != (ast.number_in(part.right) is None)
    ):
        return part.left if ast.number_in(part.left) is None else part.right
    return part
