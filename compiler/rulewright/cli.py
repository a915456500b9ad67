"""The command line: finds the command, imports only that one, and turns what it raises into a line and an exit code."""

from __future__ import annotations

import gc
import importlib
import io
import sys

from rulewright_runtime import __version__
from rulewright_runtime.terminal import READER_GONE, SafeStreams, complain, say

TYPE_CHECKING = False  # `typing`, `argparse` and what the errors import take longer than a cached lint may take
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from rulewright.arguments.parser import Parser

    class Command(Protocol):
        """What a module of `rulewright.commands` offers. `RULE_BROKEN` may be the exit code for what the runtime
        refuses. The module of `rulewright.arguments` that bears the name of the command's group declares its arguments:
        help imports nothing else."""

        def run(self, args: argparse.Namespace) -> int:
            """Do it; the value is the process's exit code."""

        def run_words(self, words: Sequence[str], parse: Callable[[], argparse.Namespace]) -> int:
            """The same, by the command that `PARSES_ITSELF`."""


GROUPS = (
    (
        "start",
        (
            ("init", "start a project in an empty folder"),
            ("demo", "lint and scan the shipped benchmark with recorded judge replies"),
            ("inspect-data", "show what files of chats contain"),
            ("convert", "write chats of any format in one format"),
            ("completion", "print a script for shell completion"),
        ),
    ),
    (
        "write rules",
        (
            ("lint", "find mistakes before anything runs, to the exact column"),
            ("lsp", "run the language server for editors"),
            ("explain", "print the manual page of a diagnostic"),
            ("eval", "evaluate one expression on a JSON or YAML context"),
            ("prove", "prove claims about tables, workflows and conditions"),
            ("policy-diff", "show where two policies differ, or prove them equal"),
        ),
    ),
    (
        "run them",
        (
            ("compile", "compile a project into one plan file"),
            ("plan", "show what a scan would do and cost, without calling anything"),
            ("scan", "compile a project and run it over transcripts"),
            ("run", "run a compiled plan over transcripts"),
            ("questions", "write the questions of a scan, to be answered elsewhere"),
            ("record", "write the replies of a run to a file that a scan can replay"),
            ("models", "check whether a model answers"),
            ("cache", "inspect, export or prune the ledger of model calls"),
            ("harness", "play scenarios against a model and keep the transcripts"),
        ),
    ),
    (
        "read a run and decide",
        (
            ("why", "explain one verdict of a run"),
            ("report", "show a finished run as one page"),
            ("serve", "show runs in a browser, and take decisions and labels"),
            ("adjudicate", "list and take the decisions that a run leaves to people"),
            ("diff", "compare two runs: what flipped, why, and whether it is worse"),
            ("whatif", "show how another policy would change a run"),
            ("rescore", "rescore a run with another scorecard or other parameters"),
            ("leaderboard", "rank the models of finished runs"),
            ("gold", "draw items of a run for people to label"),
            ("calibrate", "compare a run with human labels, and correct its rates"),
            ("export", "write a finished run as Parquet, events or reports"),
        ),
    ),
    (
        "cases and workflows",
        (
            ("score", "score batches of test cases and label each case"),
            ("workflow", "check, draw, run and trace workflows"),
            ("hil", "decide the tasks that wait for a person"),
        ),
    ),
)
COMMANDS = tuple(command for _, commands in GROUPS for command in commands)
ALIASES = {"safe:score": "score"}
COLOURS = ("auto", "always", "never")
PARSES_ITSELF = "lint"  # where it has to: `run_words(words, parse)` shows again what was found last time
REFUSED = 3  # as in `exit_codes`


