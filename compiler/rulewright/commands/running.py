"""The common part of `scan` and `run`: a run under its options, its progress, its summary and its exit code."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rulewright.arguments.shared_options import again
from rulewright.errors import UsageError
from rulewright.exit_codes import INTERRUPTED
from rulewright_runtime.english import plural, reason_of
from rulewright_runtime.files.input_files import MAX_EXPANDED
from rulewright_runtime.judging.independence import Independence
from rulewright_runtime.judging.judge import REPLAY, BatchAnswers, Judge, is_live
from rulewright_runtime.judging.judge import open_judge as open_replay
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.console import scorecard
from rulewright_runtime.report.summary import check_threshold, decides_nothing, exit_status, status_at
from rulewright_runtime.report.text import place_of
from rulewright_runtime.runs.folder import DECIDED, DECISIONS, RunFolder
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import WIDTH, complain, safe_stream, say, wants_colour, width_for
from rulewright_runtime.transcripts.chat_files import MAX_LINE
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader, reading_notes

if TYPE_CHECKING:
    from pathlib import Path

    from rulewright.project import Project

RUNS: Final = "runs"  # the folder of runs without `--out`
MIN_WIDTH: Final = 40  # columns of a scorecard
MOST_REFUSALS: Final = 3  # shown; summary.json lists more


def reader_of(args: argparse.Namespace, plan: Plan | None = None) -> Reader:
    """The reader for the options, for any scenarios or for those of a plan."""
    return Reader(None if plan is None else plan.scenarios, args.max_line or MAX_LINE, args.columns)


def run_plan(plan: Plan, args: argparse.Namespace, *, judge: str | None, project: Project | None = None) -> int:
    """Run `plan` under the options and print the summary; return the exit code. Raises UsageError."""
    check_threshold(plan, args.fail_on)
    if args.resume and args.overwrite:
        raise UsageError("`--resume` continues a run and `--overwrite` replaces it; use one of them")
    is_numbered = args.out is None
    if is_numbered:
        args.out = _numbered_run(args)
    try:
        summary = _live(plan, args, judge, project) if is_live(judge) and judge else _run(plan, args, judge, project)
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {reason_of(error)}{_kept(args)}") from None
    except KeyboardInterrupt:
        complain("interrupted", *([f"help: continue with `{again()}`"] if _kept(args) else ()))
        return INTERRUPTED
    finally:
        safe_stream(sys.stderr).show_progress("")
        if is_numbered:
            with suppress(OSError):  # it holds a run
                os.removedirs(args.out)
    if isinstance(summary, int):
        return summary
    refused = [f"{place_of(each)}: {each['reason']}" for each in summary["refused"]["inputs"]]
    complain(*refusals(refused, summary["refused"]["count"]))
    complain(
        *reading_notes(
            summary.get("unread_files", {}), summary.get("unused_columns", ()), summary.get("labels_read_as_text", ())
        )
    )
    status = status_of(summary, plan, args.fail_on)
    if args.format == "json":
        print(json.dumps(summary, ensure_ascii=False))
    elif args.format != "human":
        from rulewright.reporting.formats import run_as  # imports the reader of finished runs
        from rulewright.reporting.stored_run import open_run

        print_run(args.format, run_as(args.format, open_run(args.out), args.fail_on))
    else:
        columns = max(MIN_WIDTH, min(WIDTH, width_for(sys.stdout)))
        safe_stream(sys.stdout).write_coloured(scorecard(summary, columns=columns, colour=wants_colour(sys.stdout)))
        run = shlex.quote(args.out)
        if exit_status(summary) and summary["transcripts"]:
            say(f"what failed or is undecided: rulewright why {run}")
        say(f"report: {os.path.join(args.out, 'summary.md')}; as a page: rulewright report {run}")
    return status


def status_of(summary: JsonMapping, plan: Plan, fail_on: str | None) -> int:
    """The exit code of a run, with a note where no check decides it. Raises PlanError for an unknown severity."""
    status = status_at(summary, plan, fail_on)
    if status == 2 and decides_nothing(summary, plan, fail_on):
        complain(f"note: no check of severity `{fail_on}` or higher applied, so `--fail-on` leaves the run undecided")
    return status


def _numbered_run(args: argparse.Namespace) -> str:
    """The folder of a new run, which is created, or of the last one with `--resume`. Raises UsageError."""
    if args.overwrite:
        raise UsageError("`--overwrite` needs `--out` with the run to replace")
    names = os.listdir(RUNS) if os.path.isdir(RUNS) else []
    last = max((int(name) for name in names if re.fullmatch("[1-9][0-9]{0,8}", name)), default=0)
    if args.resume and not last:
        raise UsageError(f"`--resume` needs `--out`, because `{RUNS}` contains no numbered run")
    while not args.resume:
        last += 1
        try:
            os.makedirs(os.path.join(RUNS, str(last)))
            break
        except OSError as error:
            if not os.path.isdir(os.path.join(RUNS, str(last))):  # otherwise another scan has just taken this number
                raise UsageError(f"can't write `{RUNS}`: {reason_of(error)}") from None
    return os.path.join(RUNS, str(last))


def print_run(form: str, text: str) -> None:
    """Print a run in a machine-readable format."""
    output = safe_stream(sys.stdout)
    if form == "github":
        output.write_annotations(text)
    else:
        output.write(text)


def note_decisions(folder: Path) -> None:
    """Say where the run with people's decisions is, if there is one: what is written is the run without them."""
    if (folder / DECIDED / DECISIONS).is_file():
        complain(f"note: the run with people's decisions is `{folder / DECIDED}`")


