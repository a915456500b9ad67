from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.lower.expressions_of import DocumentWithExpressions
from rulewright.proving.placed_conditions import placed_conditions
from rulewright.proving.studies import span_of
from rulewright.proving.verdicts import never_given


def condition_never_holds(document: DocumentWithExpressions) -> Findings:
    """A condition is true for no input.

    Why it matters: what it guards never happens.
    Instead: look for parts that contradict each other, or for a number on the wrong side of a comparison.
    """
    yield from _unclear_after_fail(document)
    for placed in placed_conditions(document):
        is_decided = not all(holds for _, holds in placed.study.decided)
        if placed.study.never and not placed.in_table and not is_decided:  # else `comparison-out-of-range`
            yield warning(placed.place, f"this condition can never hold{placed.study.given}")
        for part, holds in placed.study.dead:
            if not holds:
                yield warning(span_of(placed, part), "this part of the condition can never hold")


def _unclear_after_fail(document: object) -> Findings:
    """A finding for an `unclear` that holds only where `fail` has already decided."""
    if not isinstance(document, CheckDocument) or document.unclears is None:
        return
    if never_given(document, "UNCLEAR"):
        yield warning(document.unclears, "this condition can never hold after `fail`")
