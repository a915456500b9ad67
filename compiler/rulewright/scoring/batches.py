"""What `rulewright score` needs around the scoring: the scorecard, the files of the batches, and where reports go."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from rulewright.documents.case_scorecard import CaseScorecardDocument, read_case_scorecard
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import documents_in, places, project_file_above
from rulewright.documents.project_file import read_project_file
from rulewright.documents.validation import validate
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping as Node
from rulewright.load import load_file
from rulewright.lower.case_scorecard import lower_case_scorecard
from rulewright.reporting.cases import SUFFIXES
from rulewright.shipped import shipped_root
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Choices
from rulewright_runtime.cases.case_reader import Batch
from rulewright_runtime.cases.records import json_files

SCORECARDS: Final = Path("benchmark", "configs", "scorecards")
CASE_FOLDERS: Final = ("cases", "test_cases", "benchmark/safe/cases")
OUTPUT_FOLDER: Final = "outputs"
_DIGITS: Final = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class CaseScorecard:
    """A scorecard over cases: its document, for places, and its plan."""

    document: CaseScorecardDocument
    plan: CaseScorecardPlan

    def under(self, choices: Choices) -> CaseScorecard:
        """The scorecard with the settings of a run."""
        return CaseScorecard(self.document, replace(self.plan, choices=choices))


def load_scorecard(scorecard: str) -> CaseScorecard:
    """A scorecard over cases, given by name or file; DocumentError with every mistake."""
    path = _scorecard_file(scorecard)
    loaded = load_file(path)
    found = list(loaded.diagnostics)
    if loaded.root is not None:
        found += validate("case_scorecard", loaded.root)
    if loaded.root is None and not found:
        raise UsageError(f"`{path}` is empty")
    if found or not isinstance(loaded.root, Node):
        raise DocumentError(sorted(found, key=lambda each: each.sort_key))
    document = read_case_scorecard(loaded.root)
    plan, mistakes = lower_case_scorecard(document)
    if plan is None:
        raise DocumentError(sorted(mistakes, key=lambda each: each.sort_key))
    return CaseScorecard(document, plan)


def _scorecard_file(scorecard: str) -> Path:
    found = Path(scorecard) if scorecard.endswith((".yaml", ".yml", ".json")) else find_scorecard(scorecard)
    if found is None:
        raise UsageError(f"unknown scorecard `{scorecard}`; `--scorecard` takes a name or a file")
    return found


def find_scorecard(name: str) -> Path | None:
    """The file of a scorecard over cases of this folder or of the project around it, else of a shipped one."""
    own = (path for path in case_scorecards_around(Path()) if path.stem == name)
    places = (Path(SCORECARDS, f"{name}.yaml"), *own, shipped_root() / SCORECARDS / f"{name}.yaml")
    return next((path for path in places if path.is_file()), None)


def case_scorecards_around(folder: Path) -> list[Path]:
    """The files of scorecards over cases of the project that a folder belongs to, or that is laid out there."""
    path = project_file_above(folder)
    root = folder if path is None else path.parent
    head = None if path is None else load_file(path).root
    file = read_project_file(head, os.environ) if isinstance(head, Node) else None
    place = places(root, file, path).get("scorecards")
    files = [] if place is None else documents_in(place.path)
    return [each for each in files if kind_of(load_file(each).root) == CASE_SCORECARD]


def find_batches(cases: str | None, concern: str, pattern: str) -> tuple[list[Batch], str | None]:
    """The batches that fit `pattern`, in natural order, and the folder of outputs beside them, if there is one.

    A folder named like the concern is preferred. UsageError when there is no such folder, or nothing fits.
    """
    if os.path.isfile(pattern):
        return [Batch(Path(pattern).stem, pattern)], None
    if cases is not None and os.path.isfile(cases):
        files, folder = [Path(cases)], Path(cases).parent
    else:
        folder = _case_folder(cases)
        inner = folder / concern
        files = _case_files(inner if inner.is_dir() else folder)
    fitting = [path for path in files if any(fnmatchcase(name, pattern) for name in _names(path, folder))]
    if not fitting:
        near = difflib.get_close_matches(pattern, [path.stem for path in files], 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise UsageError(f"no batch in `{folder}` fits `{pattern}`{hint}")
    stems = [path.stem for path in fitting]
    batches = [Batch(path.stem if stems.count(path.stem) == 1 else path.name, str(path)) for path in fitting]
    outputs = next((place for place in (folder / OUTPUT_FOLDER, folder.parent / OUTPUT_FOLDER) if place.is_dir()), None)
    return batches, None if outputs is None else str(outputs)


def _names(path: Path, folder: Path) -> tuple[str, ...]:
    """What a batch may be called: its file's name without or with the suffix, and its path below the folder."""
    below = os.path.relpath(path, folder).replace(os.sep, "/")
    return path.stem, path.name, below, below.removesuffix(path.suffix)


