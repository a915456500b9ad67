"""Start a project: a check, a word list, a scenario and two transcripts to scan.

FOLDER (default: here) is made when it is missing. Files that exist are never overwritten.
With --from the project is made for chats that exist, in any format that `rulewright
inspect-data` knows: three checks and a scorecard. The chats are not copied.
"""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from rulewright.errors import UsageError
from rulewright.reporting.data_summary import shown, summary_of
from rulewright.starting import project_for
from rulewright_runtime.files import write_whole
from rulewright_runtime.terminal import complain, say
from rulewright_runtime.transcripts.transcript_reader import Reader

TEMPLATE = Path(__file__).resolve().parents[1] / "starter"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER")
    parser.add_argument("--from", dest="chats", metavar="CHATS", help="a file or folder of chats to make checks for")


def run(args: argparse.Namespace) -> int:
    """Write the starter project or one for the chats, or nothing at all where a file of it exists already."""
    target = Path(args.folder)
    files = _starter() if args.chats is None else _made_for(args.chats, target)
    for name in files:
        if (target / name).exists():
            raise UsageError(f"`{target / name}` exists already; `init` overwrites nothing")
    for name, data in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(target / name, data)
        say(f"wrote {target / name}")
    inside = "" if args.folder == "." else f"cd {shlex.quote(args.folder)} && "
    scanned = "transcripts" if args.chats is None else shlex.quote(os.path.relpath(args.chats, target))
    say("", f"next: {inside}rulewright lint && rulewright scan {scanned} --out {os.path.join('runs', 'first')}")
    return 0


def _starter() -> dict[str, bytes]:
    files = sorted(path for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(TEMPLATE)): path.read_bytes() for path in files}


def _made_for(chats: str, target: Path) -> dict[str, bytes]:
    """A project for the chats; what can't be read of them is told, and at least one has to be understood."""
    summary = summary_of(Reader().read([chats]))
    found = summary.result()
    if not found["conversations"]:
        reason = f": {summary.refused[0]}" if summary.refused else ""
        raise UsageError(f"`{chats}` holds no chat that can be read{reason}")
    if summary.refused:
        complain(f"warning: {len(summary.refused)} of {chats} can't be read, the first: {summary.refused[0]}")
    say(*shown(found), "")
    made = project_for(target.resolve().name or "chats", found)
    return {name: text.encode() for name, text in sorted(made.items())}
