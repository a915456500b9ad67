"""Show a finished run as one page: models, checks, scenarios and contrast sets side by side, quotes behind failures.

Everything is read from the folder RUN; nothing runs again. The page needs no script, no other file and no network.

exit codes: 0 written, 2 bad usage or no such run, 3 a run that can't be read
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rulewright.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: report.html in RUN; - prints)")
    parser.add_argument("--format", choices=("html", "json"), default="html", help="json prints unless --out is given")


def run(args: argparse.Namespace) -> int:
    """Gather, render, write."""
    from rulewright.reporting.gather import gather
    from rulewright.reporting.page import page
    from rulewright_runtime.files import write_whole

    folder = Path(args.run)
    report = gather(folder)
    text = page(report) if args.format == "html" else json.dumps(report, ensure_ascii=False, indent=2) + "\n"
    out = args.out or ("-" if args.format == "json" else str(folder / "report.html"))
    if out == "-":
        sys.stdout.write(text)
        return 0
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise UsageError(f"can't write `{out}`: {(error.strerror or str(error)).lower()}") from None
    print(f"wrote {out}")
    return 0
