"""Where a project's documents lie: the project file's own words, else the places where one looks first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rulewright import dependencies
from rulewright.spelling import Guess, is_slip_of

if TYPE_CHECKING:
    from rulewright.documents.project_file import ProjectFile

PROJECT_FILE_NAMES: Final = ("rulewright.yaml", "rulewright.yml", "rulewright.json")
SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})
CASE_LINES: Final = frozenset({".jsonl", ".ndjson"})
USUAL_PLACES: Final[dict[str, tuple[str, ...]]] = {
    "checks": ("checks",),
    "lexicons": ("lexicons", "checks/lexicons", "lexicons.json", "lexicons.yaml"),
    "markers": ("markers", "checks/markers", "scenario_rule_markers.json"),
    "scenarios": ("scenarios",),
    "profiles": ("profiles", "configs/profiles", "configs/profiles.yaml", "profiles.yaml", "scan_profiles.json"),
    "blindspots": ("configs/blindspots.yaml", "blindspot_map.json"),
    "scoring": ("configs/scoring.yaml",),
    "pricing": ("configs/pricing.yaml", "pricing.yaml", "model_pricing.json"),
    "scorecards": ("configs/scorecards", "scorecards"),
    "rules": ("configs/rules",),
    "state_machines": ("state_machines", "checks/state_machines"),
    "corpora": ("corpora",),
}
USUAL_WORKFLOWS: Final = ("workflow.yaml", "workflow.yml", "workflows/default.yaml")


@dataclass(frozen=True, slots=True)
class DocumentPath:
    """A file or folder of a project: where it is, and whether the project file names it (then it has to exist)."""

    path: Path
    named: bool


def project_file_in(folder: Path) -> Path | None:
    """The project file of a folder, or None."""
    return next((folder / name for name in PROJECT_FILE_NAMES if dependencies.is_file(folder / name)), None)


def project_file_above(folder: Path) -> Path | None:
    """The project file of a folder, else of the nearest folder above it that has one."""
    for depth in range(len(Path(os.path.abspath(folder)).parts)):
        if (found := project_file_in(Path(os.path.normpath(folder / Path(*[".."] * depth))))) is not None:
            return found
    return None


def variables_in(texts: Mapping[str, str]) -> set[str] | None:
    """The variables that the project files among these texts name, by path; None where an escape may hide one."""
    projects = [
        text
        for path, text in texts.items()
        if path.endswith(PROJECT_FILE_NAMES) or re.search(r"^[ \t{]*[\"']?project\b", text, re.MULTILINE)
    ]
    if any("\\" in text for text in projects):
        return None
    return {name for text in projects for name in re.findall(r"\$\{([A-Za-z0-9_]+)", text)}


def path_fits(pattern: str, path: str, root: Path) -> bool:
    """Whether `path`, seen from `root`, fits: `*` stays in a folder, `**` crosses folders, a folder means all in it."""
    below = os.path.relpath(path, root).replace(os.sep, "/")
    parts = re.split(r"(\*\*/?|\*|\?)", pattern.rstrip("/"))
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    regex = "".join(words.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(f"{regex}(?:/.*)?", below) is not None


def looks_like_a_project(folder: Path) -> bool:
    """Whether a folder without project file is laid out as one; not where a folder in it has a project file."""
    return dependencies.is_folder(folder / "checks") and not any(
        project_file_in(inner)
        for inner in (folder / name for name, _ in dependencies.names_in(folder))
        if dependencies.is_folder(inner)
    )


def nearest_project() -> Path | None:
    """The working folder or the next one above it that is a project, or None."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if project_file_in(folder):
            return Path() if folder == here else folder
    return Path() if looks_like_a_project(here) else None


def has_workflow(folder: Path) -> bool:
    """Whether a workflow lies where one looks first."""
    return any(dependencies.is_file(folder / name) for name in USUAL_WORKFLOWS)


def resolve(written: str, file: Path, root: Path) -> Path:
    """A path of the project file: from the root, or from the file's own folder when it starts with `./` or `../`."""
    is_relative = written.startswith(("./", "../")) or written in {".", ".."}
    return Path(os.path.normpath((file.parent if is_relative else root) / written))


def path_meant(path: Path, written: str) -> str | None:
    """The guess of a path that exists but for one misspelt name in it."""
    wrong = next((each for each in (*reversed(path.parents), path) if not dependencies.exists(each)), path)
    names = [name for name, _ in dependencies.names_in(wrong.parent)]
    near = next((name for name in names if is_slip_of(wrong.name, name)), None)
    return None if near is None else Guess(written.replace(wrong.name, near))


def places(root: Path, file: ProjectFile | None, project_path: Path | None) -> dict[str, DocumentPath]:
    """Where each kind of document lies, except marker sets that the project file names one by one."""
    found = {}
    for kind, usual in USUAL_PLACES.items():
        written = None if file is None else file.markers if kind == "markers" else file.places.get(kind)
        if isinstance(written, str) and project_path is not None:
            found[kind] = DocumentPath(resolve(written, project_path, root), named=True)
        elif written is None:
            there = next((root / place for place in usual if dependencies.exists(root / place)), None)
            if there is not None:
                found[kind] = DocumentPath(there, named=False)
    return found


def unread_places(root: Path, file: ProjectFile | None) -> Iterator[tuple[str, str, Path]]:
    """Files that lie where one looks for a kind of document, but not first: the kind, what is read, and the file.

    Where the project file says where a kind lies, its author has decided, and nothing is yielded.
    """
    for kind, usual in USUAL_PLACES.items():
        decided = file is not None and (file.markers if kind == "markers" else file.places.get(kind)) is not None
        there = [] if decided else [place for place in usual if dependencies.exists(root / place)]
        yield from ((kind, there[0], root / other) for other in there[1:] if dependencies.is_file(root / other))


def descriptions_in(place: Path) -> list[Path]:
    """The descriptions for people in a folder: the files whose names end in `_SCHEMA`."""
    return [
        each for each in files_below(place, deep=False) if each.stem.endswith("_SCHEMA") and dependencies.is_file(each)
    ]


def documents_in(place: Path, *, deep: bool = False) -> Iterator[Path]:
    """The document files of a folder in the order of their names, or the file itself.

    Names that start with `_` or `.` and descriptions that end in `_SCHEMA` are not documents. A link that leads nowhere
    is one: whoever reads it says so.
    """
    if not dependencies.is_folder(place):
        yield place
        return
    for path in files_below(place, deep=deep):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(place).parts)
        named_as_one = not hidden and not path.stem.endswith("_SCHEMA")
        if named_as_one and (dependencies.is_file(path) or not dependencies.exists(path)):
            yield path


def case_lines_in(folder: Path) -> Iterator[Path]:
    """The files of JSON lines in a folder and below: test cases, or chats."""
    for path in files_below(folder, deep=True, suffixes=CASE_LINES):
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
            yield path


def files_below(folder: Path, *, deep: bool, suffixes: frozenset[str] = SUFFIXES) -> Iterator[Path]:
    """What has one of the suffixes in a folder, and with `deep` in those below it that are not links, sorted."""
    try:
        names = dependencies.names_in(folder)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return  # as `Path.rglob` does; that a place does not exist is said where it is named
    for name, is_folder in names:
        path = folder / name
        if path.suffix in suffixes:
            yield path
        if is_folder and deep:
            yield from files_below(path, deep=True, suffixes=suffixes)
