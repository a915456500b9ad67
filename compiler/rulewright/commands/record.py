"""Write the replies of a run's judge to a file that `--judge replay:FILE` reads.

Replaying them gives the verdicts of the run again, without a call.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.errors import UsageError
from rulewright_runtime.files import write_whole
from rulewright_runtime.judging.exchanges import recorded, replay_of
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.terminal import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="a JSON file")


def run(args: argparse.Namespace) -> int:
    """Read the run's replies and write them as a replay."""
    path = Path(args.run, REPLIES)
    if not path.is_file():
        raise UsageError(f"`{args.run}` holds no replies of a judge: there is no `{REPLIES}` in it")
    replay = replay_of(recorded(path))
    write_whole(args.out, replay)
    say(f"wrote {args.out}; use it with `--judge replay:{args.out}`")
    return 0
