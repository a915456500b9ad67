from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.expression.syntax_tree import Literal, Name
from rulewright.lower.expressions_of import expressions_of


def item_in_quotes(scorecard: CaseScorecardDocument) -> Findings:
    """A metric searches for the text `it` instead of the phrase in the variable `it`.

    Why it matters: every phrase of the list has the same answer, whatever it says.
    Instead: write `it` without quotes.
    """
    searches = {id(metric.found) for metric in scorecard.metrics}
    for written in expressions_of(scorecard):
        quoted = [each for each in written.parts if isinstance(each, Literal) and each.value == "it"]
        reads_it = any(isinstance(each, Name) and each.name == "it" for each in written.parts)
        if quoted and not reads_it and id(written.scalar) in searches:
            message = "this is the text `it`, not the phrase that is looked for"
            yield warning(written.span(quoted[0]), message, help="write `it`")
