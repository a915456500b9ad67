"""Lints whole projects and workflows; linting a single document does not import this module."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from rulewright.causes.repeated import unread_kinds, without_dependent
from rulewright.check import workflow_check
from rulewright.check.project_check import check
from rulewright.diagnostics import Diagnostic
from rulewright.errors import DocumentError
from rulewright.linting.lint_report import Report, report_of
from rulewright.linting.lint_settings import DEFAULT, LintSettings, RuleSelection, settings_of
from rulewright.load import Loaded, load_file
from rulewright.load.file_reader import unsaved
from rulewright.project import Project, load_project
from rulewright.workflow import load_workflow, workflow_of


def lint_project(project: Project, selection: RuleSelection = DEFAULT) -> Report:
    """Return the findings of a project that is already loaded."""

    def again(texts: Mapping[str, str]) -> list[Diagnostic]:
        with unsaved(texts):
            other = load_project(project.path or project.folder)
            findings, settings = check(other).findings, settings_of(other.file)
            found = without_dependent(findings, other, unread_kinds(findings, other))
            rest, _ = settings.without_accepted(found)
            return [each for each in rest if settings.wants(each.code, each.span.path, selection)]

    checked = check(project)
    unread = unread_kinds(checked.findings, project)
    found = without_dependent(checked.findings, project, unread)
    files = (*project.loaded, *checked.loaded)
    return report_of(found, files, selection, settings_of(project.file), again, whole=not unread)


def lint_project_at(path: Path, selection: RuleSelection) -> Report:
    """Return the findings of the project at `path`, or of its project file alone if that can't be read."""
    try:
        return lint_project(load_project(path), selection)
    except DocumentError as failure:  # the project file itself is broken
        files = [load_file(name) for name in sorted({found.span.path for found in failure.diagnostics})]
        return report_of(failure.diagnostics, files, selection, LintSettings(), whole=False)


def lint_workflow(path: Path, selection: RuleSelection) -> Report:
    """Return the findings of a workflow's file; agents and contracts come from the project it belongs to."""

    def again(texts: Mapping[str, str]) -> Iterable[Diagnostic]:
        with unsaved(texts):
            return workflow_check.check(load_workflow(path))

    workflow = load_workflow(path)
    found = workflow_check.check(workflow)
    return report_of(found, workflow.loaded, selection, settings_of(workflow.project), again, whole=False)


def workflow_findings(loaded: Loaded) -> list[Diagnostic]:
    """Return the findings of a workflow without its project."""
    return list(workflow_check.check(workflow_of(loaded)))
