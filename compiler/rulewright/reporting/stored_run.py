"""A finished run: transcript by transcript, with random access to it, or in memory; its conversations, read again from
where the scan read them; and its rows, scored again without a judge.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.run_reader import (
    engine_of,
    headline_of,
    plan_of,
    refuse_changed_run,
    row_of,
    rows,
    score_of,
    summary_of,
)
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import ENGINE, NotRun, engine_results, without_scores
from rulewright_runtime.english import plural
from rulewright_runtime.errors import InputError
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.processes.fast_start import seldom_collected
from rulewright_runtime.runs.folder import LOG, REPLIES
from rulewright_runtime.runs.log import Log, LogStep, conversation_digest, open_log, read_finished
from rulewright_runtime.runs.run_rows import verdict_key
from rulewright_runtime.strict_json import UNDECODED, Json, JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.redaction import Redaction
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.verdicts import VerdictResult

Record = TypeVar("Record")


class JudgedTranscript(Struct, frozen=True):
    """One transcript of a run: its row of `scores.jsonl`, the engine's results in it, its records of `verdicts.jsonl`,
    its source, and the fingerprint of its conversation."""

    row: JsonMapping
    engine: JsonMapping
    verdicts: tuple[JsonMapping, ...]
    path: str = ""
    line: int = 0
    conversation: str = ""

    @property
    def id(self) -> str:
        return str(self.row.get("transcript_id"))


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: its folder, its plan and its summary; its transcripts are read one after the other."""

    folder: Path
    plan: Plan
    summary: JsonObject

    @cached_property
    def checks(self) -> dict[str, Check]:
        """The checks of its plan by their ids."""
        return {check.id: check for check in self.plan.checks}

    @cached_property
    def log(self) -> Log | None:
        """Its log, if it has one. Raises PlanError for a damaged one."""
        path = self.folder / LOG
        return read_finished(str(path)) if path.is_file() else None

    @cached_property
    def columns(self) -> dict[str, str] | None:
        """The mapping of columns that its scan used."""
        try:
            settings = msgspec.json.decode(self.log.header.settings if self.log else "[]", type=list[Json])
            columns = next((each for each in settings[3:] if isinstance(each, dict)), None)
            return msgspec.convert(columns, dict[str, str] | None)
        except msgspec.MsgspecError:
            return None

    @cached_property
    def steps(self) -> dict[str, LogStep]:
        """The steps of the log by input; empty without a log."""
        return {step.input: step for step in self.log.steps} if self.log else {}

    def harness(self, transcript: str) -> str:
        """Return the harness that recorded a conversation; empty if the run did not record it."""
        step = self.steps.get(transcript)
        return step.harness if step else ""

    def fingerprint(self, transcript: str) -> str:
        """Return the fingerprint of a conversation's messages; empty if the run did not record it."""
        step = self.steps.get(transcript)
        return step.conversation if step else ""

    def judged(self) -> Iterator[JudgedTranscript]:
        """Yield its transcripts in the order of the scan. Raises UsageError if its files are inconsistent."""
        groups = groupby(_shared_verdicts(self.folder / "verdicts.jsonl", lambda fields: fields), key=itemgetter(0))
        waiting, steps = next(groups, None), self._log_steps()
        for row in rows(self.folder / "scores.jsonl"):
            found: tuple[JsonMapping, ...] = ()
            if waiting is not None and waiting[0] == row.get("transcript_id"):
                found = tuple(verdict for _, verdict in waiting[1])
                waiting = next(groups, None)
            step = next((each for each in steps if each.input == row.get("transcript_id")), None)
            yield self.transcript(row, found, step)
        if waiting is not None:
            raise UsageError(f"`verdicts.jsonl` judges `{waiting[0]}`, which has no row in `scores.jsonl`")

    def _log_steps(self) -> Iterator[LogStep]:
        """The steps of the log one after the other, which are not kept in memory; none without a log."""
        path = self.folder / LOG
        return open_log(str(path))[1] if path.is_file() else iter(())

    def transcript(self, row: JsonObject, verdicts: tuple[JsonMapping, ...], step: LogStep | None) -> JudgedTranscript:
        """Return the transcript with this row, these verdicts and this step of the log."""
        place = () if step is None else (step.path, step.line, step.conversation)
        return JudgedTranscript(row, engine_of(row, self.folder), verdicts, *place)

    def refused(self) -> Iterator[JsonObject]:
        """The refused inputs with `path`, `line` and `reason`; without a log, those that the summary lists."""
        if not (self.folder / LOG).is_file():
            yield from self.summary["refused"]["inputs"]
        for each in self._log_steps():
            if each.refused is not None:
                path, reason, line = each.refused
                yield {"path": path, "line": line, "reason": reason}


