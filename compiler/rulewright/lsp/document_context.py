"""The context of a document: its project, its kind, and its workflow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rulewright.documents.kinds import kind_of
from rulewright.documents.layout import (
    PROJECT_FILE_NAMES,
    USUAL_WORKFLOWS,
    looks_like_a_project,
    places,
    project_file_in,
    resolve,
)
from rulewright.documents.project_file import read_project_file
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.errors import RulewrightError
from rulewright.load import Mapping, Node, load_file
from rulewright.project import Project
from rulewright.workflow import DEFAULT_AGENTS, DEFAULT_CONTRACTS, Workflow, load_workflow

# The kind of the documents in each folder of a project, and of the single file in its place.
KINDS: Final[dict[str, tuple[str, str]]] = {
    "checks": ("check", "check"),
    "lexicons": ("lexicon", "lexicons"),
    "markers": ("markers", "markers"),
    "scenarios": ("scenario", "scenario"),
    "profiles": ("profile", "profiles"),
    "blindspots": ("blindspots", "blindspots"),
    "scoring": ("scoring", "scoring"),
    "pricing": ("pricing", "pricing"),
    "scorecards": ("scorecard", "scorecard"),
    "state_machines": ("state_machine", "state_machine"),
    "corpora": ("corpus", "corpus"),
}


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """A document's context. `project` may be None; `previous_kind` counts while neither path nor keys show the kind."""

    path: Path
    project: Project | None
    previous_kind: str | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        """The project's vocabulary."""
        return invisiblebench() if self.project is None else self.project.vocabulary

    @property
    def overlays(self) -> Node | None:
        """The project's overlays for every task."""
        file = None if self.project is None else self.project.file
        return None if file is None else file.get("workflow", "overlays")

    def kind(self, root: Node | None) -> str | None:
        """Return the document's kind, a schema's name: by its path in the project, else by its keys."""
        if self.path.name in PROJECT_FILE_NAMES:
            return "project"
        written = kind_of(root)
        if written == "case_scorecard":
            return written
        return self._kind_of_place() or written or self.previous_kind

    def _kind_of_place(self) -> str | None:
        project = self.project
        if project is None:
            return None
        for name, place in places(project.root, project.file, project.path).items():
            in_folder, alone = KINDS.get(name, (None, None))
            if place.path == self.path:
                return alone
            if place.path == self.path.parent or (name == "scenarios" and place.path in self.path.parents):
                return in_folder
        return "agent" if self.path.parent == self._agents(project) else None

    def _agents(self, project: Project) -> Path:
        written = None if project.file is None else project.file.workflow.get("agents")
        if written is None or project.path is None:
            return project.root / DEFAULT_AGENTS
        return resolve(written, project.path, project.root)

    def workflow(self, kind: str | None) -> Workflow | None:
        """Return the document's own workflow, else the one that its project runs; None without one."""
        folder = self.path.parent if self.project is None else self.project.folder
        try:
            return load_workflow(self.path) if kind == "workflow" else load_workflow(folder=folder)
        except RulewrightError:
            return None


def enclosing_projects(path: Path, within: Path | None) -> Iterator[Path]:
    """The projects that a file may belong to, the nearest first: in the folders above it, and one level below these as
    long as they are `within` the folder that the editor has open."""
    for folder in path.parents:
        searched = within is not None and (folder == within or within in folder.parents)
        for place in _projects_in(folder, searched=searched):
            if _may_hold(place, path):
                yield place


def _projects_in(folder: Path, *, searched: bool) -> Iterator[Path]:
    if (file := project_file_in(folder)) is not None:
        yield file
    elif looks_like_a_project(folder):
        yield folder
    elif searched:
        inner = (project_file_in(each) for each in _folders_in(folder))
        yield from (file for file in inner if file is not None)


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_dir())
    except OSError:  # an unreadable folder
        return []


def _may_hold(project_path: Path, path: Path) -> bool:
    """Whether a file's path is one where a project may have documents; only loading the project decides."""
    file = project_path if project_path.is_file() else None
    node = None if file is None else load_file(file).root
    if file is not None and (path == file or not isinstance(node, Mapping)):
        return path == file
    document = read_project_file(node, os.environ) if isinstance(node, Mapping) else None
    folder = project_path if file is None else project_path.parent
    root = folder if document is None or document.root is None else Path(os.path.normpath(folder / document.root))
    paths = [each.path for each in places(root, document, file).values()]
    paths += [root / name for name in (*USUAL_WORKFLOWS, DEFAULT_AGENTS, DEFAULT_CONTRACTS)]
    if document is not None and file is not None:
        markers = document.markers.values() if isinstance(document.markers, dict) else ()
        paths += [resolve(written, file, root) for written in (*document.workflow.values(), *markers)]
    return any(path == each or each in path.parents for each in paths)
