"""A finished run in memory: its plan, rows and verdicts, and its rows scored again without a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.judged import FinishedRun, open_judged
from rulewright.reporting.run_reader import engine_of, headline_of, rows, score_of
from rulewright_runtime import strict_json
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import ENGINE, engine_results, without_scores
from rulewright_runtime.garbage import seldom_collected
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.runs.log import Log, LogStep
from rulewright_runtime.strict_json import UNDECODED, Json, JsonMapping, JsonObject
from rulewright_runtime.verdicts import EvidenceSpan, VerdictResult


class StoredSpan(EvidenceSpan, frozen=True, kw_only=True):
    """A quote as runs write it: one without a rationale says so."""

    rationale: str | None


class StoredVerdict(VerdictResult, frozen=True, kw_only=True):
    """A line of `verdicts.jsonl` as runs write it. It names every key that its encoding names, which shows without
    decoding it twice that no key is doubled."""

    transcript_id: str
    scenario_id: str | None
    model: str | None
    evidence: tuple[StoredSpan, ...]


class PartialVerdict(VerdictResult, frozen=True, kw_only=True):
    """A line with fewer keys, as other programs write it."""

    transcript_id: str = ""
    scenario_id: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class StoredRun:
    """The contents of a finished run's folder, by transcript."""

    folder: Path
    plan: Plan
    summary: JsonObject
    rows: dict[str, JsonObject]
    verdicts: dict[str, dict[str, VerdictResult]]
    log: Log | None

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
        return step.said if step else ""

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
    for number, verdict in enumerate(_verdicts(folder / "verdicts.jsonl"), 1):
        if verdict.transcript_id not in verdicts:
            place = f"{folder / 'verdicts.jsonl'}:{number}"
            raise UsageError(f"{place}: `{verdict.transcript_id}` has no row in `scores.jsonl`")
        verdicts[verdict.transcript_id][verdict.check_id] = verdict
    return StoredRun(folder, run.plan, run.summary, found, verdicts, run.log())


def _verdicts(path: Path) -> Sequence[StoredVerdict | PartialVerdict]:
    data = path.read_bytes()
    try:
        with seldom_collected():
            try:
                return strict_json.Decoder(StoredVerdict, defaulted=lambda _: 0).decode_lines(data)
            except msgspec.ValidationError:
                return strict_json.Decoder(PartialVerdict).decode_lines(data)
    except UNDECODED as error:
        raise UsageError(f"{path}: these are not verdicts of a run: {error}") from None


def score_again(
    scorecard: Scorecard | None, row: JsonMapping, verdicts: Iterable[VerdictResult], *, skipped: bool = False
) -> JsonObject:
    """Return the row of a transcript under `scorecard` for these verdicts; missing content and checks outside of the
    profile stay as in `row`. A row whose checks were `skipped` has no scores."""
    kept = {key: row[key] for key in ("transcript_id", "scenario_id", "model") if key in row}
    missing = {"missing": row["missing"]} if row.get("missing") else {}
    if scorecard is None:
        return {**kept, ENGINE: engine_results(list(verdicts), undecided=bool(missing)), **missing}
    waiting = [(name, scorecard.waiting_for(name)) for name in row.get("left_out", ())]
    scored = scorecard.score(list(verdicts), None, waiting, incomplete=bool(missing))
    return {**kept, **scored, **(without_scores(scored, scorecard.plan.shown) if skipped else {}), **missing}


def has_skipped(run: StoredRun, row: JsonMapping) -> bool:
    """Whether a scan of gates only skipped checks of a row."""
    by_profile = {part.id for part in run.plan.left_out}
    return bool(run.summary.get("gates_only")) and not by_profile.issuperset(row.get("left_out", ()))


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
