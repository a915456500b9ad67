"""Rulewright: compile declarative evaluation rules, lint them, prove them, and hand the runtime a plan."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `typing` itself takes longer to import than a cached lint may take
if TYPE_CHECKING:
    from rulewright.api import Run, check_transcript, evaluate, load_run, scan, score
    from rulewright.check.project_check import compile_project
    from rulewright.check.workflow_check import compile_workflow
    from rulewright.claims.documents import prove
    from rulewright.diagnostics import Diagnostic
    from rulewright.errors import DocumentError, ExpressionError, RulewrightError, UsageError
    from rulewright.linting.run import lint
    from rulewright.project import Project, load_project
    from rulewright.workflow import Workflow, load_workflow
    from rulewright_runtime.judging.judge import Judge, JudgeRequest

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "DocumentError",
    "ExpressionError",
    "Judge",
    "JudgeRequest",
    "Project",
    "RulewrightError",
    "Run",
    "UsageError",
    "Workflow",
    "__version__",
    "check_transcript",
    "compile_project",
    "compile_workflow",
    "evaluate",
    "lint",
    "load_project",
    "load_run",
    "load_workflow",
    "prove",
    "scan",
    "score",
]

# No module here may bear the name of one of these: importing it would hide the name.
_HOMES = {
    "rulewright.api": ("Run", "check_transcript", "evaluate", "load_run", "scan", "score"),
    "rulewright.check.project_check": ("compile_project",),
    "rulewright.check.workflow_check": ("compile_workflow",),
    "rulewright.diagnostics": ("Diagnostic",),
    "rulewright.errors": ("DocumentError", "ExpressionError", "RulewrightError", "UsageError"),
    "rulewright.linting.run": ("lint",),
    "rulewright.project": ("Project", "load_project"),
    "rulewright.claims.documents": ("prove",),
    "rulewright.workflow": ("Workflow", "load_workflow"),
    "rulewright_runtime.judging.judge": ("Judge", "JudgeRequest"),
}


def __getattr__(name: str) -> object:
    """Load what is asked for only then: who wants one module does not pay for all."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that are offered."""
    return sorted(__all__)
