"""What the commands do, for Python programs: check one transcript, scan many, score cases, evaluate, open a run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rulewright.check.project_check import compile_project
from rulewright.commands.live_judge import open_project_judge
from rulewright.errors import UsageError
from rulewright.exporting.records import score_records, verdict_records
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.project import Project, load_project
from rulewright.reporting.judged import FinishedRun, open_run
from rulewright.scoring.batches import load_scorecard
from rulewright_runtime.cases.engine_command import score as score_files
from rulewright_runtime.execution import BatchJudge, Engine, execute
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.judging.judge import is_live
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.threshold import status_at
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.values import Optional, to_host

if TYPE_CHECKING:
    from rulewright_runtime.execution import TranscriptResult
    from rulewright_runtime.judging.judge import Judge
    from rulewright_runtime.runs.live import LiveJudge

Source: TypeAlias = Project | Plan | str | os.PathLike[str]
TranscriptLike: TypeAlias = Transcript | Mapping[str, object] | str | os.PathLike[str]
Row: TypeAlias = JsonObject


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its folder, the plan that ran, and what `summary.json` holds.

    `exit_code` is that of the scan; `verdicts` and `scores` are data frames, `records` and `rows` the same as dicts.
    """

    folder: Path
    plan: Plan = field(repr=False)
    summary: JsonObject = field(repr=False)

    @property
    def exit_code(self) -> int:
        """0 every gate passed, 1 a gate failed, 2 undecided, 3 refused input; without gates any FAIL gives 1."""
        return self.status()

    def status(self, fail_on: str | None = None) -> int:
        """The exit code as `--fail-on` would make it: a severity or `never`. Raises PlanError for another word."""
        return status_at(self.summary, self.plan, fail_on)

    def records(self) -> Iterator[Row]:
        """Every verdict as a dict that reads without a join: `run` and `run_id`, `plan`, `transcript_id`,
        `scenario_id`, `model`, `path`, `line`, `check_id`, `verdict`, `eligible`, `severity`, `bucket`, `confidence`,
        `cause`, `code`, `quotes`, `adjudication_required`. Raises UsageError where a file of the run was damaged."""
        return verdict_records(self._finished())

    def rows(self) -> Iterator[Row]:
        """Every transcript's row: what the scorecard outputs, with `run`, `run_id` and `plan`, and the engine's
        `outcome` and `because`."""
        return score_records(self._finished())

    @property
    def verdicts(self) -> Any:
        """`records` as a data frame: of pandas where it is installed, else of polars, else a list of dicts."""
        return frame(list(self.records()))

    @property
    def scores(self) -> Any:
        """`rows` as a data frame, likewise."""
        return frame(list(self.rows()))

    def _finished(self) -> FinishedRun:
        return FinishedRun(self.folder, self.plan, self.summary)


def load_run(folder: str | os.PathLike[str]) -> Run:
    """The finished run in `folder`. Raises UsageError where there is none, PlanError where its plan was changed."""
    found = open_run(Path(folder))
    return Run(found.folder, found.plan, found.summary)


def check_transcript(
    source: Source,
    transcript: TranscriptLike,
    *,
    judge: Judge | LiveJudge | str | None = None,
    profile: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> TranscriptResult:
    """Every verdict on one transcript, and its scores.

    `source` is a project, its path or a compiled plan; `transcript` a `Transcript`, a mapping such as
    `{"messages": [...]}` (a record of any format that is read), or the path of a file that holds one. What is refused
    is in the result's `errors`. Without `judge` it is that of the project file. Raises UsageError where a file holds
    several transcripts, DocumentError for a project with mistakes, PlanError where the plan needs a judge and there is
    none.
    """
    project = source if isinstance(source, Project | Plan) else _project(source)
    plan, asked = plan_of(project, profile), _judge_of(project, judge)
    if isinstance(asked, BatchJudge):
        engine = Engine(plan, parameters)
        results = list(asked.results(engine, engine.read([transcript])))
    else:
        results = list(execute(plan, [transcript], asked, parameters=parameters))
    if len(results) != 1:
        raise UsageError(f"`{transcript}` holds {len(results)} transcripts; use `scan`")
    return results[0]


def scan(
    source: Source,
    transcripts: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    judge: Judge | LiveJudge | str | None = None,
    profile: str | None = None,
    scorecard: str | None = None,
    parameters: Mapping[str, object] | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> Run:
    """Judge files and folders of transcripts, write the run to the folder `out`, and open it.

    Without `judge` it is that of the project file. A folder that holds a run is refused unless `resume` continues it or
    `overwrite` replaces it. Raises UsageError, DocumentError and PlanError as the command `scan` refuses, OSError where
    `out` can't be written; what was refused of the input is in `Run.summary["refused"]`.
    """
    project = source if isinstance(source, Project | Plan) else _project(source)
    plan = plan_of(project, profile, scorecard)
    places = [transcripts] if isinstance(transcripts, str | os.PathLike) else list(transcripts)
    run(plan, places, out, judge=_judge_of(project, judge), parameters=parameters, resume=resume, overwrite=overwrite)
    return load_run(out)


def score(
    cases: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    scorecard: str = "safe-v0",
    *,
    outputs: str | None = None,
    judge: str | None = None,
    parameters: JsonMapping | None = None,
) -> JsonObject:
    """Score files and folders of test cases; the value is what the JSON report of `rulewright score` holds.

    `scorecard` is a name or a file. Raises DocumentError for a scorecard with mistakes, RuntimeFailure for what can't
    be begun; cases that could not be scored are in the report's `errors`.
    """
    places = [cases] if isinstance(cases, str | os.PathLike) else list(cases)
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        score_files(
            load_scorecard(scorecard).plan,
            [os.fspath(place) for place in places],
            out=report,
            outputs=outputs,
            concern=None,
            judge=judge,
            semantic=None,
            parameters=parameters or {},
        )
        with open(report, encoding="utf-8") as file:
            found: dict[str, object] = json.load(file)
    return found


def evaluate(expression: str, context: JsonMapping | None = None) -> Any:
    """The value of an expression of rule files (`and or not`, exact scores), as a native Python value.

    Names of the context need no declaration; an absent value is None. Raises ExpressionError for an expression with
    mistakes, EvaluationError where it has no value.
    """
    found = prepare(build(expression, Environment(open=True)).program)(dict(context or {}))
    if isinstance(found, Optional):
        found = found.value if found.present else None
    return to_host(found)


def plan_of(source: Source, profile: str | None = None, scorecard: str | None = None) -> Plan:
    """The plan that is given, or that a project compiles to."""
    if isinstance(source, Plan):
        if profile is not None or scorecard is not None:
            raise UsageError("a plan has its profile and its scorecard; compile the project for others")
        return source
    return compile_project(
        source if isinstance(source, Project) else _project(source), profile=profile, scorecard=scorecard
    )


def frame(records: list[Row]) -> Any:
    """A data frame of dicts with the same keys: of pandas, else of polars; the dicts themselves without either."""
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(records)
        except ImportError:
            continue
    return records


def _judge_of(source: Project | Plan, judge: Judge | LiveJudge | str | None) -> Judge | LiveJudge | str | None:
    """The judge, without one that of the project file; a model has the limits that the project file sets."""
    project = source if isinstance(source, Project) else None
    asked = project.judge_source if judge is None and project is not None else judge
    return open_project_judge(asked, project) if isinstance(asked, str) and is_live(asked) else asked


def _project(path: str | os.PathLike[str]) -> Project:
    return load_project(os.fspath(path))
