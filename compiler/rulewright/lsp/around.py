"""What lies round a document: the project it belongs to, its kind, and the workflow it is or is part of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rulewright.documents.kinds import kind_of
from rulewright.documents.layout import PROJECT_FILE_NAMES, looks_like_a_project, places, project_file_in, resolve
from rulewright.errors import RulewrightError
from rulewright.workflows.load import USUAL_AGENTS, load_workflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.load import Node
    from rulewright.project import Project
    from rulewright.workflows.load import Workflow

# What the documents of each place are: in a folder, and where the place is a single file.
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
class Around:
    """A document's surroundings; `project` is None where it belongs to none."""

    path: Path
    project: Project | None

    @property
    def overlays(self) -> Node | None:
        """The overlays that the project gives to every task."""
        file = None if self.project is None else self.project.file
        return None if file is None else file.get("workflow", "overlays")

    def kind(self, root: Node | None) -> str | None:
        """The document's kind, a schema's name: by its place in the project, else by its keys."""
        if self.path.name in PROJECT_FILE_NAMES:
            return "project"
        written = kind_of(root)
        if written == "case_scorecard":
            return written
        return self._kind_of_place() or written

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
            return project.root / USUAL_AGENTS
        return resolve(written, project.path, project.root)

    def workflow(self, kind: str | None) -> Workflow | None:
        """The workflow that the document is, else the one that its project runs; None without one."""
        folder = self.path.parent if self.project is None else self.project.folder
        try:
            return load_workflow(self.path) if kind == "workflow" else load_workflow(folder=folder)
        except RulewrightError:
            return None


def projects_round(path: Path, within: Path | None) -> Iterator[Path]:
    """The projects that a file may belong to, the nearest first: above it, and inside the folders above it as long as
    these lie `within` the folder that the editor has open."""
    for folder in path.parents:
        if (file := project_file_in(folder)) is not None:
            yield file
        elif within is not None and (folder == within or within in folder.parents):
            yield from _inside(folder)
        if looks_like_a_project(folder):
            yield folder


def _inside(folder: Path) -> Iterator[Path]:
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and (file := project_file_in(inner)) is not None:
            yield file
