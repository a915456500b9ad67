"""Draw items of a run for people to label.

The CSV has the columns `id,target,annotator,split`. Every check and every verdict give as many items as any other, in
an order that the seed decides; what the run says of them is not told. Write PASS, FAIL or NOT_APPLICABLE under `target`
and a name under `annotator`; a further annotator takes a line of their own. `rulewright calibrate` reads the file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rulewright.calibration.gold import draw, read_gold, written
from rulewright.errors import UsageError
from rulewright.exit_codes import MET
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.files import write_whole
from rulewright_runtime.terminal import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--draw", type=int, default=50, metavar="N", help="how many items (default: 50)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what decides the order (default: 1)")
    parser.add_argument("--check", action="append", default=[], metavar="ID", help="draw of this check (repeatable)")
    parser.add_argument(
        "--split", action="append", default=[], metavar="NAME", help="the items' split; several take turns"
    )
    parser.add_argument("--known", metavar="FILE", help="leave out what this CSV holds already")
    parser.add_argument("--out", metavar="FILE", help="write the CSV there (default: print it)")


def run(args: argparse.Namespace) -> int:
    """Draw, write."""
    stored = read_run(Path(args.run))
    if args.draw < 1:
        raise UsageError(f"`--draw` is {args.draw}; expected at least 1")
    for check in args.check:
        if check not in {each.id for each in stored.plan.checks}:
            raise UsageError(f"the run has no check `{check}`")
    known = [each.item for each in read_gold(Path(args.known))] if args.known else []
    drawn = draw(stored, args.draw, args.seed, args.split or ["report"], args.check, known)
    text = written(drawn)
    if args.out is None:
        sys.stdout.write(text)
        return MET
    if Path(args.out).exists():
        raise UsageError(f"`{args.out}` is there already; labels are not overwritten")
    try:
        write_whole(args.out, text.encode())
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {(error.strerror or str(error)).lower()}") from None
    say(f"wrote {args.out}: {len(drawn)} items to label")
    return MET
