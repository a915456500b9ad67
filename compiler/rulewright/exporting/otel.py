"""Exports a run as OpenTelemetry events: a `gen_ai.evaluation.result` for each verdict, in OTLP JSON.

Each line is one request for a collector's `/v1/logs` or its file receiver.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from rulewright.exporting.flat_records import Record, verdict_records
from rulewright.reporting.stored_run import FinishedRun
from rulewright_runtime import __version__
from rulewright_runtime.runs.folder import SUMMARY

EVENT: Final = "gen_ai.evaluation.result"
_EVENTS_PER_REQUEST: Final = 500
_SCORES: Final = {"PASS": 1.0, "FAIL": 0.0}  # an UNCLEAR has none
_INFO: Final = 9
# The attributes of the semantic conventions, then our own, with their field of a record.
_ATTRIBUTES: Final = {
    "gen_ai.evaluation.name": "check_id",
    "gen_ai.evaluation.score.label": "verdict",
    "gen_ai.conversation.id": "transcript_id",
    "gen_ai.request.model": "model",
    "rulewright.scenario.id": "scenario_id",
    "rulewright.check.severity": "severity",
    "rulewright.check.bucket": "bucket",
    "rulewright.verdict.confidence": "confidence",
    "rulewright.verdict.adjudication_required": "adjudication_required",
    "rulewright.run.id": "run_id",
    "rulewright.plan.hash": "plan",
}


def events(run: FinishedRun) -> Iterator[bytes]:
    """Iterate over lines, each a request with events of applied checks. Raises UsageError for a damaged run."""
    # A run records no times: its events get the time at which it finished.
    at = str((run.folder / SUMMARY).stat().st_mtime_ns)
    log_records = (_event(record, at) for record in verdict_records(run) if record["eligible"])
    while batch := list(islice(log_records, _EVENTS_PER_REQUEST)):
        yield msgspec.json.encode(_request(batch)) + b"\n"


def _request(batch: list[Record]) -> Record:
    resource = {"attributes": [_attribute("service.name", "rulewright"), _attribute("service.version", __version__)]}
    scope = {"name": "rulewright", "version": __version__}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": batch}]}]}


def _event(record: Record, at: str) -> Record:
    values = {name: record[field] for name, field in _ATTRIBUTES.items()}
    values["gen_ai.evaluation.score.value"] = _SCORES.get(record["verdict"])
    values["gen_ai.evaluation.explanation"] = _explanation(record)
    values["error.type"] = record["code"] if record["cause"] == "error" else None
    attributes = [_attribute(name, value) for name, value in values.items() if value is not None]
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": _INFO,
        "eventName": EVENT,
        "attributes": attributes,
    }


def _explanation(record: Record) -> str | None:
    """The explanation of a verdict: its code and its quotes."""
    quotes = [f"“{quote}”" for quote in record["quotes"]]
    return ": ".join(filter(None, (record["code"], ", ".join(quotes)))) or None


def _attribute(key: str, value: object) -> Record:
    kinds: tuple[tuple[type, str], ...] = ((bool, "boolValue"), (float, "doubleValue"), (str, "stringValue"))
    return {"key": key, "value": {next(name for kind, name in kinds if isinstance(value, kind)): value}}
