"""The flat records of a run: one for each verdict or transcript, with its run, plan, scenario and model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.runs.folder import MANIFEST, RunFile, read_manifest
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject
from rulewright_runtime.transcripts.turn_lines import printable

Record = JsonObject

_OF_TRANSCRIPTS: Final = ("run", "run_id", "plan", "transcript_id", "scenario_id", "model", "path", "line")
_OF_VERDICTS: Final = (
    "check_id", "verdict", "eligible", "severity", "bucket", "confidence", "cause", "code", "quotes",
    "adjudication_required", "decided_by", "decided_why",
)  # fmt: skip
_KEYS: Final = {"bucket": "primary_bucket", "code": "rationale_code"}  # of columns that a run names otherwise
COLUMNS: Final = (*_OF_TRANSCRIPTS, *_OF_VERDICTS)  # of the records of verdicts
_OF_ENGINE: Final = ("outcome", "because")
_TAKEN: Final = {*_OF_TRANSCRIPTS, *_OF_ENGINE} - {"transcript_id", "scenario_id", "model"}  # a row has these itself


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
        outputs = {column_of(name): value for name, value in judged.row.items() if name != ENGINE}
        engine = {name: judged.engine[name] for name in _OF_ENGINE}
        yield {**about, **_transcript_fields(judged), **outputs, **engine}


def column_of(output: str) -> str:
    """Return the column of a scorecard's output: its name, or `output.NAME` if another column has that name."""
    return f"output.{output}" if output in _TAKEN else output


def run_fields(run: FinishedRun) -> Record:
    """Return the fields that identify a run in its records: its folder, its id and its plan."""
    manifest = read_manifest(run.folder)
    return {
        "run": printable(run.folder.resolve().name),
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
    decided = verdict.get("extra", {}).get("adjudicated", {})
    return fields | {
        "quotes": [str(span.get("quote", "")) for span in verdict.get("evidence", ())],
        "decided_by": decided.get("by"),
        "decided_why": decided.get("why"),
    }


def flat(record: Record) -> Iterator[tuple[str, Json]]:
    """Iterate over the columns of a record: a mapping has one for each key (`gates.safety.passed`)."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", each) for key, each in flat(value))
        else:
            yield name, value


def add_to_manifest(run: FinishedRun, folder: Path, files: list[RunFile]) -> None:
    """Add exported files to the manifest of the run, if they are in its own folder and it has one."""
    manifest = read_manifest(run.folder) if folder.resolve() == run.folder.resolve() else None
    if manifest is not None:
        write_whole(run.folder / MANIFEST, manifest.with_files(files).encoded())
