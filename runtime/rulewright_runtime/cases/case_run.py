"""Running a scorecard over batches: cases stream through, results go to a spool, and the report is added up."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final

import msgspec

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_reader import Batch, Case, CaseReader
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.cases.confidence_intervals import BOOTSTRAP_UP_TO
from rulewright_runtime.cases.judging import CaseJudge
from rulewright_runtime.cases.phrase_evidence import Witness
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.cases.semantic import SemanticWitness
from rulewright_runtime.cases.tally import UNKNOWN, CaseGroup, Tally, exit_status
from rulewright_runtime.errors import EvaluationError, InputError, PlanError
from rulewright_runtime.judging.judge import Judge
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from rulewright_runtime.embedding.opening import Embedding

_IN_MEMORY: Final = 8 * 2**20
_FLUSH: Final = 512
_SMALL: Final = 50  # values of a group that are resampled: there may be many groups
_NOTES: Final = 10_000
OnCase = Callable[[JsonObject], None]


@dataclass(slots=True)
class Spool:
    """Results on their way to a report: encoded, in order, in memory as long as they are few."""

    count: int = 0
    _file: IO[bytes] = field(default_factory=lambda: tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115
    _waiting: list[bytes] = field(default_factory=list)

    def __del__(self) -> None:
        """Give the file back."""
        self._file.close()

    def add(self, result: JsonObject) -> None:
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

    def results(self) -> Iterator[JsonObject]:
        """The results in order."""
        decoder = msgspec.json.Decoder(JsonObject)
        for line in self.lines():
            yield decoder.decode(line)


@dataclass(slots=True)
class BatchRun:
    """What scoring some batches gave. `errors` hold refused inputs and errored cases, `warnings` what is odd about a
    case that was scored all the same, both in order of sight."""

    plan: CaseScorecardPlan
    tally: Tally
    spool: Spool = field(default_factory=Spool)
    errors: list[JsonObject] = field(default_factory=list)
    warnings: list[JsonObject] = field(default_factory=list)
    witness: Witness | None = None
    semantic: SemanticWitness | None = None
    judge: CaseJudge | None = None
    on_case: OnCase | None = None
    refused: int = 0  # cases, and inputs that might hold any number of them, that were refused
    other_concerns: int = 0  # cases of another concern, left out
    omitted: dict[str, int] = field(default_factory=dict)  # errors and warnings beyond the first of them
    _lists: tuple[str, ...] = ()  # the inputs that hold phrases to look for
    _details: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()  # by metric: the keys, and whether of found
    _whole: CaseGroup | None = None

    def __post_init__(self) -> None:
        """Work out once what every case needs."""
        metrics = self.plan.metrics
        self._lists = tuple(dict.fromkeys(metric.share.of for metric in metrics))
        self._details = tuple(
            (metric.name, tuple((key, which == "found") for key, which in metric.details)) for metric in metrics
        )

    def score(self, settings: CaseSettings, group: CaseGroup, case: Case) -> None:
        """Take in one case of a batch."""
        problem = case.problem
        if problem is None:
            try:
                scorer = settings.scorer(case.archetype or UNKNOWN, case.metric_id)
                scored = scorer.score(case.inputs)
                opinions = self._opinions(case, scored)
                if opinions:
                    scored = scorer.revised(scored, case.inputs, **opinions)
            except EvaluationError as error:
                problem = str(error)
        if problem is not None:
            self.refused += case.is_refused
            self.tally.add_error(group, case.archetype)
            self.note_error(_about(case, problem))
            return
        for name in self._lists:
            if not all(map(str.strip, case.inputs[name])):
                self._warn(case, f"`{name}` holds an empty phrase, which every text contains")
        if not any(map(case.inputs.get, self._lists)):
            self._warn(case, "there is nothing to look for, so every metric is at its best")
        result = self._result(case, scored)
        if opinions:
            result.update(opinions)
        self.tally.add(group, case.archetype, scored, result)
        self.spool.add(result)
        if self.on_case is not None:
            self.on_case(result)

    def _opinions(self, case: Case, scored: Scored) -> JsonObject:
        """What an embedding and a judge say of the case, where there is one, as parts of its result."""
        opinions: JsonObject = {}
        if self.semantic is not None:
            opinions["semantic_matches"] = self.semantic.matches(case.inputs, scored)
        if self.judge is not None:
            opinions["judged"] = self.judge.judged(case.test_id, case.inputs)
        return opinions

    def note_error(self, entry: JsonObject) -> None:
        """Take in an error; of very many only the first are kept, and the others counted."""
        self.refused += entry["test_id"] is None
        self._keep("errors", self.errors, entry)

    def _warn(self, case: Case, message: str) -> None:
        self._keep("warnings", self.warnings, _about(case, message))

    def _keep(self, name: str, kept: list[JsonObject], entry: JsonObject) -> None:
        if len(kept) < _NOTES:
            kept.append(entry)
        else:
            self.omitted[name] = self.omitted.get(name, 0) + 1

    def _result(self, case: Case, scored: Scored) -> JsonObject:
        details = {
            name: {key: scored.found[at] if of_found else scored.missing[at] for key, of_found in keys}
            for at, (name, keys) in enumerate(self._details)
        }
        outcome = scored.outcome
        result = {
            "test_id": case.test_id,
            "archetype": case.archetype or UNKNOWN,
            "batch_id": case.batch,
            "scores": outcome.scores,
            "details": details,
            "flagged": outcome.flagged,
            "label": outcome.label,
        }
        if case.id is not None:
            result["id"] = case.id
        if self.witness is not None:
            result.update(self.witness.testify(case.inputs, scored))
        return result

    @property
    def whole(self) -> CaseGroup:
        """All cases together; ask for it when every case is in."""
        if self._whole is None:
            self._whole = self.tally.whole()
        return self._whole

    def status(self, *, allow_errors: bool = False) -> int:
        """The exit status: 3 for an error or for no scored case, else what the gravest label stands for; 2 for 0 where
        the judge left a question without a usable reply.

        `allow_errors` tolerates errored cases, which are counted; never refused inputs, which may have held any number.
        """
        if self.refused or not self.whole.scored or (self.errors and not allow_errors):
            return 3
        status = exit_status(self.plan, self.whole.labels)
        return 2 if status == 0 and self.judge is not None and self.judge.unanswered else status

    def summary(self) -> JsonObject:
        """The `summary` of the report."""
        return _summary(self.whole)

    def intervals(self, level: float = 0.95) -> JsonObject:
        """Confidence intervals of every mean and rate at `level`: of all cases, by archetype and by batch."""
        return {
            "level": level,
            **self.whole.intervals(level, BOOTSTRAP_UP_TO),
            "by_archetype": {name: group.intervals(level, _SMALL) for name, group in self.tally.archetypes.items()},
            "batches": {name: group.intervals(level, _SMALL) for name, group in self.tally.batches.items()},
        }


def score_batches(
    settings: CaseSettings,
    reader: CaseReader,
    batches: Iterable[Batch],
    *,
    verbose: bool = False,
    embedding: Embedding | None = None,
    judge: Judge | None = None,
    on_case: OnCase | None = None,
    progress: Callable[[int], None] | None = None,
) -> BatchRun:
    """Score every case of `batches`. With `verbose` results carry spans and near misses, with an `embedding` semantic
    matches, with a `judge` its verdicts; `on_case` sees each result, `progress` hears how many records were read.

    PlanError when the scorecard counts what an embedding or a judge says and there is none.
    """
    plan = settings.plan
    for metric in plan.metrics:
        if embedding is None and metric.semantic is not None and metric.semantic.counts:
            raise PlanError(
                f"`{plan.name}` counts semantic matches for {metric.name}: name an embedding with `--semantic`"
            )
        if judge is None and metric.judge is not None and metric.judge.unclear is not None:
            raise PlanError(f"`{plan.name}` counts a judge's verdict on {metric.name}: name one with `--judge`")
    run = BatchRun(plan, Tally(plan), witness=Witness(plan) if verbose else None, on_case=on_case)
    run.judge = None if judge is None else CaseJudge(plan, judge)
    run.semantic = None if embedding is None else SemanticWitness(plan, embedding)
    number = 0
    for batch in batches:
        group = run.tally.batch(batch.name)
        for item in reader.cases(batch):
            number += 1
            if progress is not None:
                progress(number)
            if isinstance(item, InputError):
                run.note_error(_refusal(item, batch.name))
            else:
                run.score(settings, group, item)
    for refused in reader.refused_outputs:
        run.note_error(_refusal(refused))
    run.other_concerns = reader.others
    return run


def _about(case: Case, message: str) -> JsonObject:
    return {
        "test_id": case.test_id,
        "archetype": case.archetype or UNKNOWN,
        "batch_id": case.batch,
        "file": case.file,
        "line": case.line,
        "path": case.path,
        "message": message,
    }


def _refusal(error: InputError, batch: str | None = None) -> JsonObject:
    """An input that was refused, as an entry of the report's errors."""
    return {
        "test_id": None,
        "archetype": None,
        "batch_id": batch,
        "file": error.path,
        "line": error.line,
        "path": "$",
        "message": error.reason,
    }


