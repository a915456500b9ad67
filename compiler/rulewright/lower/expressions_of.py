"""The expressions that stand in a document, parsed and checked in the environment of their place.

What means nothing where it stands is left out: lowering has said so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from rulewright.diagnostics import Span
from rulewright.errors import ExpressionError
from rulewright.expression.build import parsed
from rulewright.expression.checker import CheckedExpression, check
from rulewright.expression.environment import Environment
from rulewright.expression.nodes import Expr, children
from rulewright.load import Scalar, place

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument

    Holder: TypeAlias = (
        CheckDocument | Profile | ScenarioDocument | ScorecardDocument | CaseScorecardDocument | TaskDocument
    )

Places = list[tuple[Scalar, Environment]]
# Who knows where the expressions of a document stand: a function of the module that lowers its kind, which is imported
# with the first such document.
PLACES: Final = {
    "CheckDocument": ("expression_checks", "check_expressions"),
    "Profile": ("environments", "profile_expressions"),
    "ScenarioDocument": ("harness", "branch_expressions"),
    "StateMachineDocument": ("machines", "transition_expressions"),
    "ScorecardDocument": ("scorecard", "scorecard_expressions"),
    "CaseScorecardDocument": ("case_scorecard", "case_scorecard_expressions"),
    "TaskDocument": ("workflow_environments", "loop_expressions"),
}
KEPT: Final = 64  # documents that several rules look at one after the other


@dataclass(frozen=True, slots=True, eq=False)
class WrittenExpression:
    """An expression where an author wrote it."""

    scalar: Scalar
    checked: CheckedExpression

    def parts(self) -> Iterator[Expr]:
        """Every part of it, itself first."""
        waiting = [self.checked.expr]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(reversed(children(part)))

    def text(self, part: Expr) -> str:
        """A part as its author wrote it."""
        return str(self.scalar.value)[part.span.start : part.span.end]

    def span(self, part: Expr) -> Span:
        """Where a part stands in its file."""
        return place(self.scalar, part.span.start, part.span.end)


@lru_cache(maxsize=KEPT)
def expressions_of(document: Holder) -> tuple[WrittenExpression, ...]:
    """The expressions of a document that mean something where they stand, in the order they are read."""
    found = []
    for scalar, environment in places_of(document):
        text = str(scalar.value)
        try:
            found.append(WrittenExpression(scalar, check(parsed(text, environment), text, environment)))
        except ExpressionError:
            continue
    return tuple(found)


def places_of(document: object) -> Places:
    """Every expression of a document as it is written, right or wrong, with the environment of its place."""
    known = PLACES.get(type(document).__name__)
    if known is None:
        return []
    module, name = known
    places: Callable[[object], Places] = getattr(import_module(f"rulewright.lower.{module}"), name)
    return places(document)
