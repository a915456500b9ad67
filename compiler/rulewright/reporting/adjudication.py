"""Adjudication: the pending decisions of a run, people's decisions, and the run recomputed with them. The run itself is
never changed: the recomputed run is a separate folder, and the record of every decided verdict holds the previous
verdict, who decided, when and why.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.judged import FinishedRun, JudgedTranscript, open_run
from rulewright.reporting.stored_run import StoredRun, has_skipped, score_again, summary_like
from rulewright_runtime import strict_json
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.english import reason_of
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import lock_folder
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.derived import log_of, write_summary
from rulewright_runtime.runs.folder import GENERATED, LOG, REPLIES, ROWS, SUMMARY, remove
from rulewright_runtime.runs.manifest import NAME as MANIFEST
from rulewright_runtime.runs.run_rows import ROW_KEY, verdict_key
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.verdicts import EvidenceSpan, VerdictResult

FOLDER: Final = "adjudicated"
DECISIONS: Final = "decisions.jsonl"
CODE: Final = "adjudicated"
_KEPT: Final = ("verdict", "rationale_code", "confidence", "adjudication_required", "cause")


class Adjudication(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's decision about one verdict: who, when (UTC), why, and its source."""

    transcript_id: str
    check_id: str
    verdict: Literal["PASS", "FAIL", "NOT_APPLICABLE"]
    by: str
    why: str
    at: str = ""
    via: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The transcript and the check."""
        return self.transcript_id, self.check_id

    @property
    def about(self) -> str:
        """The name in messages."""
        return f"the decision about `{self.check_id}` in `{self.transcript_id}`"


@dataclass(frozen=True, slots=True)
class Item:
    """A verdict that awaits a person, with the reason of the judge or the engine."""

    transcript_id: str
    check_id: str
    verdict: str
    reason: str | None
    cause: str | None
    evidence: tuple[EvidenceSpan, ...]
    severity: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The transcript and the check."""
        return self.transcript_id, self.check_id


def waiting(run: FinishedRun) -> list[Item]:
    """Return the verdicts of a run that await a person: by severity, a FAIL before an UNCLEAR."""
    order = {severity: place for place, severity in enumerate(run.plan.severities, 1)}
    found = [
        Item(
            judged.id,
            record.check_id,
            record.verdict,
            record.rationale_code,
            record.cause,
            record.evidence,
            record.severity,
        )
        for judged in run.judged()
        for record in _records(judged)
        if waits(record)
    ]
    return sorted(found, key=lambda each: (-order.get(each.severity, 0), each.verdict != "FAIL"))


def waits(record: VerdictResult) -> bool:
    """Whether a person must decide a verdict: it requires adjudication, or is neither PASS nor FAIL."""
    return record.eligible and (record.adjudication_required or record.verdict == "UNCLEAR")


def original(folder: Path) -> FinishedRun:
    """Return the run in `folder` as it was judged. Raises UsageError for a run that already contains people's
    decisions."""
    run = open_run(folder)
    if run.summary.get("adjudicated"):
        raise UsageError(f"`{folder}` is an adjudicated run; adjudicate `{run.summary['adjudicated']['from']}` instead")
    return run


def known_decisions(out: Path) -> list[Adjudication]:
    """Return the decisions that were taken before."""
    path = out / DECISIONS
    return list(read_decisions(path)) if path.is_file() else []


