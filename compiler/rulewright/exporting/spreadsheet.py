"""Exports the records of a run as two CSV files that spreadsheets open."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from rulewright.exporting.flat_records import COLUMNS, Record, add_to_manifest, flat, score_records, verdict_records
from rulewright.reporting.stored_run import FinishedRun
from rulewright_runtime.files.atomic import open_whole
from rulewright_runtime.runs.folder import RunFile, described
from rulewright_runtime.strict_json import Json

VERDICTS: Final = "verdicts.csv"
SCORES: Final = "scores.csv"
_FORMULA: Final = tuple("=+-@\t\r")  # what a spreadsheet would calculate instead of show


def write_csv(run: FinishedRun, folder: Path) -> list[Path]:
    """Write both files to `folder` and return their paths; in the run's own folder they are added to its manifest.

    Raises UsageError for a damaged run, OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores = [dict(flat(record)) for record in score_records(run)]
    columns = list(dict.fromkeys(name for row in scores for name in row))
    files = [
        _write(folder / VERDICTS, COLUMNS, verdict_records(run)),
        _write(folder / SCORES, columns, scores),
    ]
    add_to_manifest(run, folder, files)
    return [folder / each.name for each in files]


def _write(path: Path, columns: Iterable[str], records: Iterable[Record]) -> RunFile:
    names, count = list(columns), 0
    with open_whole(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", newline="")  # without the mark, Excel reads another encoding
        rows = csv.writer(text)
        rows.writerow(map(_cell, names))
        for record in records:
            rows.writerow(_cell(record.get(name)) for name in names)
            count += 1
        text.flush()
        text.detach()
    return described(path.name, path, count)


def _cell(value: Json) -> Json:
    """A text that begins like a formula gets an apostrophe, so that a reply of a model can't calculate anything."""
    match value:
        case bool():
            return str(value).upper()
        case list() | dict():
            return _cell("\n".join(_lines(value)))
        case str() if value.startswith(_FORMULA):
            return f"'{value}"
    return value


def _lines(value: Json) -> Iterator[str]:
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    yield from value if texts else [json.dumps(value, ensure_ascii=False)]
