"""Compare two finished runs: what flipped, worst first, why, and whether the second is worse.

The causes of a flip (transcript, judge reply, rule, scenario; of a transcript's outcome verdicts, scorecard, threshold)
are found by recombining the two runs; nobody is asked anything. To tell apart several that differ at once, the
conversations are read again, where the runs have read them or where --transcripts says, and replies that were replayed
where --replies says.

AFTER is worse when a transcript fails that did not, a check fails significantly more often, or the mean score is lower
beyond the margin and beyond chance. It is not worse when all of that can be ruled out. Else the result is inconclusive.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rulewright.comparing.diff import INCONCLUSIVE, MARGIN, WORSE, diff
from rulewright.comparing.page import diff_page
from rulewright.comparing.render import markdown, text
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright_runtime.files import write_whole
from rulewright_runtime.terminal import say, width_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("before", metavar="BEFORE", help="the folder of the run to compare with")
    parser.add_argument("after", metavar="AFTER", help="the folder of the run in question")
    parser.add_argument(
        "--pair", choices=("transcript", "scenario"), default="transcript", help="what makes two transcripts a pair"
    )
    parser.add_argument(
        "--transcripts", action="append", default=[], metavar="PATH", help="conversations of the runs (repeatable)"
    )
    parser.add_argument(
        "--replies", action="append", default=[], metavar="FILE", help="replies that the runs replayed (repeatable)"
    )
    parser.add_argument(
        "--margin", type=float, metavar="D", help="how much lower a mean score is still not worse (default: 0.05)"
    )
    parser.add_argument("--across-judges", action="store_true", help="compare although other judges answered")
    parser.add_argument("--out", metavar="FILE", help="write the comparison there, whole or not at all")
    parser.add_argument("--format", choices=("human", "markdown", "html", "json"), default="human")


def run(args: argparse.Namespace) -> int:
    """Compare, write, choose the exit code."""
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
    if args.out is None:
        sys.stdout.write(shown)
        return
    try:
        write_whole(args.out, shown.encode())
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {(error.strerror or str(error)).lower()}") from None
    say(f"wrote {args.out}: {found['verdict']}")
