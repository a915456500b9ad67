"""Analyses an open document, alone and with its project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rulewright.documents.layout import PROJECT_FILE_NAMES
from rulewright.errors import DocumentError
from rulewright.linting.projects import lint_project
from rulewright.linting.report import Report
from rulewright.linting.run import lint, lint_text
from rulewright.lsp.document_context import enclosing_projects
from rulewright.project import Project, load_project

IGNORED_CODES = frozenset({"unknown-document", "empty-document"})  # an editor also sends files of other tools


@dataclass(frozen=True, slots=True)
class Analysis:
    """The report on a project at `path`; `project` is None where its file is broken."""

    path: Path
    project: Project | None
    report: Report


def analyse_enclosing_project(path: Path, within: Path | None) -> Analysis | None:
    """Return the analysis of the project that a file belongs to, or None. A file that does not exist yet belongs to the
    project whose folders its path is in."""
    for project_path in enclosing_projects(path, within) if path.is_absolute() else ():
        analysis = analyse_project(project_path)
        if str(path) in analysis.report.sources or not path.exists():
            return analysis
    return None


def analyse_project(path: Path) -> Analysis:
    """Return the analysis of a project."""
    try:
        project = load_project(path)
    except DocumentError:  # the project file itself is broken
        return Analysis(path, None, lint([path]))
    return Analysis(path, project, lint_project(project))


def analyse_document(path: Path, text: str) -> Report:
    """Return the findings of a document without its project; a workflow is read with its agents and contracts."""
    is_single = path.name in PROJECT_FILE_NAMES or not path.is_file()
    report = lint_text(text, str(path)) if is_single else lint([path])
    findings = tuple(each for each in report.diagnostics if each.code not in IGNORED_CODES)
    return Report(findings, report.allowed, report.sources)
