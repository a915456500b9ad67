"""Running a scorecard over batches: cases are streamed, results go to a spool, and the report is added up."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Final

import msgspec
from msgspec import Struct, field

from rulewright_runtime.aggregate.inference import BOOTSTRAP_UP_TO
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_reader import Batch, Case, CaseReader
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.cases.phrase_evidence import PhraseEvidence
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.cases.second_opinions import CaseJudge, SemanticMatcher
from rulewright_runtime.cases.tally import UNKNOWN, CaseGroup, Tally, exit_status
from rulewright_runtime.embedding.opening import Embedding
from rulewright_runtime.errors import EvaluationError, InputError, PlanError
from rulewright_runtime.judging.judge import Judge
from rulewright_runtime.strict_json import JsonObject

_MAX_IN_MEMORY: Final = 8 * 2**20  # bytes
_WRITTEN_TOGETHER: Final = 100  # results: each write passes through Python's wrapper of the file
_GROUP_BOOTSTRAP_UP_TO: Final = 50  # values of a group that are resampled: there may be many groups
_MAX_NOTES: Final = 10_000  # errors or warnings that are kept
OnCase = Callable[[JsonObject], None]


class Spool:
    """The results for a report: encoded, in order, in memory while they are few and else in a temporary file."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: list[bytes] = []
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_MAX_IN_MEMORY)  # noqa: SIM115

    def __del__(self) -> None:
        self._file.close()

    def add(self, result: JsonObject) -> None:
        self.count += 1
        self._waiting.append(msgspec.json.encode(result))
        if len(self._waiting) == _WRITTEN_TOGETHER:
            self._write()

    def _write(self) -> None:
        self._file.write(b"\n".join([*self._waiting, b""]))
        self._waiting.clear()

    def lines(self) -> Iterator[bytes]:
        """Yield the encoded results in order."""
        self._write()
        self._file.seek(0)
        for line in self._file:
            yield line.rstrip(b"\n")
        self._file.seek(0, 2)

    def results(self) -> Iterator[JsonObject]:
        """Yield the results in order."""
        decoder = msgspec.json.Decoder(JsonObject)
        for line in self.lines():
            yield decoder.decode(line)


