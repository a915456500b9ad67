"""Files of a project that are never compiled: second copies of documents, and descriptions for people."""

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
    """A file with definitions of a kind that is read from `taken` instead, a path relative to the root."""

    kind: str
    taken: str
    source: Source


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """The unread files of a project. `descriptions` describe scenarios; `scenarios` holds the roots of all scenario
    files, valid or not."""

    copies: tuple[SecondCopy, ...]
    descriptions: tuple[Source, ...]
    scenarios: tuple[Mapping, ...]
    loaded: tuple[Loaded, ...]


def read_unread_files(project: Project) -> UnreadFiles:
    """Find and load the unread files of a project; mistakes in them are not reported."""
    copies, loaded = [], []
    for kind, used, other in unread_places(project.root, project.file):
        loaded.append(load_file(other))
        copies.append(SecondCopy(kind, used, loaded[-1].source))
    folder = places(project.root, project.file, project.path).get("scenarios")
    descriptions = [load_file(path) for path in descriptions_in(folder.path)] if folder else []
    documents = [each.root for each in project.loaded if folder and Path(each.source.path).is_relative_to(folder.path)]
    return UnreadFiles(
        copies=tuple(copies),
        descriptions=tuple(each.source for each in descriptions),
        scenarios=tuple(root for root in documents if isinstance(root, Mapping)),
        loaded=(*loaded, *descriptions),
    )