MAX_SHARED: Final = 4096  # verdicts of which one copy is kept


def _shared_verdicts(path: Path, made: Callable[[JsonObject], Record]) -> Iterator[tuple[Json, Record]]:
    """Yield each verdict, as it is `made` of its fields, with its transcript's id. Verdicts without quotes, most of
    which are equal but for their transcript, are made once and shared: they name the first transcript that has them.
    Raises UsageError for a line that is not a verdict."""
    name, key, shared = None, b"\n", dict[bytes, Record]()
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            head, check, rest = line.partition(b'"check_id":')
            if head != key:
                name, key = _name_in(head), head
            record = shared.get(rest) if name is not None else None
            if record is None:
                fields = row_of(line, f"{path}:{number}")
                try:
                    record = made(fields)
                except msgspec.ValidationError as error:
                    raise UsageError(f"{path}:{number}: these are not verdicts of a run: {error}") from None
                if name is not None and check and not fields.get("evidence"):
                    if len(shared) == MAX_SHARED:
                        shared.clear()
                    shared[rest] = record
                yield fields.get("transcript_id"), record
            else:
                yield name, record


def _name_in(head: bytes) -> str | None:
    """The transcript's id in the start of a line, as a scan writes it; None for any other start."""
    try:
        fields = msgspec.json.decode(head[:-1] + b"}", type=JsonObject)
    except UNDECODED:
        return None
    return str(fields.get("transcript_id")) if verdict_key(fields) == head else None


@dataclass(frozen=True)
class StoredRun(FinishedRun):
    """A finished run in memory: its rows, and its verdicts by transcript and check."""

    rows: dict[str, JsonObject]
    verdicts: dict[str, dict[str, VerdictResult]]

    @property
    def parameters(self) -> JsonObject:
        """The parameters that the run set for the scorecard."""
        return dict(self.summary.get("parameters") or {})

    @property
    def replies(self) -> Path | None:
        """The file of the judge's replies, if the run keeps them."""
        path = self.folder / REPLIES
        return path if path.is_file() else None

    @cached_property
    def scorecard(self) -> Scorecard | None:
        """Return the run's own scorecard, prepared for evaluation."""
        return None if self.plan.scorecard is None else Scorecard(self.plan.scorecard, self.parameters)


def read_run(folder: Path) -> StoredRun:
    """Read the finished run in `folder`. Raises UsageError or PlanError without one, or if it is damaged."""
    return stored(open_judged(folder))


def stored(run: FinishedRun) -> StoredRun:
    """Read the rows and verdicts of a finished run. Raises UsageError if they are damaged."""
    folder = run.folder
    found = {str(row.get("transcript_id")): row for row in rows(folder / "scores.jsonl")}
    for row in found.values():
        engine_of(row, folder)
        score_of(row, folder, headline_of(run.plan))
    verdicts: dict[str, dict[str, VerdictResult]] = {name: {} for name in found}
    path = folder / "verdicts.jsonl"
    with seldom_collected():
        for name, record in _shared_verdicts(path, lambda fields: msgspec.convert(fields, VerdictResult)):
            if name not in verdicts:
                raise UsageError(f"{path}: `{name}` has no row in `scores.jsonl`")
            verdicts[name][record.check_id] = record
    return StoredRun(folder, run.plan, run.summary, found, verdicts)


