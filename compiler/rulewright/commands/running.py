"""What `scan` and `run` share: the options of a run, its progress, the scorecard at its end and its exit code."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

from rulewright.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from rulewright_runtime.plan import Plan


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Declare what every run takes."""
    parser.add_argument("--out", required=True, metavar="RUN", help="the folder for plan, verdicts, scores and summary")
    parser.add_argument("--judge", metavar="replay:FILE", help="who answers the questions that checks ask")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scorecard")
    parser.add_argument("--max-calls", type=int, metavar="N", help="stop asking the judge after N calls")
    parser.add_argument("--resume", action="store_true", help="continue a killed run in RUN")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="json prints summary.json")


def run_plan(plan: Plan, args: argparse.Namespace, *, judge: str | None) -> int:
    """Run `plan` as the options say and print how it went; the value is the exit code."""
    from rulewright_runtime.report.console import scorecard
    from rulewright_runtime.report.summary import exit_status
    from rulewright_runtime.store import run

    parameters = dict(_setting(given) for given in args.set)
    terminal = sys.stderr.isatty()
    try:
        summary = run(
            plan,
            args.transcripts,
            args.out,
            judge=judge,
            parameters=parameters,
            resume=args.resume,
            max_calls=args.max_calls,
            progress=_show_progress if terminal else lambda _: None,
        )
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {(error.strerror or str(error)).lower()}") from None
    finally:
        if terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    for refused in summary["refused"]["inputs"]:
        place = f"{refused['path']}:{refused['line']}" if refused["line"] else refused["path"]
        print(f"error: {place}: {refused['reason']}", file=sys.stderr)
    if args.format == "json":
        print(json.dumps(summary, ensure_ascii=False))
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(scorecard(summary, colour=colour), end="")
        print(f"report: {os.path.join(args.out, 'summary.md')}; as a page: rulewright report {shlex.quote(args.out)}")
    return exit_status(summary)


def _setting(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise UsageError(f"`--set {given}` must look like `--set NAME=VALUE`")
    return name, value


def _show_progress(done: int) -> None:
    print(f"\r{done} transcripts", end="", file=sys.stderr, flush=True)
