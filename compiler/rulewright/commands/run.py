"""Run a compiled plan over transcripts.

The plan is checked before anything runs: its form, its version, its hash, its size. Everything else is as `scan` does.
"""

from __future__ import annotations

import argparse

from rulewright.commands.running import add_run_options, run_plan
from rulewright.errors import UsageError
from rulewright_runtime.input_files import open_regular
from rulewright_runtime.plan.file import decode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="what `rulewright compile` wrote")
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Decode, execute, store, report."""
    try:
        with open_regular(args.plan) as stream:
            data = stream.read()
    except OSError as error:
        raise UsageError(f"can't read the plan `{args.plan}`: {(error.strerror or str(error)).lower()}") from None
    return run_plan(decode(data), args, judge=args.judge)