def read_decisions(path: Path, by: str = "") -> Iterator[Adjudication]:
    """Return the decisions in a JSON Lines file; a line whose `verdict` is null is still open. `by` is the person for
    lines without one. Raises UsageError with the location of a line that is not a decision."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"can't read `{path}`: {reason_of(error)}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = strict_json.decode(line, type=JsonObject)
            if data.get("verdict") is None:
                continue
            fields = {name: data[name] for name in Adjudication.__struct_fields__ if data.get(name) is not None}
            yield msgspec.convert({"by": by, **fields}, Adjudication)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}:{number}: this is not a decision: {error}") from None


def adjudicate(folder: Path, out: Path, taken: Sequence[Adjudication]) -> JsonObject:
    """Write the run in `folder` with the decisions to `out`, and return its summary.

    Of several decisions about one verdict the last counts, and all stay on record. Raises UsageError for a decision
    without a person or a reason, under the name of a model, or about a verdict that awaits no decision; BusyError if
    another process writes to `out`.
    """
    run = original(folder)
    _refuse_unfounded(run, taken)
    with lock_folder(out):
        counting = {decision.key: decision for decision in taken}
        transcripts = {transcript for transcript, _ in counting}
        waited_for: set[tuple[str, str]] = set()
        plan, parameters = run.plan.scorecard, run.summary.get("parameters") or {}
        card = None if plan is None else Scorecard(plan, parameters)
        summary = _new_summary(run, taken)
        verdicts, scores = {}, {}
        for judged in run.judged():
            if judged.id in transcripts:
                waited_for |= {(judged.id, record.check_id) for record in _records(judged) if waits(record)}
            row, records = _decided(run, card, judged, counting if judged.id in transcripts else {})
            summary.add(row, records, judged.harness)
            scores[judged.id] = msgspec.json.encode(row) + b"\n"
            key = verdict_key(row)
            verdicts[judged.id] = _lines(key + msgspec.json.encode(each)[1:] for each in records)
        _refuse_unasked(taken, waited_for)
        rows = dict(zip(ROWS, (verdicts, scores), strict=True))
        files = {
            DECISIONS: _lines(msgspec.json.encode(decision) for decision in taken),
            "plan.json": encode(run.plan),
            **{name: b"".join(found.values()) for name, found in rows.items()},
        }
        if (log := run.log()) is not None:
            files[LOG] = log_of(log.header, log.steps, {**rows, REPLIES: {}})  # which stay in the original run
        for name in (SUMMARY, MANIFEST, *GENERATED):  # whoever finds a summary can trust what stands beside it
            remove(os.fspath(out / name))
        for name, data in files.items():
            write_whole(out / name, data)
        write_summary(out, run.plan, result := summary.result(), DECISIONS)
    return result


def _refuse_unfounded(run: FinishedRun, taken: Iterable[Adjudication]) -> None:
    for decision in taken:
        check_person(run, decision.by, decision.about)
        if not decision.why.strip():
            raise UsageError(f"{decision.about} names no reason (`why`)")


def _refuse_unasked(taken: Iterable[Adjudication], waited_for: Container[tuple[str, str]]) -> None:
    for decision in taken:
        if decision.key not in waited_for:
            raise UsageError(f"{decision.about} is about a verdict that waits for nobody, or that is not in the run")


def check_person(run: FinishedRun | StoredRun, by: str, about: str) -> None:
    """Raise UsageError if `by` is empty or a model of the run."""
    judge = run.summary.get("judge") or {}
    machines = {*run.summary["models"], *run.plan.models, judge.get("requested_model"), judge.get("name")} - {None, ""}
    if not folded_name(by):
        raise UsageError(f"{about} names no person (`by`)")
    if folded_name(by) in {folded_name(str(name)) for name in machines}:
        raise UsageError(f"{about} is by `{by}`, a model of this run; a person decides")


def _new_summary(run: FinishedRun, taken: Sequence[Adjudication]) -> Summary:
    people = sorted({decision.by for decision in taken})
    count = len({decision.key for decision in taken})
    return summary_like(run, run.plan, {"adjudicated": {"from": str(run.folder), "decisions": count, "by": people}})


def _decided(
    run: FinishedRun,
    card: Scorecard | None,
    judged: JudgedTranscript,
    decisions: Mapping[tuple[str, str], Adjudication],
) -> tuple[JsonObject, list[VerdictResult]]:
    """Return the row and the records of a transcript, recomputed if a person decided about it."""
    records, row = _records(judged), dict(judged.row)
    if not decisions:
        return row, records
    records = [_with(record, decisions.get((judged.id, record.check_id))) for record in records]
    return score_again(card, row, records, skipped=has_skipped(run, row)), records


def _with(record: VerdictResult, decision: Adjudication | None) -> VerdictResult:
    if decision is None:
        return record
    before = {name: value for name in _KEPT if (value := getattr(record, name)) is not None}
    about = {"by": decision.by, "at": decision.at, "why": decision.why, "before": before}
    return replace(
        record,
        verdict=decision.verdict,
        confidence=1.0,
        rationale_code=CODE,
        adjudication_required=False,
        cause=None,
        extra={**{key: value for key, value in record.extra.items() if key != "unverified_fail"}, CODE: about},
    )


def _records(judged: JudgedTranscript) -> list[VerdictResult]:
    fields = [{key: value for key, value in each.items() if key not in ROW_KEY} for each in judged.verdicts]
    return msgspec.convert(fields, type=list[VerdictResult])


def _lines(rows: Iterable[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)
