"""`convert`: conversations are read and written in one format."""

from __future__ import annotations

import argparse
import os
from typing import IO

from rulewright.commands.running import reader_of, refusals
from rulewright.errors import UsageError
from rulewright.exit_codes import MET, REFUSED
from rulewright_runtime.errors import InputError
from rulewright_runtime.files import compressing, open_whole
from rulewright_runtime.report.text import plural
from rulewright_runtime.terminal import complain, say
from rulewright_runtime.transcripts.writing import WRITERS


def run(args: argparse.Namespace) -> int:
    """Read, write, and say what was refused."""
    if os.path.lexists(args.out) and not args.overwrite:
        raise UsageError(f"`{args.out}` is there already; replace it with `--overwrite`")
    try:
        with open_whole(args.out) as file, compressing(file, args.out) as stream:
            count, refused = _write(stream, args)
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {(error.strerror or str(error)).lower()}") from None
    complain(*refusals([str(each) for each in refused]))
    say(f"wrote {plural(count, 'conversation')} to {args.out}")
    return REFUSED if refused or not count else MET


def _write(stream: IO[bytes], args: argparse.Namespace) -> tuple[int, list[InputError]]:
    refused: list[InputError] = []
    count = 0
    for item in reader_of(args).read(args.inputs):
        if isinstance(item, InputError):
            refused.append(item)
        else:
            stream.write(WRITERS[args.to](item))
            count += 1
    return count, refused
