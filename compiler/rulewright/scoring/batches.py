"""The scorecard, the batches and the report files of `rulewright score`."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Severity
from rulewright.documents.base import text
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import (
    CASE_FOLDERS,
    OUTPUT_FOLDER,
    DocumentPath,
    documents_in,
    places,
    project_file_above,
)
from rulewright.documents.library import DocumentReader
from rulewright.documents.project_file import ProjectFile, read_project_file
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.documents.typed_reader import read
from rulewright.documents.validation import validate
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping as Node
from rulewright.load import load_file
from rulewright.lower.case_scorecard import lower_case_scorecard
from rulewright.once_a_run import once_a_run
from rulewright.scoring.score_settings import SUFFIXES
from rulewright.shipped import shipped_root
from rulewright.spelling import question
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Choices
from rulewright_runtime.cases.case_reader import Batch
from rulewright_runtime.cases.records import json_files
from rulewright_runtime.english import ticked
from rulewright_runtime.files.input_files import unread_note
from rulewright_runtime.terminal import complain

SCORECARDS: Final = Path("benchmark", "configs", "scorecards")
SHIPPED: Final = "safe-v0"
FOLDERS: Final = (*CASE_FOLDERS, "benchmark/safe/cases")
_DIGITS: Final = re.compile(r"(\d+)")


class CaseScorecard(Struct, frozen=True):
    """A scorecard over cases: its document, for spans, and its plan."""

    document: CaseScorecardDocument
    plan: CaseScorecardPlan

    def under(self, choices: Choices) -> CaseScorecard:
        """Return the scorecard with the settings of a run."""
        return CaseScorecard(self.document, replace(self.plan, choices=choices))


@once_a_run
def load_scorecard(scorecard: str) -> CaseScorecard:
    """Load a scorecard over cases by name or file. Raises DocumentError with every finding, UsageError."""
    path = _scorecard_file(scorecard)
    loaded = load_file(path)
    findings = list(loaded.diagnostics)
    if loaded.root is not None:
        findings += validate("case_scorecard", loaded.root)
    if loaded.root is None and not findings:
        raise UsageError(f"`{path}` is empty")
    if findings or not isinstance(loaded.root, Node):
        raise DocumentError(findings)
    document = read(CaseScorecardDocument, loaded.root)
    plan, mistakes = lower_case_scorecard(document)
    if plan is None:
        raise DocumentError(mistakes)
    return CaseScorecard(document, plan)


def _scorecard_file(scorecard: str) -> Path:
    path = Path(scorecard) if scorecard.endswith((".yaml", ".yml", ".json")) else find_scorecard(scorecard)
    if path is None:
        raise UsageError(f"unknown scorecard `{scorecard}`; `--scorecard` takes a name or a file")
    return path


def find_scorecard(name: str) -> Path | None:
    """Return the file of a scorecard over cases in this folder or its project, else of a shipped one, or None."""
    project_files = (path for path in case_scorecards_of_project(Path()) if path.stem == name)
    candidates = (Path(SCORECARDS, f"{name}.yaml"), *project_files, shipped_root() / SCORECARDS / f"{name}.yaml")
    return next((path for path in candidates if path.is_file()), None)


def usual_scorecard() -> str:
    """Return the scorecard over cases that the project file of this folder names: its file, or the name of the shipped
    one where it names none, or one over verdicts. Raises DocumentError for a project file or a scorecard that can't be
    read, and UsageError for an unknown name."""
    path = project_file_above(Path())
    file = None if path is None else _project_file(path)
    if path is None or file is None or not file.scorecard:
        return SHIPPED
    place = places(file.top, file, path).get("scorecards")
    loaded = {} if place is None else {each: load_file(each) for each in documents_in(place.path)}
    names = {text(each.root, "scorecard"): (kind_of(each.root), own) for own, each in loaded.items()}
    kind, own = names.get(file.scorecard, ("", Path()))
    if kind == CASE_SCORECARD:
        return str(own)
    if not kind and (unread := [found for each in loaded.values() if each.root is None for found in each.diagnostics]):
        raise DocumentError(unread)
    if not kind and not (shipped_root() / SCORECARDS / f"{file.scorecard}.yaml").is_file():
        raise UsageError(f"`{path}`: unknown scorecard `{file.scorecard}`{question(file.scorecard, [*names])}")
    return SHIPPED


def _project_file(path: Path) -> ProjectFile:
    """Read a project file. Raises DocumentError for one with mistakes, which may hide the name of the scorecard."""
    reader = DocumentReader()
    root = reader.read(path, "project")
    mistakes = [each for each in reader.findings if each.severity is Severity.ERROR]
    if mistakes or root is None:
        raise DocumentError(mistakes)
    return read_project_file(root, os.environ)


def case_scorecards_of_project(folder: Path) -> list[Path]:
    """Return the files of scorecards over cases in the project that a folder belongs to or is; without a project file,
    those in the folder, else those next to it."""
    path = project_file_above(folder)
    if path is None:
        return next(filter(None, map(_case_scorecards_near, (folder, folder / ".."))), [])
    scorecards = _scorecards_place(path)
    return [] if scorecards is None else _case_scorecards(documents_in(scorecards.path))


def lacks_scorecards(folder: Path) -> bool:
    """Whether the project that a folder belongs to or is names a folder of scorecards that holds none, or can't be
    read."""
    path = project_file_above(folder)
    if path is not None and load_file(path).root is None:
        return True
    place = None if path is None else _scorecards_place(path)
    return place is not None and place.named and next(documents_in(place.path), None) is None


@once_a_run
def _scorecards_place(path: Path) -> DocumentPath | None:
    """The folder of scorecards of the project with this file."""
    root = load_file(path).root
    file = read_project_file(root, os.environ) if isinstance(root, Node) else None
    return places(path.parent if file is None else file.top, file, path).get("scorecards")


def _case_scorecards_near(folder: Path) -> list[Path]:
    scorecards = places(folder, None, None).get("scorecards")
    own = () if scorecards is None else documents_in(scorecards.path)
    return _case_scorecards([*own, *(each for each in documents_in(folder) if each.suffix != ".json")])


def _case_scorecards(files: Iterable[Path]) -> list[Path]:
    """The scorecards over cases of these files, with those that can't be read, which may be one."""
    loaded = [(path, load_file(path)) for path in files]
    unread = {
        path for path, each in loaded if each.diagnostics and each.root is None and path.suffix in (".yaml", ".yml")
    }
    return [path for path, each in loaded if path in unread or kind_of(each.root) == CASE_SCORECARD]


