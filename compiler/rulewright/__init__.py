"""Rulewright: compile declarative evaluation rules, lint them, prove them, and hand the runtime a plan."""

from importlib import import_module

TYPE_CHECKING = False  # importing `typing` takes longer than a cached lint may take
if TYPE_CHECKING:
    from rulewright.api import Run, check_transcript, evaluate, load_run, scan, score
    from rulewright.check.project_check import compile_project
    from rulewright.check.workflow_check import compile_workflow
    from rulewright.claims.documents import prove
    from rulewright.diagnostics import Diagnostic
    from rulewright.errors import DocumentError, ExpressionError, RulewrightError, UsageError
    from rulewright.linting.lint_run import lint
    from rulewright.project import Project, load_project
    from rulewright.workflow import Workflow, load_workflow
    from rulewright_runtime.errors import RuntimeFailure
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
    "RuntimeFailure",
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

# No module of this package may have one of these names: importing it would hide the name.
_NAMES_BY_MODULE = {
    "rulewright.api": ("Run", "check_transcript", "evaluate", "load_run", "scan", "score"),
    "rulewright.check.project_check": ("compile_project",),
    "rulewright.check.workflow_check": ("compile_workflow",),
    "rulewright.diagnostics": ("Diagnostic",),
    "rulewright.errors": ("DocumentError", "ExpressionError", "RulewrightError", "UsageError"),
    "rulewright.linting.lint_run": ("lint",),
    "rulewright.project": ("Project", "load_project"),
    "rulewright.claims.documents": ("prove",),
    "rulewright.workflow": ("Workflow", "load_workflow"),
    "rulewright_runtime.errors": ("RuntimeFailure",),
    "rulewright_runtime.judging.judge": ("Judge", "JudgeRequest"),
}


def __getattr__(name: str) -> object:
    """Import a public name on first access, so that the others cost nothing."""
    for module, names in _NAMES_BY_MODULE.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
