"""The scorecards of `rulewright score`: found by their names or files, loaded and lowered."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright import dependencies
from rulewright.diagnostics import Severity
from rulewright.documents.base import text
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import DocumentPath, documents_in, places, project_file_above
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
from rulewright.shipped import shipped_root
from rulewright.spelling import question
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Choices
from rulewright_runtime.english import ticked

SCORECARDS: Final = Path("benchmark", "configs", "scorecards")
SHIPPED: Final = "safe-v0"


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
    return next((path for path in candidates if dependencies.is_file(path)), None)


def usual_scorecard() -> str:
    """Return the scorecard over cases that the project file of this folder names, else the only one of the project: its
    file, or the name of the shipped one if the project has none. Raises DocumentError for a project file or a scorecard
    that can't be read, and UsageError for an unknown name, or for several scorecards of which none is named."""
    path = project_file_above(Path())
    file = None if path is None else _project_file(path)
    if path is None or file is None:
        return SHIPPED
    if not file.scorecard:
        return _only_scorecard()
    place = places(file.top, file, path).get("scorecards")
    loaded = {} if place is None else {each: load_file(each) for each in documents_in(place.path)}
    names = {text(each.root, "scorecard"): (kind_of(each.root), own) for own, each in loaded.items()}
    kind, own = names.get(file.scorecard, ("", Path()))
    if kind == CASE_SCORECARD:
        return str(own)
    if not kind and (unread := [found for each in loaded.values() if each.root is None for found in each.diagnostics]):
        raise DocumentError(unread)
    if not kind and not dependencies.is_file(shipped_root() / SCORECARDS / f"{file.scorecard}.yaml"):
        raise UsageError(f"`{path}`: unknown scorecard `{file.scorecard}`{question(file.scorecard, [*names])}")
    return _only_scorecard()


def _only_scorecard() -> str:
    """The only scorecard over cases of this folder's project; `SHIPPED` if it has none, or one of this name."""
    own = case_scorecards_of_project(Path())
    names = [path.stem for path in own]
    if not own or SHIPPED in names:
        return SHIPPED
    if len(own) > 1:
        shown = ticked(own if len({*names}) < len(names) else names)
        raise UsageError(f"name a scorecard with `--scorecard`: the project has {shown}")
    return str(own[0])


def _project_file(path: Path) -> ProjectFile:
    """Read a project file. Raises DocumentError for one with mistakes, which may hide the name of the scorecard."""
    reader = DocumentReader()
    root = reader.read(path, "project")
    mistakes = [each for each in reader.findings if each.severity is Severity.ERROR]
    if mistakes or root is None:
        raise DocumentError(mistakes)
    return read_project_file(root, os.environ)


@once_a_run
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
