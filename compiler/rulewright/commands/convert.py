"""`inspect-data` and `convert`: show what files of chats contain, and write them in one format."""

import argparse
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

from msgspec.structs import replace

from rulewright.commands.output import answer, open_output
from rulewright.commands.running import reader_of, refusals
from rulewright.errors import UsageError
from rulewright.exit_codes import MET, REFUSED
from rulewright.reporting.data_summary import summary_lines, summary_of
from rulewright_runtime.english import plural
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.atomic import compressing
from rulewright_runtime.terminal import complain, say, width_for
from rulewright_runtime.transcripts.chat_files import CLOSED, SHEETS
from rulewright_runtime.transcripts.columnar import ENDING, writing_chats
from rulewright_runtime.transcripts.containers import TABLES, suffix_of
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.writing import WRITERS

# Names that decide how a file is read, and names of formats that other programs open.
OTHERS = (*TABLES, *SHEETS, *CLOSED, ".arrow", ".eval", ".html", ".tar", ".tgz", ".yaml", ".yml")


def run(args: argparse.Namespace) -> int:
    """Read, write, and report refused inputs; return the exit code. Raises UsageError."""
    if os.path.isdir(args.out):
        raise UsageError(f"`{args.out}` is a folder; name a file in it")
    if (suffix := suffix_of(args.out)) in OTHERS:
        raise UsageError(f"`{suffix}` is not written: `convert` writes JSON lines (`.jsonl`) or Parquet (`.parquet`)")
    if args.out != "-" and os.path.lexists(args.out) and not args.overwrite:
        raise UsageError(f"`{args.out}` already exists; replace it with `--overwrite`")
    with open_output(args.out) as file, _writing(file, args) as write:
        count, refused = _convert(args, write)
        complain(*refusals([str(each) for each in refused]))
        if not count:
            kept = "" if args.out == "-" else f"; `{args.out}` is left as it is"
            raise UsageError(f"no conversation to write{kept}")
    if args.out != "-":
        say(f"wrote {plural(count, 'conversation')} to {args.out}")
    return REFUSED if refused else MET


@contextmanager
def _writing(file: IO[bytes], args: argparse.Namespace) -> Generator[Callable[[Transcript], object]]:
    """The writer for the format that the file's name implies."""
    line_of = WRITERS[args.to]
    if args.out.lower().endswith(ENDING):
        with writing_chats(file) as write:
            yield lambda chat: write(chat, line_of(chat))
        return
    with compressing(file, args.out) as stream:
        yield lambda chat: stream.write(line_of(chat))


def _convert(args: argparse.Namespace, write: Callable[[Transcript], object]) -> tuple[int, list[InputError]]:
    refused: list[InputError] = []
    count = 0
    reader = reader_of(args)
    for item in reader.read(args.inputs):
        if isinstance(item, InputError):
            refused.append(item)
        elif args.to == "turns" and not item.scenario_id:
            reason = "turns are of a scenario, and this chat has none; use `--to openai`"
            refused.append(InputError(reason, item.path, item.line))
        else:
            write(replace(item, id=item.id + args.id_suffix))
            count += 1
    complain(*reader.notes())
    return count, refused


def inspect_data(args: argparse.Namespace) -> int:
    """Read, count and show the chats; return the exit code."""
    reader = reader_of(args)
    summary = summary_of(reader.read(args.inputs))
    complain(*refusals([str(each) for each in summary.refused]), *reader.notes())
    found = summary.result()
    answer(args.format, found, summary_lines(found, width_for(sys.stdout)))
    return REFUSED if summary.refused else MET
