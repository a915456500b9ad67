"""Arguments of commands: a parser whose complaints look like ours, and which knows the command's exit codes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn, Protocol

from rulewright.exit_codes import REFUSED, epilog
from rulewright_runtime.terminal import one_line

if TYPE_CHECKING:

    class Command(Protocol):
        """What a module of `rulewright.commands` offers; one with `run_words(words, parse)` is run by that, and parses
        only when it has to. `RULE_BROKEN` may be the exit code for what the runtime refuses."""

        __doc__: str | None

        def add_arguments(self, parser: argparse.ArgumentParser) -> None:
            """Declare the command's arguments."""

        def run(self, args: argparse.Namespace) -> int:
            """Do it; the value is the process's exit code."""


class Parser(argparse.ArgumentParser):
    """An argument parser that ends wrong usage with the exit code for it."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to look; ends the process."""
        self.exit(REFUSED, f"error: {one_line(message)}\nhelp: `{self.prog} --help` lists the arguments\n")


def parser_of(name: str, command: Command) -> Parser:
    """The parser of one command, whose help is the docstring of its module and its exit codes."""
    summary, _, rest = (command.__doc__ or "").partition("\n")
    parser = Parser(
        prog=f"rulewright {name}",
        description=summary,
        epilog="\n\n".join(filter(None, (rest.strip(), epilog(name)))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return parser
