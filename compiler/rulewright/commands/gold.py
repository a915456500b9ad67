"""`gold`: draw items of a run for people to label."""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.calibration.gold import REPORT, draw, read_gold, to_csv, with_fingerprints
from rulewright.commands.output import hand_over
from rulewright.errors import UsageError
from rulewright.exit_codes import MET
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.terminal import say


def run(args: argparse.Namespace) -> int:
    """Draw and write the items; return the exit code."""
    stored = read_run(Path(args.run))
    if args.draw < 1:
        raise UsageError(f"`--draw` is {args.draw}; expected at least 1")
    for check in args.check:
        if check not in {each.id for each in stored.plan.checks}:
            raise UsageError(f"the run has no check `{check}`")
    known = read_gold(Path(args.known)) if args.known else []
    drawn = draw(stored, args.draw, args.seed, args.split or [REPORT], args.check, known)
    if not drawn:
        raise UsageError("no verdict is left to label: each is labelled in `--known`, or its check does not apply")
    text = to_csv(with_fingerprints(stored, drawn) if args.fingerprint else drawn)
    if args.out is not None and Path(args.out).exists():
        raise UsageError(f"`{args.out}` already exists; labels are not overwritten")
    hand_over(text, args.out, f": {len(drawn)} items to label")
    if args.out is not None:
        say(
            "",
            "next: write PASS, FAIL or NOT_APPLICABLE under `target`, and your name under `annotator`",
            f"(`rulewright serve {args.run}` shows the conversations), then",
            f"rulewright calibrate {args.run} --gold {args.out}",
        )
    return MET
