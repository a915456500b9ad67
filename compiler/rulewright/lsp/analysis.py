"""One look at a document: what is wrong with it alone, and with the project round it as it stands in the editor."""

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

NOT_OURS = frozenset({"unknown-document", "empty-document"})  # an editor shows us files that are none of ours, too


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found in a project: `path` is where it lies, `project` None where its file is broken."""

    path: Path
    project: Project | None
    report: Report


def analyse_around(path: Path, within: Path | None) -> Analysis | None:
    """The findings of the project that a file belongs to, or None where it belongs to none. A file that is not there
    yet belongs to the project in whose folders it will be."""
    for place in enclosing_projects(path, within) if path.is_absolute() else ():
        found = analyse_project(place)
        if str(path) in found.report.sources or not path.exists():
            return found
    return None


def analyse_project(place: Path) -> Analysis:
    """The findings of a project."""
    try:
        project = load_project(place)
    except DocumentError:  # the project file itself is broken
        return Analysis(place, None, lint([place]))
    return Analysis(place, project, lint_project(project))


def analyse_document(path: Path, text: str) -> Report:
    """The findings of a document without what belongs to no single document; a workflow brings its surroundings."""
    stands_alone = path.name in PROJECT_FILE_NAMES or not path.is_file()
    report = lint_text(text, str(path)) if stands_alone else lint([path])
    kept = tuple(each for each in report.diagnostics if each.code not in NOT_OURS)
    return Report(kept, report.allowed, report.sources)
