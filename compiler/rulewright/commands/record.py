"""`record`: write the replies of a run to a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.errors import UsageError
from rulewright.reporting.judged import open_judged
from rulewright_runtime.files import write_whole
from rulewright_runtime.judging.exchanges import read_exchanges, replay_of
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.terminal import say


def run(args: argparse.Namespace) -> int:
    """Read the run's replies and write them for `replay:`; return the exit code."""
    path = open_judged(Path(args.run)).folder / REPLIES
    if not path.is_file():
        raise UsageError(f"`{args.run}` contains no replies of a judge (`{REPLIES}`)")
    replay = replay_of(read_exchanges(path))
    write_whole(args.out, replay)
    say(f"wrote {args.out}; use it with `--judge replay:{args.out}`")
    return 0
