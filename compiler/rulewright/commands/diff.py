"""`diff`: compare two runs, and show the comparison."""

import argparse
import json
import sys
from pathlib import Path

from rulewright.commands.output import hand_over
from rulewright.comparing.diff import INCONCLUSIVE, MARGIN, WORSE, diff
from rulewright.comparing.render import diff_page, markdown, text
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright_runtime.terminal import width_for


def run(args: argparse.Namespace) -> int:
    """Compare and write; return the exit code. Raises UsageError."""
    margin = MARGIN if args.margin is None else args.margin
    if not 0 <= margin <= 1:
        raise UsageError(f"`--margin` is {margin:g}; expected a number from 0 to 1")
    found = diff(
        Path(args.before),
        Path(args.after),
        by=args.pair,
        transcripts=args.transcripts,
        replies=[Path(file) for file in args.replies],
        margin=margin,
        across_judges=args.across_judges,
    )
    _write(args, found)
    return {WORSE: FAILED, INCONCLUSIVE: UNDECIDED}.get(found["verdict"], MET)


def _write(args: argparse.Namespace, found: dict[str, object]) -> None:
    if args.format == "human":
        columns = width_for(sys.stdout) if args.out is None else 100
        shown = "".join(f"{line.rstrip()}\n" for line in text(found, columns))
    elif args.format == "html":
        shown = "".join(diff_page(found))
    else:
        shown = markdown(found) if args.format == "markdown" else json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    hand_over(shown, args.out, f"wrote {args.out}: {found['verdict']}")
