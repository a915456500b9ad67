"""What lies beside a project's documents and is never compiled: second copies, and descriptions for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rulewright.documents.layout import descriptions_in, places, unread_places
from rulewright.load import load_file

if TYPE_CHECKING:
    from rulewright.load import Loaded, Source
    from rulewright.project import Project


@dataclass(frozen=True, slots=True)
class SecondCopy:
    """A file that holds definitions of a kind which are read from `taken`, a path from the root, instead."""

    kind: str
    taken: str
    source: Source


@dataclass(frozen=True, slots=True)
class Beside:
    """The files beside the documents of `project`; `descriptions` are those of its scenarios."""

    project: Project
    copies: tuple[SecondCopy, ...]
    descriptions: tuple[Source, ...]
    loaded: tuple[Loaded, ...]


def read_beside(project: Project) -> Beside:
    """Find and read what lies beside a project's documents; what is wrong with these files is nobody's business."""
    copies, loaded = [], []
    for kind, taken, other in unread_places(project.root, project.file):
        loaded.append(load_file(other))
        copies.append(SecondCopy(kind, taken, loaded[-1].source))
    scenarios = places(project.root, project.file, project.path).get("scenarios")
    described = [load_file(path) for path in descriptions_in(scenarios.path)] if scenarios else []
    return Beside(project, tuple(copies), tuple(each.source for each in described), (*loaded, *described))
