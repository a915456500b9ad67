"""The batches and the report files of `rulewright score`."""

import os
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright.errors import UsageError
from rulewright.scoring.score_settings import SUFFIXES
from rulewright.spelling import question
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_reader import Batch
from rulewright_runtime.cases.records import CASE_FOLDERS, OUTPUT_FOLDER, json_files
from rulewright_runtime.english import ticked
from rulewright_runtime.files.input_files import unread_note
from rulewright_runtime.terminal import complain

FOLDERS: Final = (*CASE_FOLDERS, "benchmark/safe/cases")
_DIGITS: Final = re.compile(r"(\d+)")


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
    taken = Counter(name for path in matching for name in {*_names(path, folder)[:3]})
    batches = [Batch(_name(_names(path, folder), taken), str(path)) for path in matching]
    outputs = next((path for path in (folder / OUTPUT_FOLDER, folder.parent / OUTPUT_FOLDER) if path.is_dir()), None)
    return batches, None if outputs is None else str(outputs)


def _names(path: Path, folder: Path) -> tuple[str, ...]:
    """The names of a batch: its file's name without and with the suffix, and its path relative to the folder."""
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return path.stem, path.name, relative, relative.removesuffix(path.suffix)


def _name(names: tuple[str, ...], taken: Counter[str]) -> str:
    """The shortest of the names that no other batch has; the relative path is always one."""
    return next((name for name in names[:3] if taken[name] == 1), names[2])


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
        to the standard output. A folder receives every format. Without `--output` the console, and JSON or annotations
        if they are the only format, go to the standard output, and the others to the folder of reports.
        """
        name = self.name if number == 1 else f"{self.name}_{number}"
        if self.output is None:
            printed = ("console", *(self.forms if self.forms in (("json",), ("github",)) else ()))
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
