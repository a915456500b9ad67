"""What lies beside a project's documents and is never compiled: second copies, and descriptions for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rulewright.documents.layout import descriptions_in, places, unread_places
from rulewright.load import Loaded, Mapping, Source, load_file

if TYPE_CHECKING:
    from rulewright.project import Project


@dataclass(frozen=True, slots=True)
class SecondCopy:
    """A file that holds definitions of a kind which are read from `taken`, a path from the root, instead."""

    kind: str
    taken: str
    source: Source


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """The files beside a project's documents. `descriptions` are those of its scenarios, whose files, even those that
    can't be used, `scenarios` holds."""

    copies: tuple[SecondCopy, ...]
    descriptions: tuple[Source, ...]
    scenarios: tuple[Mapping, ...]
    loaded: tuple[Loaded, ...]


def read_unread_files(project: Project) -> UnreadFiles:
    """Find and read what lies beside a project's documents; what is wrong with these files is nobody's business."""
    copies, loaded = [], []
    for kind, taken, other in unread_places(project.root, project.file):
        loaded.append(load_file(other))
        copies.append(SecondCopy(kind, taken, loaded[-1].source))
    folder = places(project.root, project.file, project.path).get("scenarios")
    described = [load_file(path) for path in descriptions_in(folder.path)] if folder else []
    below = [each.root for each in project.loaded if folder and Path(each.source.path).is_relative_to(folder.path)]
    return UnreadFiles(
        copies=tuple(copies),
        descriptions=tuple(each.source for each in described),
        scenarios=tuple(root for root in below if isinstance(root, Mapping)),
        loaded=(*loaded, *described),
    )
