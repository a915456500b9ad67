"""From a project on disk to a plan: load, check, seal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rulewright.check.choices import choose_profile, choose_scorecard
from rulewright.check.project_check import Checked
from rulewright.diagnostics import Diagnostic
from rulewright.errors import DocumentError, UsageError
from rulewright.project import Project, load_project, stopping
from rulewright_runtime.plan.scan import Plan


def compile_project(path: Path | str | Project, *, profile: str | None = None, scorecard: str | None = None) -> Plan:
    """The sealed plan of the project at `path` (a project file or folder) under a profile and a scorecard.

    Names left out are those of the project file, else `publish` and `two-tier`, else the only one there is. Raises
    `DocumentError` with every finding that forbids to compile, `UsageError` for an unknown profile or scorecard.
    """
    project = path if isinstance(path, Project) else load_project(path)
    try:
        chosen = choose_profile(project, profile)
        card = choose_scorecard(project, scorecard)
    except UsageError:
        _refuse(project, project.diagnostics)  # where a folder is not found, its profiles are not either
        raise
    checked = Checked(project, chosen, card)
    _refuse(project, checked.preliminary)
    if not project.checks and not chosen.include_rubrics:
        raise UsageError(f"the project of `{project.folder}` has no checks, so there is nothing to compile")
    _refuse(project, checked.blocking)
    return checked.plan()


def _refuse(project: Project, found: Iterable[Diagnostic]) -> None:
    """Raise `DocumentError` when one of the findings forbids to compile the project."""
    if stops := stopping(project, found):
        raise DocumentError(stops)
