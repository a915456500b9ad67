"""Running a scorecard over batches: cases stream through, results go to a spool, and the report is added up."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

import msgspec

from rulewright_runtime.cases.evidence import Witness
from rulewright_runtime.cases.intervals import mean_interval, wilson
from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.cases.reading import Batch, Case, CaseReader
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.cases.settings import Settings
from rulewright_runtime.cases.tally import UNKNOWN, Group, Tally, exit_status
from rulewright_runtime.errors import EvaluationError, InputError

_IN_MEMORY: Final = 8 * 2**20
_FLUSH: Final = 512
OnCase = Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class Spool:
    """Results on their way to a report: encoded, in order, in memory as long as they are few."""

    count: int = 0
    _file: IO[bytes] = field(default_factory=lambda: tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115
    _waiting: list[bytes] = field(default_factory=list)

    def add(self, result: dict[str, Any]) -> None:
        """Keep one more result."""
        self.count += 1
        self._waiting.append(msgspec.json.encode(result))
        if len(self._waiting) >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._file.write(b"\n".join(self._waiting) + b"\n")
            self._waiting.clear()

    def lines(self) -> Iterator[bytes]:
        """The encoded results in order."""
        self._flush()
        self._file.seek(0)
        for line in self._file:
            yield line.rstrip(b"\n")
        self._file.seek(0, 2)

    def results(self) -> Iterator[dict[str, Any]]:
        """The results in order."""
        decoder = msgspec.json.Decoder(dict[str, Any])
        for line in self.lines():
            yield decoder.decode(line)


@dataclass(slots=True)
class BatchRun:
    """What scoring some batches gave. `errors` hold refused inputs and errored cases, in order of sight."""

    plan: CaseScorecardPlan
    tally: Tally
    batches: dict[str, Group]
    spool: Spool
    errors: list[dict[str, Any]]
    refused: int = 0

    @property
    def failed(self) -> bool:
        """Whether anything could not be scored, or there was nothing to score."""
        return bool(self.errors) or not self.tally.whole.scored

    def status(self, *, allow_errors: bool = False) -> int:
        """The exit status: 3 for an error or for no scored case, else what the gravest label stands for."""
        if not self.tally.whole.scored or (self.errors and not allow_errors):
            return 3
        return exit_status(self.plan, [self.tally.whole])

    def summary(self) -> dict[str, Any]:
        """The `summary` of the report."""
        return _summary(self.plan, self.tally.whole)

    def intervals(self, level: float = 0.95) -> dict[str, Any]:
        """Confidence intervals of every mean and rate at `level`."""
        whole, plan = self.tally.whole, self.plan
        counts = self.tally.outcomes
        means = {
            name: mean_interval([(key[at], count) for key, count in counts.items()], level)
            for at, name in enumerate(whole.names)
        }
        passed = dict(zip(whole.names, whole.passes, strict=False)) | {"overall": whole.labels[plan.accepted]}
        rates = {name: wilson(count, whole.total, level) for name, count in passed.items()}
        return {"level": level, "mean_scores": means, "pass_rates": rates}


def score_batches(
    settings: Settings,
    reader: CaseReader,
    batches: Iterable[Batch],
    *,
    verbose: bool = False,
    on_case: OnCase | None = None,
) -> BatchRun:
    """Score every case of `batches`. With `verbose` results carry spans and near misses; `on_case` sees each result."""
    plan = settings.plan
    run = BatchRun(plan, Tally(plan), {}, Spool(), [])
    witness = Witness(plan) if verbose else None
    for batch in batches:
        group = run.batches[batch.name] = run.tally.group()
        for item in reader.cases(batch):
            if isinstance(item, InputError):
                run.refused += 1
                run.errors.append(_refusal(batch, item))
            else:
                _score(settings, run, group, item, witness, on_case)
    return run


def _score(
    settings: Settings, run: BatchRun, group: Group, case: Case, witness: Witness | None, on_case: OnCase | None
) -> None:
    problem = case.problem
    if problem is None:
        try:
            scored = settings.scorer(case.archetype, case.metric_id).score(case.inputs)
        except EvaluationError as error:
            problem = str(error)
    if problem is not None:
        run.tally.add_error(case.archetype)
        group.add_error()
        run.errors.append(
            {
                "test_id": case.test_id,
                "archetype": case.archetype or UNKNOWN,
                "batch_id": case.batch,
                "file": case.file,
                "line": case.line,
                "path": case.path,
                "message": problem,
            }
        )
        return
    result = _result(run.plan, case, scored)
    if witness is not None:
        result.update(witness.testify(case.inputs, scored))
    run.tally.add(case.archetype, scored, result)
    group.add(scored.outcome)
    run.spool.add(result)
    if on_case is not None:
        on_case(result)


def _result(plan: CaseScorecardPlan, case: Case, scored: Scored) -> dict[str, Any]:
    outcome = scored.outcome
    details = {}
    for at, metric in enumerate(plan.metrics):
        details[metric.name] = {
            key: scored.found[at] if which == "found" else scored.missing[at] for key, which in metric.details
        }
    return {
        "test_id": case.test_id,
        "archetype": case.archetype or UNKNOWN,
        "batch_id": case.batch,
        "scores": outcome.scores,
        "details": details,
        "flagged": outcome.flagged,
        "label": outcome.label,
    }


def _refusal(batch: Batch, error: InputError) -> dict[str, Any]:
    return {
        "test_id": None,
        "archetype": None,
        "batch_id": batch.name,
        "file": error.path,
        "line": error.line,
        "path": "$",
        "message": error.reason,
    }


def _summary(plan: CaseScorecardPlan, group: Group) -> dict[str, Any]:
    labels = {label.lower(): group.labels[label] for label in group.labels}
    return {
        "total_cases": group.total,
        **labels,
        "errors": group.errors,
        "scored_cases": group.scored,
        "overall_pass_rate": group.rate(plan.accepted),
    }


def report_head(
    run: BatchRun, *, batch_id: str, concern_id: str, generated_at: str, about: Mapping[str, Any]
) -> dict[str, Any]:
    """The report without its results: what stands before them, in order. `about` (settings, comparison ...) ends it."""
    whole, plan = run.tally.whole, run.plan
    return {
        "report_type": plan.report_type,
        "generated_at": generated_at,
        "batch_id": batch_id,
        "concern_id": concern_id,
        "total_cases": whole.total,
        "summary": run.summary(),
        "mean_scores": whole.means(),
        "pass_rates": whole.pass_rates(plan.accepted),
        "label_distribution": dict(whole.labels),
        "by_archetype": run.tally.by_archetype(),
        "batches": [
            {
                "batch_id": name,
                **_summary(plan, group),
                "mean_scores": group.means(),
                "pass_rates": group.pass_rates(plan.accepted),
            }
            for name, group in run.batches.items()
        ],
        "confidence_intervals": run.intervals(),
        "failure_analysis": {"worst_performers": run.tally.worst(), **run.tally.common()},
        "errors": run.errors,
        **about,
    }
