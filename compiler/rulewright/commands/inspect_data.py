"""Show what files of chats hold before anything runs: formats, counts, roles, tools, lengths, scripts.

The format is told by the content, never by the name (CSV aside):

FORMATS
  table         rows of CSV, Parquet or Arrow: `user` and `assistant`, or `role`
                and `content`; `--columns` names others
"""

from __future__ import annotations

import argparse
import json
import sys

from rulewright.commands.running import add_reading_options, reader_of, refusals
from rulewright.exit_codes import MET, REFUSED
from rulewright.reporting.data_summary import DataSummary, shown, summary_of
from rulewright_runtime.terminal import complain, fit, say, width_for
from rulewright_runtime.transcripts.readers import FORMATS

__doc__ = (__doc__ or "").replace(
    "FORMATS\n", "\n".join(f"  {each.name:<13} {each.looks_like}" for each in FORMATS) + "\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="files or folders of chats, in any format")
    parser.add_argument("--format", choices=("human", "json"), default="human")
    add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read, count, show."""
    summary = summary_of(reader_of(args).read(args.inputs))
    complain(*refusals([str(each) for each in summary.refused]))
    _show(summary, args.format)
    return REFUSED if summary.refused else MET


def _show(summary: DataSummary, format: str) -> None:
    if format == "json":
        print(json.dumps(summary.result(), ensure_ascii=False))
    else:
        say(*(fit(line, width_for(sys.stdout)) for line in shown(summary.result())))
