from rulewright.diagnostics import Findings, warning
from rulewright.lower.expressions_of import DocumentWithExpressions
from rulewright.proving.placed_conditions import placed_conditions
from rulewright.proving.studies import span_of


def condition_always_holds(document: DocumentWithExpressions) -> Findings:
    """A condition is true for every input.

    Why it matters: it looks like a decision, but decides nothing.
    Instead: write `true` if that is intended, else look for parts that together cover every case.
    """
    for placed in placed_conditions(document):
        if placed.study.always and not placed.in_table:
            yield warning(placed.place, f"this condition always holds{placed.study.given}")
        for part, holds in placed.study.dead:
            if holds:
                yield warning(span_of(placed, part), "this part of the condition always holds")
