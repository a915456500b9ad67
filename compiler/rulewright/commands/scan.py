"""Compile a project and run it over transcripts.

The folder --out receives plan.json, verdicts.jsonl, scores.jsonl, summary.json and summary.md. A judge is recorded
replies, `replay:FILE`; without --judge it is the project's `judge.source`.

exit codes: 0 all gates passed, 1 a hard fail, 2 a gate unresolved or coverage below 0.80,
            3 refused input, an error in the project, or bad usage
"""

from __future__ import annotations

import argparse

from rulewright.commands.project_options import add_project_options, compile_chosen
from rulewright.commands.running import add_run_options, run_plan

BAD_USAGE = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_project_options(parser)
    add_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compile, execute, store, report."""
    project, plan = compile_chosen(args)
    return run_plan(plan, args, judge=args.judge or project.judge_source)