def _summary(group: CaseGroup) -> JsonObject:
    return {
        "total_cases": group.total,
        **{label.lower(): count for label, count in group.labels.items()},
        "errors": group.errors,
        "scored_cases": group.scored,
        "overall_pass_rate": group.pass_rates()["overall"],
    }


def report_head(
    run: BatchRun, *, batch_id: str, concern_id: str, generated_at: str, about: Mapping[str, object]
) -> JsonObject:
    """The report without its results: what stands before them, in order. `about` (settings, comparison ...) ends it."""
    whole = run.whole
    return {
        "report_type": run.plan.report_type,
        "generated_at": generated_at,
        "batch_id": batch_id,
        "concern_id": concern_id,
        "total_cases": whole.total,
        "summary": run.summary(),
        "mean_scores": whole.means(),
        "pass_rates": whole.pass_rates(),
        "label_distribution": whole.labels,
        "by_archetype": run.tally.by_archetype(),
        "batches": [
            {
                "batch_id": name,
                **_summary(group),
                "mean_scores": group.means(),
                "pass_rates": group.pass_rates(),
            }
            for name, group in run.tally.batches.items()
        ],
        "confidence_intervals": run.intervals(),
        "failure_analysis": {"worst_performers": run.tally.worst(), **run.tally.common()},
        **({"judged": run.judge.verdicts} if run.judge is not None else {}),
        **({"unanswered": run.judge.unanswered} if run.judge is not None and run.judge.unanswered else {}),
        **({"other_concerns": run.other_concerns} if run.other_concerns else {}),
        "errors": run.errors,
        "warnings": run.warnings,
        **({"omitted": run.omitted} if run.omitted else {}),
        **about,
    }
