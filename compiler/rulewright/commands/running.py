"""What `scan` and `run` share: the options of a run, its progress, the scorecard at its end and its exit code."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulewright.commands.live_options import (
    LiveProgress,
    add_live_options,
    again,
    at_least,
    is_live,
    open_judge,
    refuse_what_cannot_fit,
    warn_of_unknown_families,
)
from rulewright.errors import UsageError
from rulewright.exit_codes import INTERRUPTED, REFUSED, UNDECIDED
from rulewright.reporting.formats import run_as
from rulewright_runtime.calls.budget import BudgetError
from rulewright_runtime.errors import OutageError
from rulewright_runtime.input_files import MAX_EXPANDED
from rulewright_runtime.judging.judge import AnsweredElsewhere
from rulewright_runtime.judging.judge import open_judge as open_replay
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.console import scorecard
from rulewright_runtime.report.text import plural
from rulewright_runtime.report.threshold import check_threshold, status_at
from rulewright_runtime.runs.folder import RunFolder
from rulewright_runtime.runs.store import run
from rulewright_runtime.terminal import complain, safe_stream, say, wants_colour
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.readers.tables import FIELDS
from rulewright_runtime.transcripts.transcript_reader import MAX_LINE, Reader

if TYPE_CHECKING:
    from rulewright.project import Project

FORMATS: Final = ("human", "json", "junit", "sarif", "github", "markdown")
MOST_REFUSALS: Final = 3  # shown; all of them stand in summary.json


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Declare what every run takes."""
    parser.add_argument("--out", required=True, metavar="RUN", help="the folder for plan, verdicts, scores and summary")
    parser.add_argument("--judge", metavar="JUDGE", help="who answers what checks ask: `replay:FILE`, or a model")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scorecard")
    parser.add_argument("--max-calls", type=at_least(0), metavar="N", help="stop asking the judge after N calls")
    add_reading_options(parser)
    parser.add_argument(
        "--max-expanded", type=at_least(1), metavar="BYTES", help="refuse larger recorded replies (256 MiB, expanded)"
    )
    parser.add_argument(
        "--jobs", type=at_least(1), default=1, metavar="N", help="judge in N processes, where no model has to be asked"
    )
    parser.add_argument("--gates-only", action="store_true", help="ask nothing that can't change a gate; no scores")
    parser.add_argument("--resume", action="store_true", help="continue a killed run in RUN")
    parser.add_argument("--overwrite", action="store_true", help="replace the run in RUN")
    parser.add_argument("--format", choices=FORMATS, default="human", help="json prints summary.json")
    add_fail_on(parser)
    add_live_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare what every command takes that reads chats."""
    parser.add_argument("--max-line", type=at_least(1), metavar="BYTES", help="refuse longer input lines (1 MiB)")
    parser.add_argument(
        "--columns",
        type=_columns,
        metavar="FIELD=NAME,...",
        help="which columns of a CSV file hold what: `user=question,assistant=answer`",
    )


def _columns(given: str) -> dict[str, str]:
    """The fields and the columns that hold them."""
    pairs = [pair.partition("=") for pair in given.split(",")]
    for field, equals, name in pairs:
        if not equals or not name or field not in FIELDS:
            raise argparse.ArgumentTypeError(f"`{field}={name}` is not a mapping; the fields are {', '.join(FIELDS)}")
    return {field: name for field, _, name in pairs}


def reader_of(args: argparse.Namespace, plan: Plan | None = None) -> Reader:
    """The reader that the options ask for, of any scenarios or of those of a plan."""
    return Reader(None if plan is None else plan.scenarios, args.max_line or MAX_LINE, args.columns)


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """Declare `--fail-on`."""
    parser.add_argument(
        "--fail-on",
        metavar="SEVERITY",
        help="exit 1 where such a check or a graver one fails, whatever gates say; `never`: 0 in place of 1 and 2",
    )


def run_plan(plan: Plan, args: argparse.Namespace, *, judge: str | None, project: Project | None = None) -> int:
    """Run `plan` as the options say and print how it went; the value is the exit code."""
    check_threshold(plan, args.fail_on)
    if args.resume and args.overwrite:
        raise UsageError("`--resume` continues a run and `--overwrite` replaces it; give one of them")
    try:
        summary = _live(plan, args, judge, project) if is_live(judge) and judge else _run(plan, args, judge)
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {(error.strerror or str(error)).lower()}{_kept(args)}") from None
    except KeyboardInterrupt:
        complain("interrupted", *([f"help: continue with `{again()}`"] if _kept(args) else ()))
        return INTERRUPTED
    finally:
        safe_stream(sys.stderr).show_progress("")
    if isinstance(summary, int):
        return summary
    complain(*refusals([_refusal(each) for each in summary["refused"]["inputs"]], summary["refused"]["count"]))
    status = status_at(summary, plan, args.fail_on)
    if args.format == "json":
        print(json.dumps(summary, ensure_ascii=False))
    elif args.format != "human":
        print_run(args.format, run_as(args.format, Path(args.out), status))
    else:
        safe_stream(sys.stdout).write_coloured(scorecard(summary, colour=wants_colour(sys.stdout)))
        say(f"report: {os.path.join(args.out, 'summary.md')}; as a page: rulewright report {shlex.quote(args.out)}")
    return status


def print_run(form: str, text: str) -> None:
    """Print a run in a format for machines."""
    output = safe_stream(sys.stdout)
    if form == "github":
        output.write_annotations(text)
    else:
        output.write(text)


def refusals(inputs: list[str], count: int | None = None) -> Iterator[str]:
    """The first inputs that were refused, each with its reason, and how many others were, `count` in all."""
    yield from (f"error: {each}" for each in inputs[:MOST_REFUSALS])
    count = len(inputs) if count is None else count
    if count > MOST_REFUSALS:
        yield f"error: {plural(count - MOST_REFUSALS, 'further input')} refused, {count} in all"


def _refusal(refused: dict[str, Any]) -> str:
    place = f"{refused['path']}:{refused['line']}" if refused["line"] else refused["path"]
    return f"{place}: {refused['reason']}"


def _run(plan: Plan, args: argparse.Namespace, judge: str | None) -> dict[str, Any]:
    opened = judge if judge is None or args.jobs > 1 else open_replay(judge, args.max_expanded or MAX_EXPANDED)
    summary = run(
        plan,
        args.transcripts,
        args.out,
        judge=opened,
        max_calls=args.max_calls,
        **_settings(args),
        progress=lambda done: safe_stream(sys.stderr).show_progress(f"{done} transcripts"),
    )
    if isinstance(opened, AnsweredElsewhere):
        _tell_answers(opened)
    return summary


def _tell_answers(answers: AnsweredElsewhere) -> None:
    """Say how many questions have no usable answer in the file."""
    safe_stream(sys.stderr).show_progress("")
    if answers.lost:
        lost = ", ".join(f"{number} {reason}" for reason, number in sorted(answers.lost.items()))
        number = plural(answers.lost.total(), "question")
        complain(f"warning: {number} without a usable answer, which don't count as votes: {lost}")


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """What every run takes from the command line, whoever judges."""
    return {
        "parameters": parameters_given(args.set),
        "resume": args.resume,
        "overwrite": args.overwrite,
        "max_line": args.max_line,
        "max_expanded": args.max_expanded,
        "columns": args.columns,
        "jobs": args.jobs,
        "gates_only": args.gates_only,
    }


def _live(plan: Plan, args: argparse.Namespace, judge: str, project: Project | None) -> dict[str, Any] | int:
    """The summary of a run whose judge is a model; the exit code of one that had to stop."""
    made = open_judge(judge, args, project)
    refuse_what_cannot_fit(plan, reader_of(args, plan).read(args.transcripts), made)
    models = Counter(
        item.model if isinstance(item, Transcript) else "" for item in reader_of(args, plan).read(args.transcripts)
    )
    warn_of_unknown_families(made, models.keys() - {""})
    progress = LiveProgress(models.total())
    try:
        summary = run(
            plan,
            args.transcripts,
            args.out,
            judge=made,
            **_settings(args),
            watch=progress,
        )
        if args.explain_cache:
            progress.explain()
        return summary
    except (BudgetError, OutageError) as stopped:
        complain(f"stopped: {stopped}", f"help: continue with `{again()}`")
        return UNDECIDED if isinstance(stopped, BudgetError) else REFUSED


def _kept(args: argparse.Namespace) -> str:
    return "; what is done is kept, continue with `--resume`" if RunFolder(args.out).log else ""


def parameters_given(settings: Iterable[str]) -> dict[str, str]:
    """The parameters that `--set NAME=VALUE` gives. Raises UsageError for one that does not look like that."""
    return dict(_setting(given) for given in settings)


def _setting(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise UsageError(f"`--set {given}` must look like `--set NAME=VALUE`")
    return name, value