def only_concern(cases: str | None, pattern: str) -> str:
    """Return the concern whose folder holds every file below the folder of the cases. Raises UsageError without one."""
    is_file = os.path.isfile(pattern) or (cases is not None and os.path.isfile(cases))
    folder = Path() if is_file else _case_folder(cases)
    inner = () if is_file else (os.path.relpath(path, folder).split(os.sep) for path in json_files(str(folder)))
    concerns = sorted({parts[0] if len(parts) > 1 else "" for parts in inner} - {OUTPUT_FOLDER})
    if len(concerns) == 1 and concerns[0]:
        complain(f"note: the concern is `{concerns[0]}`")
        return concerns[0]
    named = ticked(filter(None, concerns))
    hint = f"here are {named}" if named else "if they have none, use any name for the report"
    raise UsageError(f"name the concern of the cases with `--concern ID`; {hint}")


def find_batches(cases: str | None, concern: str, pattern: str) -> tuple[list[Batch], str | None]:
    """Return the batches that match `pattern`, in natural order, and the folder of their outputs, or None.

    A folder named like the concern is preferred. Raises UsageError without such a folder or a match.
    """
    if os.path.isfile(pattern):
        return [Batch(Path(pattern).stem, pattern)], None
    if cases is not None and os.path.isfile(cases):
        files, folder = [Path(cases)], Path(cases).parent
    else:
        folder = _case_folder(cases)
        inner = folder / concern
        files = _case_files(inner if inner.is_dir() else folder)
    matching = [path for path in files if any(fnmatchcase(name, pattern) for name in _names(path, folder))]
    if not matching:
        known = [path.stem for path in files]
        hint = question(pattern, known, "; a batch is a file of JSON (`.json`, `.jsonl`) or CSV")
        raise UsageError(f"no batch in `{folder}` fits `{pattern}`{hint}")
    stems = [path.stem for path in matching]
    batches = [Batch(path.stem if stems.count(path.stem) == 1 else path.name, str(path)) for path in matching]
    outputs = next((path for path in (folder / OUTPUT_FOLDER, folder.parent / OUTPUT_FOLDER) if path.is_dir()), None)
    return batches, None if outputs is None else str(outputs)


