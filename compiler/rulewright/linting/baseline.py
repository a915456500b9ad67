"""A baseline: the findings that a project had when it adopted the linter, which are not shown again.

An entry counts the findings with the same file, code and message. Lines don't matter, so edits elsewhere in a file have
no effect. A fixed finding is removed from the baseline; a new one is never added. Findings that another one explains
are in the baseline too, because they may be shown when the other one is fixed.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic
from rulewright.errors import UsageError
from rulewright.linting.lint_report import Report
from rulewright_runtime.english import reason_of
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.files.input_files import read_expanded

Entry: TypeAlias = tuple[str, str, str]  # a path from the baseline's folder, a code, a message
VERSION: Final = 1
PARTS: Final = ("path", "code", "message", "count")


def read_baseline(path: Path) -> Counter[Entry]:
    """Return the entries of a baseline file. Raises `UsageError` for any other file."""
    try:
        document = json.loads(read_expanded(path))
    except (OSError, ValueError, RecursionError) as failure:
        raise UsageError(f"can't read the baseline `{path}`: {reason_of(failure)}") from None
    rows = document.get("findings") if isinstance(document, dict) and document.get("version") == VERSION else None
    if not isinstance(rows, list) or not all(map(_is_row, rows)):
        raise UsageError(f"`{path}` is not a baseline; remove it and write a new one with `--baseline {path}`")
    return Counter({(row["path"], row["code"], row["message"]): row["count"] for row in rows})


def entries_of(report: Report, path: Path) -> Counter[Entry]:
    """Return the entries for the findings of a report, and for those that others explain."""
    return Counter(_entry(found, path) for found in (*report.diagnostics, *report.explained))


def write_baseline(path: Path, entries: Mapping[Entry, int]) -> None:
    """Write the entries, sorted: the same findings give the same bytes."""
    rows = [dict(zip(PARTS, (*entry, count), strict=True)) for entry, count in sorted(entries.items()) if count > 0]
    text = json.dumps({"version": VERSION, "findings": rows}, ensure_ascii=False, indent=1) + "\n"
    write_whole(path, text.encode("utf-8", "replace"))


def without_known(report: Report, known: Counter[Entry], path: Path) -> tuple[Report, Counter[Entry]]:
    """Return the report without the findings of a baseline, and the remaining entries: those found again, and those of
    existing files that were not read."""
    read = {_from(path, source) for source in report.sources}
    left = Counter(known)
    still = Counter({each: n for each, n in known.items() if each[0] not in read and (path.parent / each[0]).exists()})
    kept = []
    for found in report.diagnostics:
        entry = _entry(found, path)
        if left[entry] > 0:
            left[entry] -= 1
            still[entry] += 1
        else:
            kept.append(found)
    still += left & Counter(_entry(found, path) for found in report.explained)
    return replace(report, diagnostics=tuple(kept)), still


def _entry(found: Diagnostic, path: Path) -> Entry:
    return _from(path, found.span.path), found.code, found.message


def _from(path: Path, name: str) -> str:
    """A file's path as a baseline names it."""
    return Path(os.path.relpath(name, path.parent)).as_posix()


def _is_row(row: object) -> bool:
    return (
        isinstance(row, dict)
        and set(row) == set(PARTS)
        and all(isinstance(row[part], str) for part in PARTS[:3])
        and type(row["count"]) is int
        and row["count"] > 0
    )
