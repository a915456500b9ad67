"""Rulewright: compile declarative evaluation rules, lint them, prove them, and hand the runtime a plan."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself takes longer to import than a cached lint may take
if TYPE_CHECKING:
    from typing import Any

    from rulewright.compiling import compile_project
    from rulewright.diagnostics import Diagnostic
    from rulewright.errors import DocumentError, ExpressionError, RulewrightError, UsageError
    from rulewright.linting.run import lint
    from rulewright.project import Project, load_project
    from rulewright.prove.workflow import prove_workflow
    from rulewright.workflows.load import Workflow, compile_workflow, load_workflow

__all__ = [
    "Diagnostic",
    "DocumentError",
    "ExpressionError",
    "Project",
    "RulewrightError",
    "UsageError",
    "Workflow",
    "compile_project",
    "compile_workflow",
    "lint",
    "load_project",
    "load_workflow",
    "prove_workflow",
]

# No module here may bear the name of one of these: importing it would hide the name.
_HOMES = {
    "compiling": ("compile_project",),
    "diagnostics": ("Diagnostic",),
    "errors": ("DocumentError", "ExpressionError", "RulewrightError", "UsageError"),
    "linting.run": ("lint",),
    "project": ("Project", "load_project"),
    "prove.workflow": ("prove_workflow",),
    "workflows.load": ("Workflow", "compile_workflow", "load_workflow"),
}


def __getattr__(name: str) -> Any:
    """Load what is asked for only then: who wants one module does not pay for all."""
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"rulewright.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
