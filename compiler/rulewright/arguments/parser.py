"""A parser of arguments whose complaints look like ours, and which knows the command's exit codes."""

from __future__ import annotations

import argparse
from textwrap import dedent, fill

from rulewright.exit_codes import REFUSED, epilog
from rulewright_runtime.terminal import one_line

TYPE_CHECKING = False  # `typing` takes as long to import as a parser takes to be made
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser that ends wrong usage with the exit code for it."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to look; ends the process."""
        self.exit(REFUSED, f"error: {one_line(message)}\nhelp: `{self.prog} --help` lists the arguments\n")

    def format_help(self) -> str:
        """The help, its paragraphs as wide as argparse makes the rest."""
        from shutil import get_terminal_size  # it takes longer to import than a parser takes to be made

        width = get_terminal_size().columns - 2
        self.description, self.epilog = wrapped(self.description or "", width), wrapped(self.epilog or "", width)
        return super().format_help()


def wrapped(text: str, width: int) -> str:
    """`text` with its paragraphs filled to a width; those that hold indented lines stay as they are."""
    return "\n\n".join(
        paragraph if "\n " in paragraph else fill(paragraph, width, break_long_words=False, break_on_hyphens=False)
        for paragraph in text.split("\n\n")
    )


def parser_of(name: str, declare: Callable[[argparse.ArgumentParser], None]) -> Parser:
    """The parser of one command, whose help is the docstring of what declares its arguments, and its exit codes."""
    summary, _, rest = (declare.__doc__ or "").partition("\n")
    parser = Parser(
        prog=f"rulewright {name}",
        description=summary,
        epilog="\n\n".join(filter(None, (dedent(rest).strip("\n"), epilog(name)))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    declare(parser)
    return parser
