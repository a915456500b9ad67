"""Show a finished run as one page: models, checks, scenarios and contrast sets side by side, quotes behind failures.

Everything is read from the folder RUN; nothing runs again. The page needs no script, no other file and no network.
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
from rulewright.reporting.judged import open_run
from rulewright.reporting.page import page
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
    add_fail_on(parser)


def run(args: argparse.Namespace) -> int:
    """Gather, render, write."""
    folder = Path(args.run)
    out = args.out or (str(folder / "report.html") if args.format == "html" else "-")
    writes_there = out != "-" and folder.is_dir() and Path(out).parent.resolve() == folder.resolve()
    with held_folder(folder) if writes_there else nullcontext():
        return _report(folder, args.format, out, args.fail_on)


def _report(folder: Path, form: str, out: str, fail_on: str | None) -> int:
    run = open_run(folder)
    status = status_at(run.summary, run.plan, fail_on)
    text = _text(folder, form, status)
    if out == "-":
        print_run(form, text)
        return status
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise UsageError(f"can't write `{out}`: {(error.strerror or str(error)).lower()}") from None
    say(f"wrote {out}")
    return status


def _text(folder: Path, form: str, status: int) -> str:
    if form not in ("html", "json"):
        return run_as(form, folder, status)

    report = gather(folder)
    return page(report) if form == "html" else json.dumps(report, ensure_ascii=False, indent=2) + "\n"