class BatchRun(Struct):
    """The results of scoring some batches. `errors` holds refused inputs and errored cases, `warnings` notes on scored
    cases, both in input order."""

    plan: CaseScorecardPlan
    tally: Tally
    spool: Spool = field(default_factory=Spool)
    errors: list[JsonObject] = field(default_factory=list)
    warnings: list[JsonObject] = field(default_factory=list)
    phrase_evidence: PhraseEvidence | None = None
    semantic: SemanticMatcher | None = None
    judge: CaseJudge | None = None
    on_case: OnCase | None = None
    refused: int = 0  # refused cases, and refused inputs, which may have held any number of cases
    other_concerns: int = 0  # cases of another concern, left out
    omitted: dict[str, int] = field(default_factory=dict)  # errors and warnings beyond `_MAX_NOTES`
    files: dict[str, str] = field(default_factory=dict)  # of batches
    lines: array[int] = field(default_factory=lambda: array("q"))  # of the results in `spool`, in their files
    _lists: tuple[str, ...] = ()  # the inputs that hold phrases to search for
    _details: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()  # by metric: the keys, and whether of found
    _all_cases: CaseGroup | None = None

    def __post_init__(self) -> None:
        metrics = self.plan.metrics
        self._lists = tuple(dict.fromkeys(metric.share.of for metric in metrics))
        self._details = tuple(
            (metric.name, tuple((key, which == "found") for key, which in metric.details)) for metric in metrics
        )

    def score(self, settings: CaseSettings, group: CaseGroup, case: Case) -> None:
        """Score one case of a batch and add its result, or its error."""
        problem = case.problem
        if case.before is not None:
            self.add_warning(_note(case, f"the test id is already in the batch `{case.before}`, and both cases count"))
        if problem is None:
            try:
                scorer = settings.scorer(case.archetype or UNKNOWN, case.metric_id)
                scored = scorer.score(case.inputs)
                opinions = self._opinions(case, scored)
                if opinions:
                    scored = scorer.revise(scored, case.inputs, **opinions)
            except EvaluationError as error:
                problem = str(error)
        if problem is not None:
            self.refused += case.is_refused
            self.tally.add_error(group, case.archetype)
            self.add_error(_note(case, problem))
            return
        for name in self._lists:
            if not all(map(str.strip, case.inputs[name])):
                self.add_warning(_note(case, f"`{name}` contains an empty phrase, which every text contains"))
        if not any(map(case.inputs.get, self._lists)):
            self.add_warning(_note(case, "the case expects nothing, so every metric has its best score"))
        result = self._result(case, scored)
        if opinions:
            result.update(opinions)
        self.tally.add(group, case.archetype, scored, result)
        self.spool.add(result)
        self.lines.append(case.line)
        if self.on_case is not None:
            self.on_case(result)

    def _opinions(self, case: Case, scored: Scored) -> JsonObject:
        """Return the semantic matches and the judge's verdicts of a case, as parts of its result."""
        opinions: JsonObject = {}
        if self.semantic is not None:
            opinions["semantic_matches"] = self.semantic.matches(case.inputs, scored)
        if self.judge is not None:
            opinions["judged"] = self.judge.judge_case(case.test_id, case.inputs)
        return opinions

    def add_error(self, entry: JsonObject) -> None:
        """Add an error; beyond `_MAX_NOTES` errors are only counted."""
        self.refused += entry["test_id"] is None
        self._add_note("errors", self.errors, entry)

    def add_warning(self, entry: JsonObject) -> None:
        """Add a warning; beyond `_MAX_NOTES` warnings are only counted."""
        self._add_note("warnings", self.warnings, entry)

    def _add_note(self, name: str, notes: list[JsonObject], entry: JsonObject) -> None:
        if len(notes) < _MAX_NOTES:
            notes.append(entry)
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
        if self.phrase_evidence is not None:
            result.update(self.phrase_evidence.of_case(case.inputs, scored))
        return result

    @property
    def all_cases(self) -> CaseGroup:
        """The group of all cases; read it only after the last case."""
        if self._all_cases is None:
            self._all_cases = self.tally.all_cases()
        return self._all_cases

    def status(self, *, allow_errors: bool = False) -> int:
        """Return the exit status: 3 for an error or without a scored case, else that of the worst label; 2 instead
        of 0 when the judge left a question without a usable reply.

        `allow_errors` tolerates errored cases, but not refused inputs, which may have held any number of cases.
        """
        if self.refused or not self.all_cases.scored or (self.errors and not allow_errors):
            return 3
        status = exit_status(self.plan, self.all_cases.labels)
        return 2 if status == 0 and self.judge is not None and self.judge.unanswered else status

    def summary(self) -> JsonObject:
        return _summary(self.all_cases)

    def intervals(self, level: float = 0.95) -> JsonObject:
        """Return confidence intervals of every mean and rate at `level`: of all cases, by archetype and by batch."""

        def of_groups(groups: Mapping[str, CaseGroup]) -> JsonObject:
            return {name: group.intervals(level, _GROUP_BOOTSTRAP_UP_TO) for name, group in groups.items()}

        return {
            "level": level,
            **self.all_cases.intervals(level, BOOTSTRAP_UP_TO),
            "by_archetype": of_groups(self.tally.archetypes),
            "batches": of_groups(self.tally.batches),
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
    """Score every case of `batches`. `verbose` adds spans and near misses to results, `embedding` semantic matches,
    `judge` its verdicts. `on_case` receives each result, `progress` the number of records read.

    Raises PlanError when the scorecard counts semantic matches or a judge's verdicts without a source for them.
    """
    plan = settings.plan
    _refuse_without_source(plan, embedding, judge)
    run = BatchRun(plan, Tally(plan), phrase_evidence=PhraseEvidence(plan) if verbose else None, on_case=on_case)
    run.judge = None if judge is None else CaseJudge(plan, judge)
    run.semantic = None if embedding is None else SemanticMatcher(plan, embedding)
    number = 0
    for batch in batches:
        group = run.tally.batch(batch.name)
        run.files[batch.name] = batch.file
        for item in reader.cases(batch):
            number += 1
            if progress is not None:
                progress(number)
            if isinstance(item, InputError):
                run.add_error(_refusal(item, batch.name))
            else:
                run.score(settings, group, item)
    for refused in reader.refused_outputs:
        run.add_error(_refusal(refused))
    for unused in reader.unused_outputs(run.tally.batches):
        run.add_warning(_refusal(unused))
    run.other_concerns = reader.other_concerns
    return run


def _refuse_without_source(plan: CaseScorecardPlan, embedding: Embedding | None, judge: Judge | None) -> None:
    """Raise PlanError if the scorecard counts semantic matches or a judge's verdicts without a source for them."""
    for metric in plan.metrics:
        if embedding is None and metric.semantic is not None and metric.semantic.counts:
            raise PlanError(
                f"`{plan.name}` counts semantic matches for {metric.name}: name an embedding with `--semantic`"
            )
        if judge is None and metric.judge is not None and metric.judge.unclear is not None:
            raise PlanError(f"`{plan.name}` counts a judge's verdict on {metric.name}: name one with `--judge`")


def _note(case: Case, message: str) -> JsonObject:
    about = {"test_id": case.test_id, "archetype": case.archetype or UNKNOWN, "batch_id": case.batch}
    return {**about, "file": case.file, "line": case.line, "path": case.path, "message": message}


def _refusal(error: InputError, batch: str | None = None) -> JsonObject:
    """Return an entry of the report's errors for a refused input."""
    about = {"test_id": None, "archetype": None, "batch_id": batch}
    return {**about, "file": error.path, "line": error.line, "path": "$", "message": error.reason}


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
    """Return the report without its results, keys in order. `about` (settings, comparison ...) comes last."""
    whole = run.all_cases
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
            {"batch_id": name, **_summary(group), "mean_scores": group.means(), "pass_rates": group.pass_rates()}
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
