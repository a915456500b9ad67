"""The commands as a Python API: check one transcript, scan many, score cases, evaluate expressions, open runs."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

from msgspec.structs import replace

from rulewright.check.project_check import compile_project
from rulewright.documents.examples import part_of
from rulewright.errors import UsageError
from rulewright.exporting.flat_records import score_records, verdict_records
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.judges import ObservedJudge, PythonJudge, open_live, refuse_without_ask
from rulewright.project import Project, load_project
from rulewright.reporting.stored_run import FinishedRun, open_run
from rulewright.scoring.case_scorecards import load_scorecard
from rulewright_runtime.commands.score import score as score_files
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import EvaluationError, RuntimeFailure
from rulewright_runtime.execution import BatchJudge, Engine, execute
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.judging.judge import Judge, is_live
from rulewright_runtime.plan.judge_needs import chosen_checks
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import status_at
from rulewright_runtime.runs.live import LiveJudge
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.values import Optional, from_host, holds_nan, to_host

Source: TypeAlias = Project | Plan | str | os.PathLike[str]
TranscriptLike: TypeAlias = Transcript | Mapping[str, object] | Sequence[Mapping[str, object]] | str | os.PathLike[str]
Row: TypeAlias = JsonObject
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_OPTION: Final = re.compile("`--([a-z]+)`")


def naming_arguments(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return the function with messages of its errors that name its arguments, not the options of the commands."""
    defaults = {name: parameter.default for name, parameter in signature(function).parameters.items()}

    def argument(option: re.Match[str]) -> str:
        name = option[1]
        return option[0] if name not in defaults else f"`{name}=True`" if defaults[name] is False else f"`{name}=`"

    @wraps(function)
    def named(*args: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        try:
            return function(*args, **keywords)
        except UsageError as error:
            raise UsageError(*(_OPTION.sub(argument, each) for each in error.messages)) from None
        except RuntimeFailure as error:
            error.args = tuple(_OPTION.sub(argument, each) if isinstance(each, str) else each for each in error.args)
            raise

    return named


@dataclass(frozen=True, repr=False)
class Run(FinishedRun):
    """A finished run: its folder, its plan, and the content of `summary.json`.

    `exit_code` is that of the scan; `verdicts` and `scores` are data frames, `records` and `rows` the same as dicts.
    """

    def __repr__(self) -> str:
        return f"Run(folder={self.folder!r})"

    @property
    def exit_code(self) -> int:
        """0 every gate passed, 1 a gate failed, 2 undecided, 3 refused input; without gates any FAIL gives 1."""
        return self.status()

    def status(self, fail_on: str | None = None) -> int:
        """Return the exit code under `--fail-on`: a severity or `never`. Raises PlanError for any other word."""
        return status_at(self.summary, self.plan, fail_on)

    def records(self) -> Iterator[Row]:
        """Iterate over every verdict as a self-contained dict: `run` and `run_id`, `plan`, `transcript_id`,
        `scenario_id`, `model`, `path`, `line`, `check_id`, `verdict`, `eligible`, `severity`, `bucket`, `confidence`,
        `cause`, `code`, `quotes`, `adjudication_required`. Raises UsageError where a file of the run was damaged."""
        return verdict_records(self)

    def rows(self) -> Iterator[Row]:
        """Iterate over every transcript's row: the scorecard's outputs, with `run`, `run_id` and `plan`, and the
        engine's `outcome` and `because`."""
        return score_records(self)

    @property
    def verdicts(self) -> Any:
        """`records` as a pandas data frame, else as one of polars, else as a list of dicts."""
        return frame(list(self.records()))

    @property
    def scores(self) -> Any:
        """`rows` as a data frame, likewise."""
        return frame(list(self.rows()))


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Open the finished run in `folder`. Raises UsageError where there is none, PlanError for a changed plan."""
    run = open_run(Path(folder))
    return Run(run.folder, run.plan, run.summary)


@naming_arguments
def check_transcript(
    source: Source,
    transcript: TranscriptLike,
    *,
    judge: Judge | LiveJudge | str | None = None,
    profile: str | None = None,
    parameters: Mapping[str, object] | None = None,
    only: Sequence[str] = (),
) -> TranscriptResult:
    """Return every verdict on one transcript, and its scores.

    `source` is a project, its path or a compiled plan; `transcript` a `Transcript`, a mapping such as
    `{"messages": [...]}` (a record of any supported format), a list of messages with `role` and `content`, or the path
    of a file with one. Refused input is in the result's `errors`, what a judge replied in its `exchanges`. Without
    `judge` the project file's judge is used. `only` runs some checks, by their ids, without scores. Raises
    UsageError for a file with several transcripts and for a `judge` without `ask`, DocumentError for a project with
    mistakes, PlanError where the plan needs a judge and has none and for an unknown check in `only`.
    """
    project = source if isinstance(source, Project | Plan) else load_project(os.fspath(source))
    plan, opened_judge = plan_of(project, profile), _judge_of(project, judge)
    chosen = chosen_checks(plan, [only] if isinstance(only, str) else only)
    plan = part_of(plan, chosen) if only else plan
    if not isinstance(transcript, Transcript | Mapping | str | os.PathLike):
        transcript = {"messages": _messages_in(transcript)}
    observed = None
    if isinstance(opened_judge, BatchJudge):
        engine = Engine(plan, parameters)
        results = list(opened_judge.results(engine, engine.read([transcript])))
    else:
        observed = ObservedJudge(opened_judge) if not isinstance(opened_judge, str | None) else None
        results = list(execute(plan, [transcript], observed or opened_judge, parameters=parameters))
    if len(results) != 1:
        raise UsageError(f"`{transcript}` contains {len(results)} transcripts; use `scan`")
    exchanges = results[0].exchanges if observed is None else tuple(observed.exchanges)
    verdicts = tuple(each for each in results[0].verdicts if each.check_id in chosen)
    return replace(results[0], exchanges=exchanges, verdicts=verdicts)


def _messages_in(transcript: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """The messages of one conversation. Raises UsageError for a list of anything else, such as of conversations."""
    found = list(transcript)
    if not all(isinstance(each, Mapping) and "messages" not in each for each in found):
        raise UsageError(
            "`transcript` is a list whose items are not messages with `role` and `content`; check one conversation "
            "at a time, or write several to a file of JSON lines for `scan`"
        )
    return found


@naming_arguments
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
    project = source if isinstance(source, Project | Plan) else load_project(os.fspath(source))
    plan = plan_of(project, profile, scorecard)
    paths = [transcripts] if isinstance(transcripts, str | os.PathLike) else list(transcripts)
    if not all(isinstance(path, str | os.PathLike) for path in paths):
        raise UsageError("`scan` reads files and folders; write chats to a file of JSON lines first")
    run(plan, paths, out, judge=_judge_of(project, judge), parameters=parameters, resume=resume, overwrite=overwrite)
    return load_run(out)


@naming_arguments
def score(
    cases: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    scorecard: str = "safe-v0",
    *,
    outputs: str | None = None,
    judge: str | None = None,
    parameters: JsonMapping | None = None,
) -> JsonObject:
    """Score files and folders of test cases; return the JSON report of `rulewright score`.

    `scorecard` is a name or a file. Raises DocumentError for a scorecard with mistakes, RuntimeFailure where scoring
    can't start, UsageError where no case was found; cases that could not be scored are in the report's `errors`.
    """
    paths = [cases] if isinstance(cases, str | os.PathLike) else list(cases)
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        score_files(
            load_scorecard(scorecard).plan,
            [os.fspath(path) for path in paths],
            out=report,
            outputs=outputs,
            concern=None,
            judge=judge,
            semantic=None,
            parameters=parameters or {},
        )
        with open(report, encoding="utf-8") as file:
            report_data: JsonObject = json.load(file)
    if not report_data["total_cases"]:
        why = "".join(f"; {each['file']}: {each['message']}" for each in report_data["errors"][:1])
        raise UsageError(f"no cases in {ticked(paths) or 'no files'}{why}")
    return report_data


def evaluate(expression: str, context: JsonMapping | None = None) -> Any:
    """Evaluate an expression of rule files (`and or not`, exact scores); return a native Python value.

    Names of the context need no declaration; an absent value is None. Raises ExpressionError for an expression with
    mistakes, EvaluationError where it has no value and for NaN in the context, which no file can hold.
    """
    bindings: Any = from_host(dict(context or {}))
    if holds_nan(bindings):
        raise EvaluationError("the context contains NaN; leave the value out, or use None", "not_a_number")
    value = prepare(build(expression, Environment(open=True)).program)(bindings)
    if isinstance(value, Optional):
        value = value.value if value.present else None
    return to_host(value)


def plan_of(source: Source, profile: str | None = None, scorecard: str | None = None) -> Plan:
    """Return the given plan, or compile a project. Raises UsageError for a profile or scorecard with a plan."""
    if isinstance(source, Plan):
        if profile is not None or scorecard is not None:
            raise UsageError("a plan has its profile and its scorecard; compile the project for others")
        return source
    project = source if isinstance(source, Project) else load_project(os.fspath(source))
    return compile_project(project, profile=profile, scorecard=scorecard)


def frame(records: list[Row]) -> Any:
    """Return dicts with the same keys as a pandas data frame, else one of polars; unchanged without either."""
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(records)
        except ImportError:
            continue
    return records


def _judge_of(source: Project | Plan, judge: Judge | LiveJudge | str | None) -> Judge | LiveJudge | str | None:
    """The judge, without one that of the project file; a model has the limits that the project file sets. Raises
    UsageError for an object that is not a judge."""
    project = source if isinstance(source, Project) else None
    asked = project.judge_source if judge is None and project is not None else judge
    if not isinstance(asked, str | None):
        refuse_without_ask(asked)
        return PythonJudge(asked) if hasattr(asked, "ask") else asked
    return open_live(asked, project) if isinstance(asked, str) and is_live(asked) else asked
