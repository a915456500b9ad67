"""Write a finished run again under other parameters or another scorecard.

The recorded verdicts are scored again; no judge is asked. The new run holds the plan with its scorecard, the same
verdicts, new scores and a new summary, which says under `rescored` what it came from.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.commands.running import parameters_given
from rulewright.commands.whatif import add_policy_options, other_plan
from rulewright.errors import UsageError
from rulewright.reporting.stored_run import read_run
from rulewright.whatif.rescoring import changed_rules, policy_of, unasked
from rulewright.whatif.writing import write_rescored
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.terminal import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_policy_options(parser)
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the new run goes")


def run(args: argparse.Namespace) -> int:
    """Score again, write, answer as a scan does."""
    folder, out = Path(args.run), Path(args.out)
    if out.exists():
        raise UsageError(f"`{out}` is there already; name a new folder")
    stored, other = read_run(folder), other_plan(args)
    if missing := [*unasked(stored, other), *changed_rules(stored, other)]:
        raise UsageError(f"the run has not asked `{missing[0]}` as the project words it now; scan again")
    summary = write_rescored(stored, policy_of(stored, other, parameters_given(args.set)), out)
    say(f"wrote {out}: {len(stored.rows)} transcripts of {folder} under scorecard {summary['scorecard']}")
    return exit_status(summary)
