"""Show a finished run as a page: what it came to, what waits for people, and every failure with its conversation.

Everything is read from the folder RUN, and the conversations from where the run has read them; nothing runs again.
Beyond 200 transcripts the conversations stand on linked pages in a folder beside the page. The pages need no network,
and work without their script.
"""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from rulewright.commands.running import add_fail_on, print_run
from rulewright.errors import UsageError
from rulewright.reporting.formats import run_as
from rulewright.reporting.gather import gather
from rulewright.reporting.judged import FinishedRun, open_run
from rulewright.reporting.writing import RunReport
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import held_folder
from rulewright_runtime.report.threshold import status_at
from rulewright_runtime.terminal import say

FORMATS: Final = ("html", "json", "junit", "sarif", "github", "markdown")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: report.html in RUN; - prints)")
    parser.add_argument("--format", choices=FORMATS, default="html", help="all but html print unless --out is given")
    parser.add_argument("--one-file", action="store_true", help="keep all conversations in one file, however many")
    parser.add_argument("--no-conversations", action="store_true", help="leave out what was said")
    parser.add_argument(
        "--transcripts", action="append", default=[], metavar="PATH", help="where conversations lie now (repeatable)"
    )
    parser.add_argument(
        "--replies", action="append", default=[], metavar="FILE", help="replies that the run replayed (repeatable)"
    )
    add_fail_on(parser)


def run(args: argparse.Namespace) -> int:
    """Gather, render, write."""
    folder = Path(args.run)
    out = args.out or (str(folder / "report.html") if args.format == "html" else "-")
    writes_there = out != "-" and folder.is_dir() and Path(out).parent.resolve() == folder.resolve()
    with held_folder(folder) if writes_there else nullcontext():
        found = open_run(folder)
        status = status_at(found.summary, found.plan, args.fail_on)
        if args.format == "html":
            _write_page(args, found, status, out)
        else:
            _write_text(args.format, found, status, out)
    return status


def _write_page(args: argparse.Namespace, found: FinishedRun, status: int, out: str) -> None:
    files = tuple(Path(file) for file in args.replies)
    report = RunReport(found, status, args.transcripts, files, not args.no_conversations)
    if out == "-":
        print_run("html", report.text())
        return
    try:
        written = report.write(Path(out), one_file=args.one_file)
    except OSError as error:
        raise UsageError(f"can't write `{out}`: {(error.strerror or str(error)).lower()}") from None
    say(f"wrote {' and '.join(written)}")


def _write_text(form: str, found: FinishedRun, status: int, out: str) -> None:
    if form == "json":
        text = json.dumps(gather(found.folder), ensure_ascii=False, indent=2) + "\n"
    else:
        text = run_as(form, found.folder, status)
    if out == "-":
        print_run(form, text)
        return
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise UsageError(f"can't write `{out}`: {(error.strerror or str(error)).lower()}") from None
    say(f"wrote {out}")
