"""`score`: score batches of test cases and report the results."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rulewright.arguments.shared_options import how_to_continue
from rulewright.commands.output import answer, writing_to
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED
from rulewright.reporting.cases import write
from rulewright.result_cache import CacheEntry
from rulewright.scoring.batches import Destinations, find_batches, formats_to_write, only_concern, report_name
from rulewright.scoring.score_settings import DEFAULT_FILE, ScoreSettings, collected, describe, usual_settings
from rulewright_runtime.cases.baseline import Baseline, compare
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, decode
from rulewright_runtime.cases.case_reader import Batch, CaseReader, Outputs
from rulewright_runtime.cases.case_run import BatchRun, report_head, score_batches
from rulewright_runtime.cases.case_settings import CaseSettings, check_thresholds
from rulewright_runtime.cases.hooks import Hooks
from rulewright_runtime.cases.json_report import generation_time, problem_lines
from rulewright_runtime.cases.second_opinions import QuestionCollector
from rulewright_runtime.embedding.opening import open_embedding
from rulewright_runtime.english import plural
from rulewright_runtime.errors import BusyError, PlanError
from rulewright_runtime.files.atomic import open_whole
from rulewright_runtime.files.locks import lock_file
from rulewright_runtime.judging.judge import Judge, JudgeRequest
from rulewright_runtime.judging.replies import strict
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import complain, safe_stream, width_for

if TYPE_CHECKING:
    from rulewright_runtime.runs.live import JudgeSettings

FLAGS = ("--strict-ah", "--fold", "--cases", "--outputs", "--format", "--semantic", "--semantics")
_TICK = 0.2  # seconds between two lines of progress


def run(args: argparse.Namespace) -> int:
    """Score and write the reports; return the exit code. Raises UsageError."""
    if args.resume and args.judge is None:
        raise UsageError("`--resume` asks a judge the remaining questions; name it with `--judge`")
    flags = {flag: getattr(args, flag.lstrip("-").replace("-", "_")) for flag in FLAGS}
    has_file = args.config is not None or os.path.lexists(DEFAULT_FILE)  # which only the compiler can read
    entry, compiled = None if has_file else CacheEntry("plans", ["score", args.scorecard, args.set]), None
    kept = None if entry is None else _kept(args, flags, entry)
    if kept is None:
        from rulewright.commands.compiled_scorecard import CompiledScorecard  # imports the compiler

        compiled = CompiledScorecard(args.scorecard)
        plan, settings = compiled.plan, compiled.settings(args.config, flags, args.set)
    else:
        plan, settings = kept
    for warning in settings.warnings:
        complain(f"warning: {warning}")
    plan = replace(plan, choices=settings.written)
    if args.show_config:
        answer(args.format or "human", settings.as_data(plan), describe(settings), indent=2)
    prepared = settings.prepared(plan)  # refuses invalid settings, even if they are only shown
    check_thresholds(prepared, settings.choices)
    if args.show_config:
        return 0
    args.concern = args.concern or only_concern(settings.place("cases"), args.batch)
    if compiled is not None:
        compiled.prove(prepared, settings.written, entry)
    return _score(args, plan, settings, prepared)


def _kept(
    args: argparse.Namespace, flags: Mapping[str, object], entry: CacheEntry
) -> tuple[CaseScorecardPlan, ScoreSettings] | None:
    """The kept plan of an unchanged scorecard whose label table was proved under the settings of this run, and these;
    None if there is none. The plan is decoded like an untrusted one."""
    found = entry.load()
    if found is None:
        return None
    try:
        plan = decode(found[1])
    except PlanError:
        return None
    settings = collected(usual_settings(plan), plan, os.environ, flags, args.set)
    return (plan, settings) if settings.written == plan.choices else None


def _score(args: argparse.Namespace, plan: CaseScorecardPlan, settings: ScoreSettings, prepared: CaseSettings) -> int:
    batches, found_outputs = find_batches(settings.place("cases"), args.concern, args.batch)
    place = settings.place("outputs") or found_outputs
    outputs = Outputs(place) if place else None
    baseline = Baseline(args.baseline) if args.baseline else None
    reader = CaseReader(plan, args.concern, outputs)
    now = generation_time()
    gc.freeze()  # freeze loaded objects; cases make no reference cycles
    forms = formats_to_write(settings.formats, args.output, explicit=args.format is not None)
    name = report_name(plan, args.concern, args.batch, now)
    destinations = Destinations(forms, args.output, str(settings.place("reportDir")), name)
    with ExitStack() as stack:
        places = _claimed(stack, destinations)
        hooks = _hooks(stack, args, plan, now, str(Path(destinations.folder, name)))
        embedding = open_embedding(semantic) if (semantic := settings.place("semantic")) else None
        judge = _judge(args, stack, prepared, batches, place) if args.judge else None
        with _progress() as progress:
            run = score_batches(
                prepared,
                reader,
                batches,
                verbose=args.verbose,
                embedding=embedding,
                judge=judge,
                on_case=None if hooks is None else hooks.on_case,
                progress=progress,
            )
        about: JsonObject = {"configuration": settings.as_data(plan)}
        if baseline is not None:
            results, settings_hash = run.spool.results(), about["configuration"]["hash"]
            about["comparison"] = compare(plan, baseline, results, run.errors, settings_hash)
        head = report_head(run, batch_id=args.batch, concern_id=args.concern, generated_at=now, about=about)
        _complain(run, args.concern, args.judge)
        status = _status(run, about.get("comparison"), allow_errors=args.allow_errors)
        _write_reports(places, prepared, run, head, status)
        if hooks is not None and args.events:
            hooks.announce(args.events, args.concern, args.batch, run.summary())
    if baseline is not None and not about["comparison"]["paired"]:
        complain(f"error: `{args.baseline}` contains none of these cases")
    return 0 if args.exit_zero and status in (1, 2) else status


def _status(run: BatchRun, comparison: JsonObject | None, *, allow_errors: bool) -> int:
    """The exit status of a run, and of its comparison with a baseline."""
    status = run.status(allow_errors=allow_errors)
    if comparison is not None and not comparison["paired"]:
        return REFUSED
    return 1 if comparison is not None and comparison["regression"] and status in (0, 2) else status


def _judge(
    args: argparse.Namespace, stack: ExitStack, prepared: CaseSettings, batches: list[Batch], place: str | None
) -> Judge:
    """The judge with its limits. Raises UsageError if the cases have more questions than the limits allow."""
    from rulewright import judges, project  # import the scheduler of calls and the loader of projects

    loaded = None if args.max_usd is None else project.load_nearest()

    def questions() -> list[JudgeRequest]:
        collector = QuestionCollector()
        outputs = Outputs(place) if place else None
        score_batches(prepared, CaseReader(prepared.plan, args.concern, outputs), batches, judge=collector)
        return collector.questions

    def settings(model: str) -> JudgeSettings:
        found = judges.within(model, loaded, args.max_calls, args.max_tokens, args.max_usd)
        return replace(found, resumed=args.resume)

    return judges.open_waiting_judge(args.judge, stack, strict, settings=settings, questions=questions)


@contextmanager
def _progress() -> Generator[Callable[[int], None] | None]:
    """Show on a terminal how many cases were read; the line is removed at the end."""
    terminal = safe_stream(sys.stderr)
    if not terminal.isatty():
        yield None
        return
    last = monotonic()

    def show(done: int) -> None:
        nonlocal last
        if monotonic() - last >= _TICK:
            last = monotonic()
            terminal.show_progress(f"{plural(done, 'case')}")

    try:
        yield show
    finally:
        terminal.show_progress("")


def _hooks(stack: ExitStack, args: argparse.Namespace, plan: CaseScorecardPlan, now: str, name: str) -> Hooks | None:
    """The hooks that receive the results; undelivered messages are reported at the end of the run."""
    if not (args.observe or args.otlp or args.events):
        return None

    hooks = Hooks(plan, now, name)
    stack.callback(lambda: complain(*(f"warning: {line}" for line in hooks.close())))
    if args.observe:
        hooks.observe(args.observe)
    if args.otlp:
        hooks.collect(args.otlp)
    return hooks


def _complain(run: BatchRun, concern: str, judge: str | None) -> None:
    """Print every error and warning to standard error, each on a line with its place."""
    complain(*problem_lines(run))
    if judge and run.judge is not None and (cause := run.judge.why_given_up):
        complain(f"help: {how_to_continue(cause, 'score again', judge)}")
    if not run.all_cases.total and not run.errors:
        complain(f"error: no case has the concern `{concern}`")


def _claimed(stack: ExitStack, destinations: Destinations) -> dict[str, Path | None]:
    """The files of the reports, locked against other runs; new files get the first free number."""
    for number in count(1):
        places = destinations.places(number)
        with ExitStack() as attempt:
            try:
                for path in filter(None, places.values()):
                    with writing_to(path):
                        attempt.enter_context(lock_file(path))
                    if destinations.are_new and path.exists():
                        raise BusyError(f"`{path}` already exists")
            except BusyError:
                if not destinations.are_new:
                    raise
                continue
            stack.push(attempt.pop_all())
            return places
    raise AssertionError("there is always a free number")


def _write_reports(
    places: Mapping[str, Path | None], prepared: CaseSettings, run: BatchRun, head: dict[str, object], status: int
) -> None:
    scorer = prepared.scorer(None, None)
    for form, path in places.items():
        if path is None:
            _write_out(form, run, head, scorer, status)
            continue
        with writing_to(path), open_whole(path) as file:
            write(form, file, run, head, scorer, status)
        complain(f"{form} report: {path}")


def _write_out(form: str, run: BatchRun, head: JsonObject, scorer: Any, status: int) -> None:
    columns = width_for(sys.stdout) if sys.stdout.isatty() else None
    with suppress(BrokenPipeError):  # the reader closed the pipe, like `| head`; the other reports are kept
        if form == "github":
            annotations = BytesIO()
            write(form, annotations, run, head, scorer, status)
            safe_stream(sys.stdout).write_annotations(annotations.getvalue().decode())
            return
        write(form, safe_stream(sys.stdout).buffer, run, head, scorer, status, columns)