def _overview() -> str:
    groups = (
        "\n".join((f"{title}:", *(f"  {name:<12} {summary}" for name, summary in commands)))
        for title, commands in GROUPS
    )
    rows = "\n\n".join(groups)
    return (
        "usage: rulewright COMMAND [ARGUMENTS]\n\n"
        "Compiles declarative evaluation rules and runs the plan over transcripts.\n\n"
        f"{rows}\n\n`rulewright COMMAND --help` shows more, `rulewright --version` the version.\n"
        "Every command takes `--color auto|always|never`; with `auto` a terminal has\n"
        "colours unless NO_COLOR is set, anything else where FORCE_COLOR is.\n"
    )


def parser_of(name: str) -> Parser:
    """The parser of a command."""
    from rulewright.arguments import parser  # a cached lint parses nothing

    group = next(title for title, commands in GROUPS if name in dict(commands))
    arguments = importlib.import_module(f"rulewright.arguments.{group.replace(' ', '_')}")
    return parser.parser_of(name, getattr(arguments, f"{name.replace('-', '_')}_arguments"))


def _write_the_same_everywhere() -> None:
    """A file or a pipe gets UTF-8 whatever the locale; a terminal shows a mark for a character it lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the value is the exit code. See `exit_codes`.

    Without `argv` the process is ours: it runs the command of its own arguments and ends.
    """
    if argv is not None:
        return _run(list(argv))
    gc.set_threshold(200_000, 20, 20)  # starting up and loading make many objects and little garbage
    status = _run(sys.argv[1:])
    gc.freeze()  # what is left goes with the process: nobody needs to look for garbage in it
    return status


def _run(words: list[str]) -> int:
    _write_the_same_everywhere()
    with SafeStreams() as streams:
        try:
            streams.output.colour, words = _colour(words)
            streams.errors.colour = streams.output.colour
            status = _command(words)
        except _Ended as ended:
            raise SystemExit(streams.status(ended.status)) from None
        return streams.status(status)


class _Ended(BaseException):
    """The parser of arguments has said what it has to say."""

    def __init__(self, status: int) -> None:
        self.status = status


def _colour(words: list[str]) -> tuple[str, list[str]]:
    """What `--color` says, before or behind the command, and the other words."""
    choice = "auto"
    others: list[str] = []
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if word == "--":
            return choice, [*others, word, *remaining]
        if name != "--color":
            others.append(word)
            continue
        choice = value if equals else next(remaining, "")
        if choice not in COLOURS:
            complain(f"error: unknown value `{choice}` for `--color`; expected `auto`, `always` or `never`")
            raise _Ended(REFUSED)
    return choice, others


def _command(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        print(_overview(), end="")
        return 0 if words else REFUSED
    if words[0] in {"-V", "--version"}:
        say(f"rulewright {__version__}")
        return 0
    name = ALIASES.get(words[0], words[0])
    if name not in dict(COMMANDS):
        from rulewright.command_failures import unknown_command

        unknown_command(name, dict(COMMANDS))
        return REFUSED
    try:
        return _run_command(name, words[1:])
    except SystemExit as ended:  # of a callable or a plug-in, whose status is not ours
        complain(f"error: code that was called ended the process (status {ended.code})")
        return REFUSED
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        return READER_GONE
    except Exception as error:
        from rulewright.command_failures import failed

        if failed(error, lambda: parser_of(name)):
            return getattr(_load(name), "RULE_BROKEN", REFUSED)
        return REFUSED
    except KeyboardInterrupt:
        complain("interrupted")
        return 130


def _run_command(name: str, words: list[str]) -> int:
    """Parse the words, then import what runs them."""

    def parse() -> argparse.Namespace:
        try:
            return parser_of(name).parse_args(words)
        except SystemExit as ended:  # wrong arguments, or `--help`
            raise _Ended(ended.code if isinstance(ended.code, int) else REFUSED) from None

    if name == PARSES_ITSELF:
        return _load(name).run_words(words, parse)
    args = parse()
    return _load(name).run(args)


def _load(name: str) -> Command:
    command: Command = importlib.import_module(f"rulewright.commands.{name.replace('-', '_')}")
    return command
