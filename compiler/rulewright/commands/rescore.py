"""`rescore`: write a run again under another policy."""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.commands.running import parameters_given
from rulewright.commands.whatif import under_options
from rulewright.errors import UsageError
from rulewright.reporting.stored_run import read_run
from rulewright.whatif.rescoring import policy_of, unasked, write_rescored
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.terminal import say


def run(args: argparse.Namespace) -> int:
    """Score again and write; return the exit code of a scan."""
    folder, out = Path(args.run), Path(args.out)
    if folder.is_file():
        raise UsageError(f"`{folder}` is a report of `score`: run `score` again with `--set`")
    if out.exists():
        raise UsageError(f"`{out}` already exists; name a new folder")
    recorded = read_run(folder)
    under = under_options(args, recorded)
    unknown = under.unknown
    if missing := [*unasked(recorded, under.other), *under.other_rules]:
        raise UsageError(f"the check `{missing[0]}` was not run, or has changed since; scan again")
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UsageError(f"`{unknown[0]}`{more}: this needs a question that was never asked; scan again")
    policy = policy_of(under.run, under.other, parameters_given(args.set))
    summary = write_rescored(recorded, under.run, policy, out)
    say(f"wrote {out}: {len(recorded.rows)} transcripts of {folder} under scorecard {summary['scorecard']}")
    return exit_status(summary)
