"""Where a project's documents are: the paths in the project file, or the default places."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Final

from msgspec import Struct

from rulewright import dependencies
from rulewright.diagnostics import Guess
from rulewright.documents.project_file import USUAL_PLACES, ProjectFile
from rulewright.spelling import is_slip_of
from rulewright_runtime.cases.records import CASE_FOLDERS, OUTPUT_FOLDER

PROJECT_FILE_NAMES: Final = ("rulewright.yaml", "rulewright.yml", "rulewright.json")
SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})
CASE_LINES: Final = frozenset({".jsonl", ".ndjson"})
TABLES: Final = frozenset({".csv", ".tsv"})
MAX_SEARCHED: Final = 2**20  # bytes of a file that is searched without reading it as a document
ESCAPED: Final = re.compile(r"\\[xuU\s]")  # an escape that a part of `${NAME}` may be written with
USUAL_WORKFLOWS: Final = ("workflow.yaml", "workflow.yml", "workflows/default.yaml")


class DocumentPath(Struct, frozen=True):
    """A file or folder of a project, and whether the project file names it (then it must exist)."""

    path: Path
    named: bool


def project_file_in(folder: Path) -> Path | None:
    """The project file of a folder, which may be unreadable, or None."""
    return next((folder / name for name in PROJECT_FILE_NAMES if dependencies.is_there(folder / name)), None)


def project_file_above(folder: Path) -> Path | None:
    """The project file of a folder or of its nearest parent that has one, or None."""
    for depth in range(len(Path(os.path.abspath(folder)).parts)):
        if (found := project_file_in(Path(os.path.normpath(folder / Path(*[".."] * depth))))) is not None:
            return found
    return None


def variables_in(texts: Mapping[str, str]) -> set[str] | None:
    """The variables named by the project files among these texts, by path; None if an escape may hide one."""
    projects = [
        text
        for path, text in texts.items()
        if path.endswith(PROJECT_FILE_NAMES) or re.search(r"^[ \t{]*[\"']?project\b", text, re.MULTILINE)
    ]
    if any(ESCAPED.search(text) for text in projects):
        return None
    return {name for text in projects for name in re.findall(r"\$\{([A-Za-z0-9_]+)", text)}


def path_fits(pattern: str, path: str, root: Path) -> bool:
    """Whether `path`, relative to `root`, matches `pattern`: `*` stays in a folder, `**` crosses
    folders, and the name of a folder matches everything in it."""
    return fitting(path, root)(pattern)


def fitting(path: str, root: Path) -> Callable[[str], bool]:
    """Return the function that says whether `path` matches a pattern, as `path_fits` does; for many patterns."""
    below = os.path.relpath(path, root).replace(os.sep, "/")
    return lambda pattern: _regex_of(pattern).fullmatch(below) is not None


@lru_cache(maxsize=4096)
def _regex_of(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/?|\*|\?)", pattern.rstrip("/"))
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    regex = "".join(words.get(part, re.escape(part)) for part in parts)
    return re.compile(f"{regex}(?:/.*)?")


def looks_like_a_project(folder: Path) -> bool:
    """Whether a folder without a project file has the layout of a project, and no subfolder has a project file."""
    return dependencies.is_folder(folder / "checks") and project_below(folder) is None


def nearest_project() -> Path | None:
    """The working folder or its nearest parent that is a project, or None."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if project_file_in(folder):
            return Path() if folder == here else folder
    return Path() if looks_like_a_project(here) else None


def project_below(folder: Path) -> Path | None:
    """The first subfolder that has a project file, or None."""
    inner = (folder / name for name, _ in dependencies.names_in(folder))
    return next((each for each in sorted(inner) if dependencies.is_folder(each) and project_file_in(each)), None)


def has_workflow(folder: Path) -> bool:
    """Whether the folder has a workflow in the default place."""
    return any(dependencies.is_file(folder / name) for name in USUAL_WORKFLOWS)


def resolve(written: str, file: Path, root: Path) -> Path:
    """A path of the project file, relative to the root, or to the file's folder if it starts with `./` or `../`."""
    is_relative = written.startswith(("./", "../")) or written in {".", ".."}
    return Path(os.path.normpath((file.parent if is_relative else root) / written))


def path_meant(path: Path, written: str) -> Guess | None:
    """The suggestion of an existing path that differs in one misspelt name."""
    wrong = next((each for each in (*reversed(path.parents), path) if not dependencies.exists(each)), path)
    folder = wrong.parent
    names = [name for name, _ in dependencies.names_in(folder)] if dependencies.is_folder(folder) else []
    near = next((name for name in names if is_slip_of(wrong.name, name)), None)
    return None if near is None else Guess(written.replace(wrong.name, near))


