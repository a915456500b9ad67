from __future__ import annotations

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.expression.syntax_tree import Literal, Name
from rulewright.lower.expressions_of import parts_of


def item_in_quotes(scorecard: CaseScorecardDocument) -> Findings:
    """A metric searches for the text `it` and not for the phrase that is called `it`.

    Why it matters: every phrase of the list has the same answer, whatever it says.
    Instead: write `it` without quotes.
    """
    for metric in scorecard.metrics:
        parts = [(written, part) for written, part in parts_of(scorecard) if written.scalar is metric.found]
        quoted = [each for each in parts if isinstance(each[1], Literal) and each[1].value == "it"]
        if quoted and not any(isinstance(part, Name) and part.name == "it" for _, part in parts):
            written, part = quoted[0]
            yield warning(
                written.span(part), "this is the text `it`, not the phrase that is looked for", help="write `it`"
            )
