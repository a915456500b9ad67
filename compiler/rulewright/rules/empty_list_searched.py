"""Rule: a search in an empty list, or for an empty list of phrases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.expression.nodes import Binary, Call, ListLiteral
from rulewright.lower.expressions_of import expressions_of

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument

SEARCHING: Final = frozenset({"contains_any", "contains_all", "contains_none", "has_any_word", "called_in_order"})


def empty_list_searched(
    document: CaseScorecardDocument | CheckDocument | Profile | ScenarioDocument | ScorecardDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """A condition searches an empty list, or searches a text for an empty list of phrases.

    Why it matters: `in []` never holds, and a search for no phrases can't be decided.
    Instead: add the values to search for, or remove the condition.
    """
    for written in expressions_of(document):
        for part in written.parts():
            match part:
                case Binary(operator="in", right=ListLiteral(items=())):
                    said = "can never hold: the list is empty"
                case Call(function=name, args=(*_, ListLiteral(items=()))) if name in SEARCHING:
                    said = "searches for nothing: the list is empty"
                case _:
                    continue
            yield error(written.span(part), f"`{written.text(part)}` {said}")
