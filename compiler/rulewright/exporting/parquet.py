"""Exports a run as flat records, each with its run, plan, scenario and model, and as two Parquet files of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Final

from rulewright.errors import UsageError
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.aggregate.scorecard_values import plain_path
from rulewright_runtime.files.atomic import open_whole, write_whole
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.runs.folder import MANIFEST, RunFile, described, read_manifest
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

VERDICTS: Final = "verdicts.parquet"
SCORES: Final = "scores.parquet"
_ROWS: Final = 20_000  # verdicts in memory at a time
_TYPES: Final = {"line": "int64", "confidence": "double", "eligible": "bool", "adjudication_required": "bool"}
_OF_TRANSCRIPTS: Final = ("run", "run_id", "plan", "transcript_id", "scenario_id", "model", "path", "line")
_OF_VERDICTS: Final = (
    "check_id", "verdict", "eligible", "severity", "bucket", "confidence", "cause", "code", "quotes",
    "adjudication_required",
)  # fmt: skip
_KEYS: Final = {"bucket": "primary_bucket", "code": "rationale_code"}  # of columns that a run names otherwise


def write_parquet(run: FinishedRun, folder: Path) -> list[Path]:
    """Write both files to `folder` and return their paths; in the run's own folder they are added to its manifest.

    Raises UsageError without pyarrow or for a damaged run, OSError.
    """
    arrow, parquet = _pyarrow()
    folder.mkdir(parents=True, exist_ok=True)
    with open_whole(folder / VERDICTS) as stream:
        verdicts = _write_verdicts(arrow, parquet, run, stream)
    table = _score_table(arrow, run, list(score_records(run)))
    with open_whole(folder / SCORES) as stream:
        parquet.write_table(table, stream, compression="zstd")
    files = [described(VERDICTS, folder / VERDICTS, verdicts), described(SCORES, folder / SCORES, table.num_rows)]
    if folder.resolve() == run.folder.resolve():
        _add_to_manifest(run.folder, files)
    return [folder / VERDICTS, folder / SCORES]


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
    schema = arrow.schema([(column, types.get(column, arrow.string())) for column in (*_OF_TRANSCRIPTS, *_OF_VERDICTS)])
    records, count = verdict_records(run), 0
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        while batch := list(islice(records, _ROWS)):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _score_table(arrow: Json, run: FinishedRun, records: list[Record]) -> Json:
    """The table of outputs: a mapping has a column for each key (`dimension_scores.safety`, `gates.safety.passed`);
    values that are neither scalars nor lists of texts are JSON."""
    flat = [dict(_flat(record)) for record in records]
    names = dict.fromkeys(name for row in flat for name in row)
    types = {} if run.plan.scorecard is None else _types(arrow, run.plan.scorecard)
    return arrow.table({name: _column(arrow, types.get(name), [row.get(name) for row in flat]) for name in names})


def _flat(record: Record) -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", each) for key, each in _flat(value))
        else:
            yield name, value


def _types(arrow: Json, scorecard: ScorecardPlan) -> dict[str, object]:
    """The types of the columns whose values the engine computes, whether or not a transcript of this run has one."""
    double, texts = arrow.float64(), arrow.list_(arrow.string())
    types = {scorecard.headline: double, "because": texts}
    own = {part.name for part in scorecard.variables}
    for part in scorecard.output:
        match plain_path(part.value, own):
            case ("dimensions",):
                types |= {f"{part.name}.{each.rate.name}": double for each in scorecard.dimensions}
            case ("gates",):
                types |= {f"{part.name}.{gate.name}.passed": arrow.bool_() for gate in scorecard.gates}
                types |= {f"{part.name}.{gate.name}.reasons": texts for gate in scorecard.gates}
            case ("flags",):
                types |= {f"{part.name}.{label}": arrow.bool_() for label, _ in scorecard.flags.labels}
            case ("rates", _):
                types[part.name] = double
            case ("counts", _):
                types[part.name] = arrow.int64()
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


def _add_to_manifest(folder: Path, files: list[RunFile]) -> None:
    """Add the files to the run's manifest, if it has one."""
    manifest = read_manifest(folder)
    if manifest is not None:
        write_whole(folder / MANIFEST, manifest.with_files(files).encoded())


Record = JsonObject


def verdict_records(run: FinishedRun) -> Iterator[Record]:
    """Iterate over a record for each verdict. Raises UsageError for a damaged run."""
    about = run_fields(run)
    for judged in run.judged():
        fields = {**about, **_transcript_fields(judged)}
        yield from ({**fields, **_verdict_fields(verdict)} for verdict in judged.verdicts)


def score_records(run: FinishedRun) -> Iterator[Record]:
    """Iterate over a record per transcript: the scorecard's outputs, the engine's outcome. Raises UsageError."""
    about = run_fields(run)
    for judged in run.judged():
        outputs = {name: value for name, value in judged.row.items() if name != ENGINE}
        engine = {"outcome": judged.engine["outcome"], "because": judged.engine["because"]}
        yield {**about, **_transcript_fields(judged), **outputs, **engine}


def run_fields(run: FinishedRun) -> Record:
    """Return the fields that identify a run in its records: its folder, its id and its plan."""
    manifest = read_manifest(run.folder)
    return {
        "run": run.folder.resolve().name,
        "run_id": None if manifest is None else manifest.run,
        "plan": run.plan.hash,
    }


def _transcript_fields(judged: JudgedTranscript) -> Record:
    return {
        "transcript_id": judged.id,
        "scenario_id": judged.row.get("scenario_id"),
        "model": judged.row.get("model"),
        "path": judged.path,
        "line": judged.line,
    }


def _verdict_fields(verdict: JsonMapping) -> Record:
    fields = {column: verdict.get(_KEYS.get(column, column)) for column in _OF_VERDICTS}
    return fields | {"quotes": [str(span.get("quote", "")) for span in verdict.get("evidence", ())]}
