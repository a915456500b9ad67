"""A run as flat records: each names its run, plan, scenario and model, so that it reads without a join."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.runs.manifest import read_manifest
from rulewright_runtime.strict_json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from rulewright.reporting.judged import FinishedRun, JudgedTranscript

Record = JsonObject


def verdict_records(run: FinishedRun) -> Iterator[Record]:
    """A record for each verdict. Raises UsageError where a file of the run was damaged."""
    about = run_fields(run)
    for judged in run.judged():
        of = {**about, **_transcript_fields(judged)}
        yield from ({**of, **_verdict_fields(verdict)} for verdict in judged.verdicts)


def score_records(run: FinishedRun) -> Iterator[Record]:
    """A record for each transcript: what the scorecard outputs, then what the engine says. Raises UsageError."""
    about = run_fields(run)
    for judged in run.judged():
        outputs = {name: value for name, value in judged.row.items() if name != ENGINE}
        engine = {"outcome": judged.engine["outcome"], "because": judged.engine["because"]}
        yield {**about, **_transcript_fields(judged), **outputs, **engine}


def run_fields(run: FinishedRun) -> Record:
    """The run as each of its records names it: its folder, its id and its plan."""
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
