"""`inspect-data`: files of chats are counted and shown."""

from __future__ import annotations

import argparse
import json
import sys

from rulewright.commands.running import reader_of, refusals
from rulewright.exit_codes import MET, REFUSED
from rulewright.reporting.data_summary import DataSummary, shown, summary_of
from rulewright_runtime.terminal import complain, fit, say, width_for


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
