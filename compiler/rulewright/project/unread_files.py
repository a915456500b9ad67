"""Files of a project that are never compiled: second copies of documents, checks in subfolders, and descriptions for
people."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright import dependencies
from rulewright.documents.kinds import kind_of
from rulewright.documents.layout import (
    CASE_LINES,
    PROJECT_FILE_NAMES,
    SUFFIXES,
    descriptions_in,
    documents_in,
    files_below,
    places,
    unread_places,
)
from rulewright.documents.library import DECIDING, PREFIX
from rulewright.load import Loaded, Mapping, Node, Source, load_file
from rulewright.project import Project
from rulewright.spelling import is_slip_of

ANSWERS: Final = re.compile(r'\s*\{\s*(?:"model"\s*:\s*"[^"]*"\s*,\s*)?"replies"\s*:\s*\{')
LARGEST: Final = 2**20  # bytes searched in a file
LONGEST: Final = 200  # characters of a line with a name
LIBRARY: Final = PREFIX.rstrip("/")  # the subfolder of checks that `use` names


class SecondCopy(Struct, frozen=True):
    """A file with definitions of a kind that is read from `taken` instead, a path relative to the root."""

    kind: str
    taken: str
    source: Source


class UnreadFiles(Struct, frozen=True):
    """The unread files of a project. `descriptions` describe scenarios; `scenarios` holds the roots of all scenario
    files, valid or not; `answers` those of files with prepared replies to scenarios; `misnamed` the documents with a
    misspelt suffix, each with the name that would be read."""

    copies: tuple[SecondCopy, ...]
    descriptions: tuple[Source, ...]
    scenarios: tuple[Mapping, ...]
    checks: tuple[Loaded, ...]
    checks_folder: str
    answers: tuple[Mapping, ...]
    misnamed: tuple[tuple[Source, str], ...]
    loaded: tuple[Loaded, ...]


def read_unread_files(project: Project) -> UnreadFiles:
    """Find and load the unread files of a project; mistakes in them are not reported."""
    copies, loaded = [], []
    for kind, used, other in unread_places(project.root, project.file):
        loaded.append(load_file(other))
        copies.append(SecondCopy(kind, used, loaded[-1].source))
    found = places(project.root, project.file, project.path)
    folder = found.get("scenarios")
    home = found["checks"].path if "checks" in found else project.root / "checks"
    others = [place.path for kind, place in found.items() if kind != "checks"] + [home / LIBRARY]
    checks = [each for each in map(load_file, _below(home, others)) if _is_check(each.root)]
    descriptions = [load_file(path) for path in descriptions_in(folder.path)] if folder else []
    documents = [each.root for each in project.loaded if folder and Path(each.source.path).is_relative_to(folder.path)]
    answers = [load_file(path) for path in _answers_in(project.root)] if documents else []
    misnamed = [
        (load_file(path), name)
        for kind, each in found.items()
        for path, name in _misnamed(each.path, deep=kind == "scenarios")
    ]
    if project.path is None:
        beside = map(load_file, documents_in(project.root))
        misnamed += [(each, PROJECT_FILE_NAMES[0]) for each in beside if kind_of(each.root) == "project"]
    return UnreadFiles(
        copies=tuple(copies),
        descriptions=tuple(each.source for each in descriptions),
        scenarios=tuple(root for root in documents if isinstance(root, Mapping)),
        checks=tuple(checks),
        checks_folder=os.path.relpath(home, project.root),
        answers=tuple(each.root for each in answers if isinstance(each.root, Mapping)),
        misnamed=tuple((each.source, name) for each, name in misnamed),
        loaded=(*loaded, *descriptions, *checks, *answers, *(each for each, _ in misnamed)),
    )


def _misnamed(folder: Path, *, deep: bool) -> Iterator[tuple[Path, str]]:
    """The files in a folder of documents whose suffix is almost that of a document, or follows one."""
    try:
        names = [*dependencies.names_in(folder)] if dependencies.is_folder(folder) else []
    except OSError:  # which is reported where its documents are read
        return
    for name, is_folder in names:
        path = folder / name
        suffix = path.suffix.lower()
        if is_folder and deep and not name.startswith((".", "_")):
            yield from _misnamed(path, deep=True)
        if is_folder or name.startswith((".", "_")) or suffix in SUFFIXES | CASE_LINES or not suffix[1:].isalpha():
            continue
        meant = next((each for each in sorted(SUFFIXES) if is_slip_of(suffix, each)), None)
        if meant is not None:
            yield path, path.stem + meant
        elif suffix == ".txt" and Path(path.stem).suffix in SUFFIXES:
            yield path, path.stem
        elif suffix == ".txt" and _is_named_inside(path):
            yield path, f"{path.stem}.yaml"


def _is_named_inside(path: Path) -> bool:
    """Whether a file begins with its own name, as checks and lexicons do."""
    dependencies.note_content(path, None)
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(LONGEST).rstrip() in (f"id: {path.stem}", f"name: {path.stem}")
    return False


def _answers_in(folder: Path) -> Iterator[Path]:
    """The files in a folder that look like prepared replies."""
    for path in files_below(folder, deep=False, suffixes=frozenset({".json"})):
        with suppress(OSError):  # a file that can't be read is not part of the project
            if dependencies.is_file(path) and path.stat().st_size <= LARGEST:
                dependencies.note_content(path, None)
                if ANSWERS.match(path.read_text(encoding="utf-8", errors="replace")):
                    yield path


def _below(home: Path, others: Sequence[Path]) -> Iterator[Path]:
    """The files in subfolders of the folder of checks that `others` don't cover."""
    for path in documents_in(home, deep=True) if dependencies.is_folder(home) else ():
        if path.parent != home and not any(path.resolve().is_relative_to(each.resolve()) for each in others):
            yield path


def _is_check(root: Node | None) -> bool:
    """Whether a document is a check: it has an `id`, and a key that decides."""
    return isinstance(root, Mapping) and "id" in root and any(key in root for key in DECIDING)