def score_again(
    scorecard: Scorecard | None, row: JsonMapping, verdicts: Iterable[VerdictResult], skipped: Collection[str] = ()
) -> JsonObject:
    """Return the row of a transcript under `scorecard` for these verdicts; missing content and checks outside of the
    profile stay as in `row`. A row whose checks were `skipped` has no scores."""
    kept = {key: row[key] for key in ("transcript_id", "scenario_id", "model") if key in row}
    missing = {"missing": row["missing"]} if row.get("missing") else {}
    if scorecard is None:
        return {**kept, ENGINE: engine_results(list(verdicts), undecided=bool(missing)), **missing}
    scored = scorecard.score(list(verdicts), None, waiting_in(scorecard, row, skipped), incomplete=bool(missing))
    return {**kept, **scored, **(without_scores(scored, scorecard.plan.shown) if skipped else {}), **missing}


def waiting_in(scorecard: Scorecard, row: JsonMapping, skipped: Collection[str]) -> list[NotRun]:
    """Return the checks that were left out of a row, each with the gates that it leaves open. A gate may ignore what a
    profile leaves out, but not a check that was `skipped`."""
    return [
        NotRun(name, tuple(scorecard.may_hold(name)), is_skipped=True)
        if name in skipped
        else NotRun(name, scorecard.waiting_for(name))
        for name in row.get("left_out", ())
    ]


def skipped_checks(run: StoredRun, row: JsonMapping) -> frozenset[str]:
    """Return the checks that a scan of gates only skipped in a row."""
    if not run.summary.get("gates_only"):
        return frozenset()
    return frozenset(row.get("left_out", ())) - {part.id for part in run.plan.left_out}


def knowing(scorecard: ScorecardPlan, *others: ScorecardPlan | None) -> ScorecardPlan:
    """Return the scorecard with the checks of other plans added, so that its gates cover them too."""
    known = {name: about for other in others if other is not None for name, about in other.checks.items()}
    return replace(scorecard, checks={**known, **scorecard.checks})


def decision_of(row: JsonMapping, card: ScorecardPlan) -> tuple[Json, ...]:
    """Return the decision of a row: its outcome, label, headline and the state of every gate."""
    headline, label = card.shown
    gates = tuple((name, gate["state"]) for name, gate in row[ENGINE]["gates"].items())
    return (row[ENGINE]["outcome"], row.get(label or ""), row.get(headline or ""), gates)


def decision_as_json(decision: tuple[Json, ...]) -> JsonObject:
    """Return the result of `decision_of` by name."""
    outcome, label, score, gates = decision
    return {"outcome": outcome, "label": label, "score": score, "gates": dict(gates)}


def open_run(path: str | Path) -> FinishedRun:
    """Open the finished run in the folder `path`. Every reader of runs does. Raises UsageError without one, PlanError
    if its files are not those that it recorded."""
    folder = Path(path)
    run = FinishedRun(folder, plan_of(folder), summary_of(folder))
    refuse_changed_run(folder, run.plan, run.summary)
    return run


def open_judged(folder: Path) -> FinishedRun:
    """Open the finished run in `folder` for a command that decides from its transcripts. Raises UsageError also for a
    run without any, where nothing could be found."""
    run = open_run(folder)
    if not run.summary["transcripts"]:
        refused = plural(run.summary["refused"]["count"], "input")
        raise UsageError(f"the run in `{folder}` judged no transcript ({refused} refused)")
    return run


class _RowOwner(msgspec.Struct):
    """The fields of a row or verdict that name its transcript and check."""

    transcript_id: str = ""
    check_id: str = ""
    eligible: bool = False


