"""Exports a run as flat records, each with its run, plan, scenario and model, so that no join is needed."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.reporting.judged import FinishedRun, JudgedTranscript
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.runs.manifest import read_manifest
from rulewright_runtime.strict_json import JsonMapping, JsonObject

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
    return {
        "check_id": verdict.get("check_id"),
        "verdict": verdict.get("verdict"),
        "eligible": verdict.get("eligible"),
        "severity": verdict.get("severity"),
        "bucket": verdict.get("primary_bucket"),
        "confidence": verdict.get("confidence"),
        "cause": verdict.get("cause"),
        "code": verdict.get("rationale_code"),
        "quotes": [str(span.get("quote", "")) for span in verdict.get("evidence", ())],
        "adjudication_required": verdict.get("adjudication_required"),
    }
