"""The argument parser of commands, with our error format and each command's exit codes."""

from __future__ import annotations

import argparse
from textwrap import dedent, fill

from rulewright.arguments.help_examples import EXAMPLES
from rulewright.exit_codes import REFUSED, epilog
from rulewright_runtime.terminal import one_line

TYPE_CHECKING = False  # importing `typing` takes as long as building a parser
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser that exits with the code for bad usage."""

    meant: str | None = None  # the option or choice that was probably meant by a wrong one

    def error(self, message: str) -> NoReturn:
        """Print the error, what was probably meant and where to find help; exit the process."""
        help = f"did you mean `{self.meant}`? " if self.meant else ""
        self.exit(REFUSED, f"error: {one_line(message)}\nhelp: {help}`{self.prog} --help` lists the arguments\n")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # overloads of argparse
        """Parse as argparse does, and keep the option that was probably meant by the first unknown word."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("--"):
            self.meant = suggestion(unknown[0].partition("=")[0], self._option_string_actions)
        return known, unknown

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            from rulewright_runtime.english import either  # only a mistake needs it

            self.meant = suggestion(str(value), action.choices)
            expected = either([f"`{each}`" for each in action.choices])
            raise argparse.ArgumentError(action, f"unknown value `{value}`; expected {expected}")

    def format_help(self) -> str:
        """Return the help, with the epilog's paragraphs wrapped to the width that argparse uses."""
        from shutil import get_terminal_size  # importing it takes longer than building a parser

        width = get_terminal_size().columns - 2
        self.description, self.epilog = wrapped(self.description or "", width), wrapped(self.epilog or "", width)
        return super().format_help()


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, or None."""
    from rulewright.spelling import suggest  # only a mistake needs it

    return suggest(word, known)


def wrapped(text: str, width: int) -> str:
    """Return `text` with its paragraphs wrapped to a width, except those with indented lines."""
    return "\n\n".join(
        paragraph if "\n " in paragraph else fill(paragraph, width, break_long_words=False, break_on_hyphens=False)
        for paragraph in text.split("\n\n")
    )


def _examples(name: str) -> str:
    return "\n  ".join(("examples:", *(f"rulewright {each}" for each in EXAMPLES[name])))


def parser_of(name: str, declare: Callable[[argparse.ArgumentParser], None]) -> Parser:
    """Return a command's parser; its help is the docstring of `declare`, examples, and the command's exit codes."""
    summary, _, rest = (declare.__doc__ or "").partition("\n")
    parser = Parser(
        prog=f"rulewright {name}",
        description=summary,
        epilog="\n\n".join(filter(None, (dedent(rest).strip("\n"), _examples(name), epilog(name)))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    declare(parser)
    return parser