class IndexedRun:
    """A finished run with random access to its transcripts, by the offsets of their lines."""

    def __init__(self, run: FinishedRun) -> None:
        """Read every line once. Raises UsageError for a line that is not a row."""
        self.run = run
        self.applied: dict[str, list[int]] = {}  # by check, the numbers of the transcripts to which it applied
        self._scores = list(_lines(run.folder / "scores.jsonl"))
        self._numbers = {line.transcript_id: number for number, (line, *_) in enumerate(self._scores, 1)}
        self._verdicts: dict[int, tuple[int, int]] = {}
        for line, start, end in _lines(run.folder / "verdicts.jsonl"):
            number = self._numbers.get(line.transcript_id, 0)
            self._verdicts[number] = (self._verdicts.get(number, (start, end))[0], end)
            if line.eligible:
                self.applied.setdefault(line.check_id, []).append(number)

    def __len__(self) -> int:
        return len(self._scores)

    def name(self, number: int) -> str:
        return self._scores[number - 1][0].transcript_id

    def number(self, name: str) -> int:
        return self._numbers[name]

    def judged(self, number: int) -> JudgedTranscript:
        """The transcript with this number, from 1."""
        _, start, end = self._scores[number - 1]
        row = row_of(_read(self.run.folder / "scores.jsonl", start, end), f"{self.run.folder}/scores.jsonl:{number}")
        start, end = self._verdicts.get(number, (0, 0))
        lines = _read(self.run.folder / "verdicts.jsonl", start, end).splitlines()
        verdicts = tuple(row_of(line, f"{self.run.folder}/verdicts.jsonl") for line in lines)
        return self.run.transcript(row, verdicts, self.run.steps.get(self.name(number)))


def _lines(path: Path) -> Iterator[tuple[_RowOwner, int, int]]:
    """Yield the lines of a file, each with its start and end."""
    start = 0
    with path.open("rb") as stream:
        for line in stream:
            try:
                yield msgspec.json.decode(line, type=_RowOwner), start, start + len(line)
            except UNDECODED:
                raise UsageError(f"{path}: a line is not a row of a run; scan again") from None
            start += len(line)


def _read(path: Path, start: int, end: int) -> bytes:
    with path.open("rb") as stream:
        stream.seek(start)
        return stream.read(end - start)


def conversations(run: StoredRun, paths: Sequence[str] = ()) -> dict[str, Transcript]:
    """Return the conversations of the run by their ids, as they were recorded. Raises UsageError as `Conversations`
    does."""
    reader = Conversations(run, paths)
    found = {name: reader.recorded(name, step.path, step.conversation) for name, step in run.steps.items()}
    return {name: each for name, each in found.items() if each is not None}


class Conversations:
    """The conversations of a run one after the other, in the order of its files; one file is open at a time."""

    def __init__(self, run: FinishedRun, paths: Sequence[str]) -> None:
        """`paths` hold conversations that have moved since, which are kept in memory; a record that can't be read
        is left out. Raises UsageError for a path without any conversation."""
        self._columns = run.columns
        self._folders = run.folder.resolve().parents  # a scan is usually started in one of them
        self._redaction = Redaction(run.plan.redact)
        self._given = {item.id: item for path in reversed(paths) for item in reversed(self._readable(path))}
        self.missing = 0  # conversations that were not found
        self._path = ""
        self._items: Iterator[Transcript | InputError] = iter(())

    def of(self, name: str, path: str, fingerprint: str) -> Transcript | None:
        """Return the conversation that `recorded` finds, redacted as it was when it was judged."""
        found = self.recorded(name, path, fingerprint)
        return None if found is None else self._redaction.transcript(found)

    def recorded(self, name: str, path: str, fingerprint: str) -> Transcript | None:
        """Return the conversation with this `fingerprint`, from the given paths or the file at `path`; None if it
        is gone or has changed since."""
        given = self._given.get(name)
        found = given if given is not None and conversation_digest(given) == fingerprint else self._next(name, path)
        if found is not None and fingerprint and conversation_digest(found) == fingerprint:
            return found
        self.missing += 1
        return None

    def _readable(self, path: str) -> list[Transcript]:
        items = list(Reader(columns=self._columns).read([path]))
        found = [item for item in items if isinstance(item, Transcript)]
        if items and not found:
            raise UsageError(str(items[0]))
        return found

    def _located(self, path: str) -> str:
        """Return the path from where the scan was started, or else from the working folder."""
        return next(filter(os.path.exists, (os.path.join(folder, path) for folder in self._folders)), path)

    def _next(self, name: str, path: str) -> Transcript | None:
        if not path:
            return None
        if path != self._path:
            self._path, self._items = path, Reader(columns=self._columns).read([self._located(path)])
        for item in self._items:
            if isinstance(item, Transcript) and item.id == name:
                return item
        self._path = ""  # read it again for the next one
        return None