def places(root: Path, file: ProjectFile | None, project_path: Path | None) -> dict[str, DocumentPath]:
    """The place of each kind of document, except marker sets that the project file names individually."""
    found = {}
    for kind, usual in USUAL_PLACES.items():
        written = None if file is None else file.markers if kind == "markers" else file.places.get(kind)
        written = written or None  # an empty path is a finding; it is not the whole folder
        if isinstance(written, str) and project_path is not None:
            found[kind] = DocumentPath(resolve(written, project_path, root), named=True)
        elif written is None:
            there = next((root / place for place in _forms(usual) if dependencies.is_there(root / place)), None)
            if there is not None:
                found[kind] = DocumentPath(there, named=False)
    return found


def _forms(usual: Iterable[str]) -> list[str]:
    """The default places of a kind. A file of YAML may also have the other suffixes of documents."""
    stems = [place.removesuffix(".yaml") for place in usual if place.endswith(".yaml")]
    others = [f"{stem}{suffix}" for stem in stems for suffix in (".yml", ".json")]
    return [*dict.fromkeys((*usual, *others))]


def unread_places(root: Path, file: ProjectFile | None) -> Iterator[tuple[str, str, Path]]:
    """Files in a default place of a kind that is not read: the kind, the place that is read, and the file.

    Nothing is yielded for a kind whose place is set in the project file.
    """
    for kind, usual in USUAL_PLACES.items():
        decided = file is not None and (file.markers if kind == "markers" else file.places.get(kind)) is not None
        there = [] if decided else [place for place in _forms(usual) if dependencies.exists(root / place)]
        yield from ((kind, there[0], root / other) for other in there[1:] if dependencies.is_file(root / other))


def is_description(path: Path) -> bool:
    """Whether a file describes documents for people: its name ends in `_SCHEMA`."""
    return path.stem.endswith("_SCHEMA")


def descriptions_in(place: Path) -> list[Path]:
    """The files in a folder that describe documents for people."""
    return [each for each in files_below(place, deep=False) if is_description(each) and dependencies.is_file(each)]


def documents_in(place: Path, *, deep: bool = False) -> Iterator[Path]:
    """The document files of a folder, sorted by name, or the file itself.

    Names that start with `_` or `.`, and names that end in `_SCHEMA`, are not documents. A broken link
    and a folder that can't be listed are included, because reading them reports the error.
    """
    if not dependencies.is_folder(place):
        yield place
        return
    for path in files_below(place, deep=deep):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(place).parts)
        named_as_one = not hidden and not is_description(path)
        if named_as_one and (dependencies.is_file(path) or not (dependencies.exists(path) and path.is_symlink())):
            yield path


def holds_outputs(path: str) -> bool:
    """Whether a file is in a folder of outputs."""
    return OUTPUT_FOLDER in PurePath(path).parent.parts[-2:]


def case_lines_in(folder: Path, suffixes: frozenset[str] = CASE_LINES) -> Iterator[Path]:
    """The files of JSON lines, or with other suffixes, in a folder and its subfolders: test cases, or chats."""
    for path in files_below(folder, deep=True, suffixes=suffixes):
        if not dependencies.is_folder(path) and not any(
            part.startswith((".", "_")) for part in path.relative_to(folder).parts
        ):
            yield path


def files_below(folder: Path, *, deep: bool, suffixes: frozenset[str] = SUFFIXES) -> Iterator[Path]:
    """The files with one of the suffixes in a folder, sorted; `deep` includes subfolders that are not links, except
    installed packages of Python and Node. A folder that can't be listed stands for its files."""
    try:
        names = dependencies.names_in(folder)
    except PermissionError:
        yield folder
        return
    except OSError:
        if dependencies.is_folder(folder):
            raise
        return  # a missing place is reported at the key that names it
    if ("pyvenv.cfg", False) in names:  # a virtual environment
        return
    for name, is_folder in names:
        path = folder / name
        if path.suffix.lower() in suffixes and not is_folder:
            yield path
        if is_folder and deep and name != "node_modules":
            yield from files_below(path, deep=True, suffixes=suffixes)


def folder_near(path: Path, folder: str = CASE_FOLDERS[0]) -> Path | None:
    """The folder with this name near a file."""
    return next((each / folder for each in path.parents[:3] if dependencies.is_folder(each / folder)), None)


def searched_files(folder: Path | None) -> Iterator[Path]:
    """The files in a folder that may be searched; large files are left out."""
    for file in [] if folder is None else files_below(folder, deep=True, suffixes=SUFFIXES | CASE_LINES | TABLES):
        if dependencies.is_file(file) and file.stat().st_size <= MAX_SEARCHED:
            yield file


def text_of(file: Path) -> str:
    dependencies.note_content(file, None)
    return file.read_text(encoding="utf-8-sig", errors="replace")


def values_in(file: Path, key: str) -> tuple[str, ...]:
    """The values of a key in a file, each as often as it is there. A file is read again only after a change."""
    dependencies.note_content(file, None)
    state = file.stat()
    return _values_in(file, key, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4096)
def _values_in(file: Path, key: str, _size: int, _changed: int) -> tuple[str, ...]:
    return tuple(re.findall(rf'"{key}"\s*:\s*"([^"\\]*)"', text_of(file)))
