import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import text
from rulewright.expression.direction import OPPOSITE, comparisons, unwrapped
from rulewright.expression.syntax_tree import Binary, Expr, Name, field_of
from rulewright.lower.compared_numbers import decisive_parts
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, expressions_of, operations_in

LOWER: Final = re.compile(r"(?:^|_)(?:from|min|minimum|at_least)(?:_|$)")
FROM: Final = re.compile(r"(?:from|at least|below|under)\b", re.IGNORECASE)  # how a description of a lower bound starts
UPPER: Final = re.compile(
    r"(?:^|_)(?:at_most|highest|largest|longest|max|maximum|up_to)(?:_|$)|(?:^|_)(?:most|upper(?:_(?:bound|limit))?)$"
)
LEAST: Final = re.compile(r"(?:^|_)(?:fewest|least|lowest|shortest|smallest)(?:_|$)|(?:^|_)lower(?:_(?:bound|limit))?$")
# By which operators of `fails` and of `passes` a value fails that equals its bound.
FAILING: Final = (
    (UPPER, "an upper", {"fails": ">=", "passes": "<"}),
    (LEAST, "a lower", {"fails": "<=", "passes": ">"}),
)
REACHING: Final = {">=": ">", "<": "<=", ">": ">=", "<=": "<"}
MEANT: Final = {"<=": ">=", ">": "<"}


def bound_excluded(document: DocumentWithExpressions) -> Findings:
    """A value is compared by `<=` or `>` with a lower bound, or a check fails for a value that equals its bound.

    Why it matters: a value that equals its bound keeps to it. `<=` and `>` usually point in the wrong direction, so
    that good values count as bad; with `fail: n >= params.most`, the largest allowed number fails. A parameter is a
    bound by its name (`min`, `from`, `least`, `max`, `most`) or its description.
    Instead: reverse the comparison, or rename the parameter.
    """
    yield from _by_name(document)
    for written, part in operations_in(document, OPPOSITE):
        for bound, operator in ((part.right, part.operator), (part.left, OPPOSITE[part.operator])):
            other = part.left if bound is part.right else part.right
            if operator in MEANT and _is_lower_bound(bound, document) and not _is_lower_bound(other, document):
                meant = MEANT[operator] if bound is part.right else OPPOSITE[MEANT[operator]]
                message = f"`{written.text(bound)}` is a lower bound, so `{part.operator}` is the wrong way round"
                yield warning(written.span(part), message, help=f"did you mean `{meant}`?")


def _by_name(document: DocumentWithExpressions) -> Findings:
    """The comparisons by which a check fails for a value that equals the bound that a parameter is by its name, and
    those that fail for all values within it, next to one that compares the same value in the same direction."""
    for written in expressions_of(document):
        key = next((key for key in ("fails", "passes") if getattr(document, key, None) is written.scalar), "")
        deciding = decisive_parts(written.checked.expr, -1 if key == "fails" else 1) if key else ()
        decisive = [(part, _way(written, part)) for each in deciding for _, part in comparisons(each, 1)]
        twice = [part for part, way in decisive if [other for _, other in decisive].count(way) > 1]
        for sign, part in comparisons(written.checked.expr, 1) if key else ():
            operator = part.operator if sign > 0 else OPPOSITE[part.operator]
            right = unwrapped(part.right)
            name = field_of(right, "params") or ""
            bound, failing = next(((bound, by[key]) for names, bound, by in FAILING if names.search(name)), ("", ""))
            if not bound or all(names.search(name) for names, _, _ in FAILING):
                continue
            if operator == failing:
                message = f"`{written.text(right)}` is {bound} bound, but `{part.operator}` excludes it"
                yield warning(written.span(part), message, help=f"did you mean `{REACHING[part.operator]}`?")
            elif operator[0] == OPPOSITE[failing][0] and any(each is part for each in twice):
                message = f"`{written.text(right)}` is {bound} bound, so `{part.operator}` is the wrong way round"
                yield warning(written.span(part), message, help=f"did you mean `{OPPOSITE[part.operator]}`?")


def _way(written: WrittenExpression, part: Binary) -> tuple[str, str]:
    """What a comparison compares, and in which direction."""
    return written.text(part.left), part.operator[0]


def _is_lower_bound(bound: Expr, document: DocumentWithExpressions) -> bool:
    """Whether an expression is a parameter that a value should reach."""
    if (parameter := field_of(bound, "params")) is not None:
        return LOWER.search(parameter) is not None
    if not isinstance(bound, Name) or document.get("parameters", bound.name) is None:
        return False
    described = text(document.node, "parameters", bound.name, "description")
    return LOWER.search(bound.name) is not None or FROM.match(described) is not None