def _case_folder(cases: str | None) -> Path:
    if cases is not None:
        if not os.path.isdir(cases):
            raise UsageError(f"folder not found: `{cases}`")
        return Path(cases)
    found = next((Path(place) for place in CASE_FOLDERS if os.path.isdir(place)), None)
    if found is None:
        places = ", ".join(f"`{place}`" for place in CASE_FOLDERS)
        raise UsageError(f"there is none of the folders {places} here; name the folder of the cases with `--cases`")
    return found


def _case_files(folder: Path) -> list[Path]:
    """The files of JSON below a folder, in natural order, whatever they turn out to be: what can't be read is refused
    when it is read. InputError for a folder that can't be read."""
    files = map(Path, json_files(str(folder)))
    cases = [path for path in files if OUTPUT_FOLDER not in path.relative_to(folder).parts[:-1]]
    return sorted(cases, key=lambda path: _natural(str(path.relative_to(folder))))


def _natural(name: str) -> list[tuple[int, str]]:
    """`batch_2` before `batch_10`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _DIGITS.split(name)]


def wanted_formats(chosen: tuple[str, ...], output: str | None, *, asked: bool) -> tuple[str, ...]:
    """The forms to write: those `asked` for on the command line, else the one that the suffix of `--output` names
    unless it is among those of the settings file, else these, else console."""
    suffix = Path(output).suffix.lower() if output else ""
    by_suffix = next((form for form, ending in SUFFIXES.items() if ending == suffix), None)
    if not asked and by_suffix is not None and by_suffix not in chosen:
        return (by_suffix,)
    return chosen or (("json",) if output else ("console",))


@dataclass(frozen=True, slots=True)
class Destinations:
    """Where the reports of a run go: the files of a single form or of several, as `--output` names them, or new ones in
    a folder."""

    forms: tuple[str, ...]
    output: str | None
    folder: str  # of reports
    name: str  # of new files, without a suffix

    @property
    def are_new(self) -> bool:
        """Whether the files get names of their own, so that none is written over."""
        return self.output is None or self._is_folder

    @property
    def _is_folder(self) -> bool:
        output = self.output or ""
        is_written_so = output.endswith(("/", os.sep)) or (len(self.forms) > 1 and not Path(output).suffix)
        return os.path.isdir(output) or (is_written_so and output != "-" and not os.path.isfile(output))

    def places(self, number: int = 1) -> dict[str, Path | None]:
        """By form the file, or None for the standard output. `number` tells new files of the same name apart.

        A single form goes to the file `--output`; of several, JSON goes there, the others beside it and the console to
        the standard output. Into a folder goes every form. Without `--output` the console and a single JSON report go
        to the standard output, and the others to the folder of reports.
        """
        name = self.name if number == 1 else f"{self.name}_{number}"
        if self.output is None:
            shown = ("console", "json") if self.forms == ("json",) else ("console",)
            return {f: None if f in shown else Path(self.folder, name + SUFFIXES[f]) for f in self.forms}
        if self._is_folder:
            return {form: Path(self.output, name + SUFFIXES[form]) for form in self.forms}
        if self.output == "-":
            return dict.fromkeys(self.forms)
        path = Path(self.output)
        if len(self.forms) == 1:
            return {self.forms[0]: path}
        return {form: None if form == "console" else path.with_suffix(SUFFIXES[form]) for form in self.forms}


def report_name(plan: CaseScorecardPlan, concern: str, batch: str, moment: str) -> str:
    """The name of a report file: concern, batch and time."""
    parts = (plan.report_type, concern, batch.replace("*", "all"), re.sub(r"[-:]", "", moment))
    return "_".join(re.sub(r"[^\w.-]+", "_", part) for part in parts)