def _names(path: Path, folder: Path) -> tuple[str, ...]:
    """The names of a batch: its file's name without and with the suffix, and its path relative to the folder."""
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return path.stem, path.name, relative, relative.removesuffix(path.suffix)


def _case_folder(cases: str | None) -> Path:
    if cases is not None:
        if not os.path.isdir(cases):
            raise UsageError(f"folder not found: `{cases}`")
        return Path(cases)
    folder = next((Path(path) for path in FOLDERS if os.path.isdir(path)), None)
    if folder is None:
        names = ticked(FOLDERS)
        raise UsageError(f"none of the folders {names} exists here; name the folder of the cases with `--cases`")
    return folder


def _case_files(folder: Path) -> list[Path]:
    """The JSON files below a folder, in natural order; invalid ones are refused when they are read. Raises InputError
    for an unreadable folder."""
    unread: Counter[str] = Counter()
    files = list(map(Path, json_files(str(folder), unread)))
    complain(*unread_note(unread, "cases"))
    cases = [path for path in files if OUTPUT_FOLDER not in path.relative_to(folder).parts[:-1]]
    return sorted(cases, key=lambda path: _natural(str(path.relative_to(folder))))


def _natural(name: str) -> list[tuple[int, str]]:
    """The natural sort key: `batch_2` before `batch_10`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _DIGITS.split(name)]


def formats_to_write(chosen: tuple[str, ...], output: str | None, *, explicit: bool) -> tuple[str, ...]:
    """Return the formats to write: the chosen ones where they are `explicit` on the command line, else the one of the
    suffix of `--output` unless it is among them, else the chosen ones, else console."""
    suffix = Path(output).suffix.lower() if output else ""
    by_suffix = next((form for form, ending in SUFFIXES.items() if ending == suffix), None)
    if not explicit and by_suffix is not None and by_suffix not in chosen:
        return (by_suffix,)
    return chosen or (("json",) if output else ("console",))


class Destinations(Struct, frozen=True):
    """The files of a run's reports: as `--output` names them, for one format or several, or new files in a folder."""

    forms: tuple[str, ...]
    output: str | None
    folder: str  # of reports
    name: str  # of new files, without a suffix

    @property
    def are_new(self) -> bool:
        """Whether the files get new names, so that none is overwritten."""
        return self.output is None or self._is_folder

    @property
    def _is_folder(self) -> bool:
        output = self.output or ""
        looks_like_folder = output.endswith(("/", os.sep)) or (len(self.forms) > 1 and not Path(output).suffix)
        return os.path.isdir(output) or (looks_like_folder and output != "-" and not os.path.isfile(output))

    def places(self, number: int = 1) -> dict[str, Path | None]:
        """Return the file of each format, or None for the standard output. `number` distinguishes new files.

        A single format goes to the file `--output`; of several, JSON goes there, the others next to it and the console
        to the standard output. A folder receives every format. Without `--output` the console and a single JSON report
        go to the standard output, and the others to the folder of reports.
        """
        name = self.name if number == 1 else f"{self.name}_{number}"
        if self.output is None:
            printed = ("console", "json") if self.forms == ("json",) else ("console",)
            return {f: None if f in printed else Path(self.folder, name + SUFFIXES[f]) for f in self.forms}
        if self._is_folder:
            return {form: Path(self.output, name + SUFFIXES[form]) for form in self.forms}
        if self.output == "-":
            return dict.fromkeys(self.forms)
        path = Path(self.output)
        if len(self.forms) == 1:
            return {self.forms[0]: path}
        return {form: None if form == "console" else path.with_suffix(SUFFIXES[form]) for form in self.forms}


def report_name(plan: CaseScorecardPlan, concern: str, batch: str, moment: str) -> str:
    """Return the name of a report file: type, concern, batch and time."""
    parts = (plan.report_type, concern, batch.replace("*", "all"), re.sub(r"[-:]", "", moment))
    return "_".join(re.sub(r"[^\w.-]+", "_", part) for part in parts)
