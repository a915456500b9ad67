"""Which scalars of a document are expressions, and the environment of each; the language is imported with the first."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from rulewright.expression.environment import Environment
    from rulewright.load import Scalar

ScopedExpressions: TypeAlias = "list[tuple[Scalar, Environment]]"
# The function that finds the expressions of a document: its module lowers that kind, and is imported with the first
# such document.
EXPRESSION_READERS: Final = {
    "CheckDocument": ("expression_checks", "check_expressions"),
    "Profile": ("expressions", "profile_expressions"),
    "ScenarioDocument": ("harness", "branch_expressions"),
    "StateMachineDocument": ("machines", "transition_expressions"),
    "ScorecardDocument": ("scorecard", "scorecard_expressions"),
    "CaseScorecardDocument": ("case_scorecard", "case_scorecard_expressions"),
    "TaskDocument": ("workflow_guards", "task_expressions"),
}


def scoped_expressions(document: object) -> ScopedExpressions:
    """Return every expression of a document, valid or not, with its environment."""
    reader = EXPRESSION_READERS.get(type(document).__name__)
    if reader is None:
        return []
    module, name = reader
    expressions: Callable[[object], ScopedExpressions] = getattr(import_module(f"rulewright.lower.{module}"), name)
    return expressions(document)
