"""`run`: run a compiled plan over transcripts."""

from __future__ import annotations

import argparse

from rulewright.commands.running import run_plan
from rulewright.errors import UsageError
from rulewright_runtime.english import reason_of
from rulewright_runtime.input_files import open_regular
from rulewright_runtime.plan.file import decode


def run(args: argparse.Namespace) -> int:
    """Decode the plan and run it; return the exit code."""
    try:
        with open_regular(args.plan) as stream:
            data = stream.read()
    except OSError as error:
        raise UsageError(f"can't read the plan `{args.plan}`: {reason_of(error)}") from None
    return run_plan(decode(data), args, judge=args.judge)
