"""The expressions that stand in a document, parsed and checked in the environment of their place.

What means nothing where it stands is left out: lowering has said so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rulewright.diagnostics import Span
from rulewright.documents.case_scorecard import CaseScorecardDocument
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile
from rulewright.documents.scenario import Scenario
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import parsed
from rulewright.expression.checker import CheckedExpression, check
from rulewright.expression.environment import Environment
from rulewright.expression.nodes import Expr, children
from rulewright.load import Scalar, place
from rulewright.lower.case_scorecard import case_scorecard_expressions
from rulewright.lower.environments import check_environment, scenario_environment
from rulewright.lower.expression_checks import environment_of
from rulewright.lower.harness import branch_environment
from rulewright.lower.scorecard import scorecard_expressions
from rulewright.lower.workflow_environments import facts, loop_environment

Holder = CheckDocument | Profile | Scenario | ScorecardDocument | CaseScorecardDocument | TaskDocument
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


def places_of(document: Holder) -> list[tuple[Scalar, Environment]]:
    """Every expression of a document as it is written, right or wrong, with the environment of its place."""
    match document:
        case CheckDocument():
            when = [] if document.when is None else [(document.when, scenario_environment(document.vocabulary))]
            return when + [(scalar, environment_of(document)) for scalar in document.verdict_conditions]
        case Profile(select=Scalar() as select):
            return [(select, check_environment(document.vocabulary))]
        case Scenario():
            written = [branch.when for turn in document.turns for branch in turn.branches]
            return [(when, branch_environment()) for when in written if when is not None]
        case ScorecardDocument():
            return scorecard_expressions(document)
        case CaseScorecardDocument():
            return case_scorecard_expressions(document)
        case TaskDocument():
            conditions = [scalar for loop in document.loops for scalar in loop.conditions]
            return [(scalar, loop_environment(facts(document))) for scalar in conditions]
    return []
