import re
from collections.abc import Iterator

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.direction import unwrapped
from rulewright.expression.syntax_tree import Binary, Call, Conditional, Expr, Name, number_in
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, expressions_of, parts_of


def absent_counts_as_full(scorecard: ScorecardDocument) -> Findings:
    """A score over nothing is 1: `empty: 1`, or `orValue(score(1))` in a comparison or a choice.

    Why it matters: if nothing was measured, the best score or label is given.
    Instead: write `empty: absent`, `orValue(score(0))`, or test `hasValue()` first.
    """
    for rate in (*scorecard.dimensions, *scorecard.rates):
        if "PASS" in rate.hit and rate.empty.text == "1":
            yield warning(rate.empty, f"`{rate.name}` is 1 if nothing was measured", help="write `empty: absent`")
    variables = dict(scorecard.variables)
    of_variables = {id(each.scalar): each for each in expressions_of(scorecard)}
    reported: set[str] = set()
    for written, left in _compared(scorecard):
        name = left.name if isinstance(left, Name) else ""
        read = of_variables.get(id(variables.get(name)))
        if read is not None and name not in reported:
            reported.add(name)
            written, left = read, read.checked.expr
        text = written.text(left)
        if _is_full(left) and not reads_failures(text, scorecard):
            yield warning(written.span(left), f"`{text}` is 1 if nothing was measured")


def _compared(scorecard: ScorecardDocument) -> Iterator[tuple[WrittenExpression, Expr]]:
    """What has to be high: compared with a lower limit anywhere, or with an upper one to choose a value."""
    for written, part in parts_of(scorecard):
        decided = part.condition if isinstance(part, Conditional) else part
        operators = ("<", "<=") if isinstance(part, Conditional) else (">", ">=")
        if isinstance(decided, Binary) and decided.operator in operators:
            yield written, decided.left


def reads_failures(text: str, document: DocumentWithExpressions) -> bool:
    """Whether an expression reads a rate of which 1 is the worst, because it does not count what passed."""
    rates = getattr(document, "rates", ())
    return any(rate.name in re.findall(r"\brates\.(\w+)", text) for rate in rates if "PASS" not in rate.hit)


def _is_full(part: Expr) -> bool:
    if not isinstance(part, Call) or part.function != "orValue":
        return False
    default = number_in(unwrapped(part.args[0]))
    return default == 1