def refusals(inputs: list[str], count: int | None = None) -> Iterator[str]:
    """Lines for the first refused inputs with their reasons, and for the number of the others, of `count` in all."""
    count = len(inputs) if count is None else count
    shown = inputs[: count if count == MOST_REFUSALS + 1 else MOST_REFUSALS]  # a count of one is as long as the one
    yield from (f"error: {each}" for each in shown)
    if count > len(shown):
        yield f"error: {plural(count - len(shown), 'further input')} refused, {count} in all"


def _run(plan: Plan, args: argparse.Namespace, judge: str | None, project: Project | None) -> JsonObject:
    is_spread = args.jobs > 1 or args.ray
    opened: Judge | str | None = judge
    if judge is not None and (judge.startswith(REPLAY) or not is_spread):
        opened = open_replay(judge, args.max_expanded or MAX_EXPANDED)
    if isinstance(opened, BatchAnswers):
        _refuse_own_words(opened, plan, args, project)
    summary = run(
        plan,
        args.transcripts,
        args.out,
        judge=judge if is_spread else opened,
        max_calls=args.max_calls,
        **_settings(args),
        progress=lambda done: safe_stream(sys.stderr).show_progress(plural(done, "transcript")),
    )
    if isinstance(opened, BatchAnswers):
        _tell_answers(opened)
    return summary


def _refuse_own_words(answers: BatchAnswers, plan: Plan, args: argparse.Namespace, project: Project | None) -> None:
    """Raise NotIndependentError if the answers are of a model that may not judge one of the transcripts."""
    independence = Independence(project.judge.families, project.judge.same_family) if project else Independence()
    for item in reader_of(args, plan).read(args.transcripts) if answers.record.served_models else ():
        if isinstance(item, Transcript):
            independence.refuse(answers.record.served_models, item)


def _tell_answers(answers: BatchAnswers) -> None:
    """Print how many questions have no usable answer in the file."""
    safe_stream(sys.stderr).show_progress("")
    if answers.lost:
        lost = ", ".join(f"{number} {reason}" for reason, number in sorted(answers.lost.items()))
        number = plural(answers.lost.total(), "question")
        complain(f"warning: {number} without a usable answer, which don't count as votes: {lost}")


def _settings(args: argparse.Namespace) -> JsonObject:
    """The settings that every run takes from the command line."""
    return {
        "parameters": parameters_given(args.set),
        "resume": args.resume,
        "overwrite": args.overwrite,
        "max_line": args.max_line,
        "max_expanded": args.max_expanded,
        "columns": args.columns,
        "jobs": args.jobs,
        "ray": args.ray,
        "gates_only": args.gates_only,
    }


def _live(plan: Plan, args: argparse.Namespace, judge: str, project: Project | None) -> JsonObject | int:
    """As `_run` with a model as judge; the exit code of a run that had to stop."""
    from rulewright.commands.live_judge import live_run  # imports asyncio and HTTP, which no other scan needs

    return live_run(plan, args, judge, project, lambda: reader_of(args, plan).read(args.transcripts), _settings(args))


def _kept(args: argparse.Namespace) -> str:
    return "; finished work is kept, continue with `--resume`" if RunFolder(args.out).log else ""


def parameters_given(settings: Iterable[str]) -> dict[str, str]:
    """The parameters given by `--set NAME=VALUE`. Raises UsageError for any other form."""
    return dict(_setting(given) for given in settings)


def _setting(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise UsageError(f"`--set {given}` must have the form `--set NAME=VALUE`")
    return name, value
