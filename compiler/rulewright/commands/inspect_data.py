"""`inspect-data`: show what files of chats contain."""

from __future__ import annotations

import argparse
import sys

from rulewright.commands.output import answer
from rulewright.commands.running import reader_of, refusals
from rulewright.exit_codes import MET, REFUSED
from rulewright.reporting.data_summary import summary_lines, summary_of
from rulewright_runtime.input_files import unread_note
from rulewright_runtime.terminal import complain, fit, width_for


def run(args: argparse.Namespace) -> int:
    """Read, count and show the chats; return the exit code."""
    reader = reader_of(args)
    summary = summary_of(reader.read(args.inputs))
    complain(*refusals([str(each) for each in summary.refused]), *unread_note(reader.unread))
    found = summary.result()
    answer(args.format, found, (fit(line, width_for(sys.stdout)) for line in summary_lines(found)))
    return REFUSED if summary.refused else MET
