"""Exports the records of a run as two tables: Parquet files, or CSV files that spreadsheets open."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Final

from rulewright.errors import UsageError
from rulewright.exporting import flat_records
from rulewright.reporting.stored_run import FinishedRun
from rulewright_runtime.aggregate.scorecard_values import plain_path
from rulewright_runtime.files.atomic import open_whole
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.runs.folder import RunFile, described
from rulewright_runtime.strict_json import Json

_ROWS: Final = 20_000  # verdicts in memory at a time
_TYPES: Final = {"line": "int64", "confidence": "double", "eligible": "bool", "adjudication_required": "bool"}
_FORMULA: Final = tuple("=+-@\t\r")  # what a spreadsheet would calculate instead of show


def write_parquet(run: FinishedRun, folder: Path) -> list[Path]:
    """Write both files to `folder` and return their paths; in the run's own folder they are added to its manifest.

    Raises UsageError without pyarrow or for a damaged run, OSError.
    """
    arrow, parquet = _pyarrow()
    folder.mkdir(parents=True, exist_ok=True)
    verdicts, scores = folder / "verdicts.parquet", folder / "scores.parquet"
    with open_whole(verdicts) as stream:
        count = _write_verdicts(arrow, parquet, run, stream)
    table = _score_table(arrow, run, list(flat_records.score_records(run)))
    with open_whole(scores) as stream:
        parquet.write_table(table, stream, compression="zstd")
    flat_records.add_to_manifest(
        run, folder, [described(verdicts.name, verdicts, count), described(scores.name, scores, table.num_rows)]
    )
    return [verdicts, scores]


def _pyarrow() -> tuple[Json, Json]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: `pip install 'rulewright[data]'`") from None
    return pyarrow, pyarrow.parquet


def _write_verdicts(arrow: Json, parquet: Json, run: FinishedRun, stream: IO[bytes]) -> int:
    types = {"quotes": arrow.list_(arrow.string())}
    arrow_types = {"int64": arrow.int64(), "double": arrow.float64(), "bool": arrow.bool_()}
    types |= {column: arrow_types[name] for column, name in _TYPES.items()}
    schema = arrow.schema([(column, types.get(column, arrow.string())) for column in flat_records.COLUMNS])
    records, count = flat_records.verdict_records(run), 0
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        while batch := list(islice(records, _ROWS)):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _score_table(arrow: Json, run: FinishedRun, records: list[flat_records.Record]) -> Json:
    """The table of outputs: a mapping has a column for each key (`dimension_scores.safety`, `gates.safety.passed`);
    values that are neither scalars nor lists of texts are JSON."""
    rows = [dict(flat_records.flat(record)) for record in records]
    names = dict.fromkeys(name for row in rows for name in row)
    types = {} if run.plan.scorecard is None else _types(arrow, run.plan.scorecard)
    return arrow.table({name: _column(arrow, types.get(name), [row.get(name) for row in rows]) for name in names})


def _types(arrow: Json, scorecard: ScorecardPlan) -> dict[str, object]:
    """The types of the columns whose values the engine computes, whether or not a transcript of this run has one."""
    double, texts = arrow.float64(), arrow.list_(arrow.string())
    types = {flat_records.column_of(scorecard.headline): double, "because": texts}
    own = {part.name for part in scorecard.variables}
    for part in scorecard.output:
        column = flat_records.column_of(part.name)
        match plain_path(part.value, own):
            case ("dimensions",):
                types |= {f"{column}.{each.rate.name}": double for each in scorecard.dimensions}
            case ("gates",):
                types |= {f"{column}.{gate.name}.passed": arrow.bool_() for gate in scorecard.gates}
                types |= {f"{column}.{gate.name}.reasons": texts for gate in scorecard.gates}
            case ("flags",):
                types |= {f"{column}.{label}": arrow.bool_() for label, _ in scorecard.flags.labels}
            case ("rates", _):
                types[column] = double
            case ("counts", _):
                types[column] = arrow.int64()
    return types


def _column(arrow: Json, known: object, values: list[Json]) -> object:
    kinds = {type(value) for value in values} - {type(None)}
    if known is not None:
        return arrow.array(values, known)
    if kinds == {bool}:
        return arrow.array(values, arrow.bool_())
    if kinds and kinds <= {int, float}:
        return arrow.array(values, arrow.float64() if float in kinds else arrow.int64())
    if kinds == {list} and all(isinstance(each, str) for value in values for each in value or ()):
        return arrow.array(values, arrow.list_(arrow.string()))
    return arrow.array(
        [each if each is None or type(each) is str else json.dumps(each) for each in values], arrow.string()
    )


def write_csv(run: FinishedRun, folder: Path) -> list[Path]:
    """Write both files to `folder` and return their paths; in the run's own folder they are added to its manifest.

    Raises UsageError for a damaged run, OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores = [dict(flat_records.flat(record)) for record in flat_records.score_records(run)]
    columns = list(dict.fromkeys(name for row in scores for name in row))
    files = [
        _write(folder / "verdicts.csv", flat_records.COLUMNS, flat_records.verdict_records(run)),
        _write(folder / "scores.csv", columns, scores),
    ]
    flat_records.add_to_manifest(run, folder, files)
    return [folder / each.name for each in files]


def _write(path: Path, columns: Iterable[str], records: Iterable[flat_records.Record]) -> RunFile:
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
