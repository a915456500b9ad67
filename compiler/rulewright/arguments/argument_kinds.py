"""One line for each argument of a command: the kinds of argument that commands declare."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes as long as all declarations
if TYPE_CHECKING:
    import argparse
    from typing import Any

    Arguments = argparse.ArgumentParser | argparse._ArgumentGroup


def flag(parser: Arguments, name: str, help: str) -> None:
    """Declare an option without a value, which is true if it is given."""
    parser.add_argument(name, action="store_true", help=help)


def option(parser: Arguments, name: str, metavar: str, help: str, **more: Any) -> None:
    """Declare an option or a positional argument with a value; `more` is for `argparse`."""
    parser.add_argument(name, metavar=metavar, help=help, **more)


def repeated(parser: Arguments, name: str, metavar: str, help: str, **more: Any) -> None:
    """Declare an option that may be given several times; its value is a list."""
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=f"{help} (repeatable)", **more)


def output(parser: Arguments, metavar: str, help: str, **more: Any) -> None:
    """Declare `-o` and `--out`."""
    parser.add_argument("-o", "--out", metavar=metavar, help=help, **more)


def formats(parser: Arguments, *names: str, note: str = "") -> None:
    """Declare `--format`; the first format is the default."""
    about = f"the format of the output (default: {names[0]}){note and f'; {note}'}"
    parser.add_argument("--format", choices=names, default=names[0], help=about)
