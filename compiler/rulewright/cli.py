"""The command line: imports and runs one command, and turns its exceptions into messages and exit codes."""

from __future__ import annotations

import gc
import importlib
import io
import sys

from rulewright_runtime import __version__
from rulewright_runtime.processes import process_end
from rulewright_runtime.terminal import READER_GONE, SafeStreams, complain, name_files_in_utf8, say

TYPE_CHECKING = False  # importing `typing`, `argparse` and the errors would take longer than a cached lint may take
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from rulewright.arguments.command_parser import Parser

# A command is the function `run` of the module of `rulewright.commands` with its name; it returns the exit code. The
# module of `rulewright.arguments` named like its group declares them, so help imports nothing else.

GROUPS = {
    "start": {
        "init": "start a project in an empty folder",
        "demo": "lint and scan the shipped benchmark with recorded judge replies",
        "inspect-data": "show what files of chats contain",
        "convert": "write chats of any format in one format",
        "completion": "print a script for shell completion",
    },
    "write rules": {
        "lint": "find mistakes before anything runs",
        "lsp": "run the language server for editors",
        "explain": "explain a diagnostic, a function, a key or a word of reports",
        "eval": "evaluate one expression on a JSON or YAML context",
        "prove": "prove claims about tables, workflows and conditions",
        "policy-diff": "show where two policies differ, or prove them equal",
    },
    "run them": {
        "compile": "compile a project into one plan file",
        "plan": "show what a scan would do and cost, without calling anything",
        "scan": "compile a project and run it over transcripts",
        "run": "run a compiled plan over transcripts",
        "questions": "write the questions of a scan, to be answered elsewhere",
        "record": "write the replies of a run to a file that a scan can replay",
        "models": "check whether a model answers",
        "cache": "inspect, export or prune the ledger of model calls",
        "harness": "play scenarios against a model and keep the transcripts",
    },
    "read a run and decide": {
        "why": "explain one verdict of a run",
        "report": "write a finished run as a page",
        "serve": "show runs in a browser, and take decisions and labels",
        "adjudicate": "list the verdicts that wait for a person, and record decisions",
        "diff": "compare two runs: what flipped, why, and whether it is worse",
        "whatif": "show how another policy would change a run",
        "rescore": "write a run again under another policy",
        "leaderboard": "rank the models of finished runs",
        "gold": "draw items of a run for people to label",
        "calibrate": "compare a run with human labels, and correct its rates",
        "export": "write a run as Parquet, OpenTelemetry events or reports",
    },
    "cases and workflows": {
        "score": "score batches of test cases and label each case",
        "workflow": "check, draw, run and trace workflows",
        "hil": "decide the items that wait for a person",
    },
}
COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
ALIASES = {"safe:score": "score"}
COLOURS = ("auto", "always", "never")
# Commands that share the module of another one: the module and the function.
SHARING = {
    "inspect-data": ("convert", "inspect_data"),
    "lsp": ("serve", "lsp"),
    "run": ("scan", "run_compiled"),
    "questions": ("plan", "write_questions"),
    "record": ("report", "record"),
    "rescore": ("whatif", "rescore"),
    "gold": ("calibrate", "gold"),
}
STARTS_SHELLS = "completion"  # it decodes nothing, so it does without msgspec
PARSES_ITSELF = "lint"  # it may print cached output without parsing: `run_words(words, parse)`
REFUSED = 3  # as in `exit_codes`


def _overview() -> str:
    groups = (
        "\n".join((f"{title}:", *(f"  {name:<12} {summary}" for name, summary in commands.items())))
        for title, commands in GROUPS.items()
    )
    rows = "\n\n".join(groups)
    return (
        "usage: rulewright COMMAND [ARGUMENTS]\n\n"
        "Compiles declarative evaluation rules and runs the plan over transcripts.\n\n"
        f"{rows}\n\n`rulewright COMMAND --help` shows more, `rulewright --version` the version.\n"
        "Every command takes `--color auto|always|never`. `auto` uses colours in a\n"
        "terminal unless NO_COLOR is set, and elsewhere only if FORCE_COLOR is set.\n"
    )


def parser_of(name: str) -> Parser:
    from rulewright.arguments import command_parser  # a cached lint parses nothing

    group = next(title for title, commands in GROUPS.items() if name in commands)
    arguments = importlib.import_module(f"rulewright.arguments.{group.replace(' ', '_')}")
    return command_parser.parser_of(name, getattr(arguments, f"{name.replace('-', '_')}_arguments"))


def _write_the_same_everywhere() -> None:
    """Write UTF-8 to files and pipes in any locale; a terminal shows a replacement for unsupported characters."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. See `exit_codes`.

    Without `argv` it runs the process's own arguments, starts again if the locale can't name every file, and tunes
    garbage collection for a process that ends then.
    """
    if argv is not None:
        return _run(list(argv))
    name_files_in_utf8()
    gc.set_threshold(200_000, 20, 20)  # starting up and loading make many objects and little garbage
    process_end.keep()
    status = _run(sys.argv[1:])
    if (user_code := sys.modules.get("rulewright_runtime.processes.user_code")) is not None:
        user_code.limit_exit(status)
    gc.freeze()  # the process ends: no need to collect garbage
    return status


def _run(words: list[str]) -> int:
    _write_the_same_everywhere()
    with SafeStreams() as streams:
        try:
            streams.output.colour, words = _colour_choice(words)
            streams.errors.colour = streams.output.colour
            status = _command(words)
        except _Exit as ended:
            status = ended.status
        return streams.status(status)


class _Exit(BaseException):
    """The argument parser has printed its message and wants to exit with `status`."""

    def __init__(self, status: int) -> None:
        self.status = status


def _colour_choice(words: list[str]) -> tuple[str, list[str]]:
    """Return the value of `--color`, before or after the command, and the remaining words."""
    choice = "auto"
    remaining_words: list[str] = []
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if word == "--":
            return choice, [*remaining_words, word, *remaining]
        if name != "--color":
            remaining_words.append(word)
            continue
        choice = value if equals else next(remaining, "")
        if choice not in COLOURS:
            complain(f"error: unknown value `{choice}` for `--color`; expected `auto`, `always` or `never`")
            raise _Exit(REFUSED)
    return choice, remaining_words


def _command(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        print(_overview(), end="")
        return 0 if words else REFUSED
    if words[0] in {"-V", "--version"}:
        say(f"rulewright {__version__}")
        return 0
    name = ALIASES.get(words[0], words[0])
    if name not in COMMANDS:
        from rulewright.command_failures import unknown_command

        unknown_command(name, COMMANDS)
        return REFUSED
    try:
        return _run_command(name, words[1:])
    except SystemExit as ended:  # raised by a callable or plug-in; its status is not ours
        complain(f"error: a plug-in or callable ended the process with status {ended.code}")
        return REFUSED
    except BrokenPipeError:  # the reader of our output has exited, as `| head` does
        return READER_GONE
    except Exception as error:
        from rulewright.command_failures import failed

        failed(error)
        return REFUSED
    except KeyboardInterrupt:
        complain("interrupted")
        return 130


def _run_command(name: str, words: list[str]) -> int:
    """Parse the words, then import and run the command."""

    def parse() -> argparse.Namespace:
        try:
            return parser_of(name).parse_args(words)
        except SystemExit as ended:  # wrong arguments, or `--help`
            raise _Exit(ended.code if isinstance(ended.code, int) else REFUSED) from None

    if name == PARSES_ITSELF:
        return _function(name, "run_words")(words, parse)
    args = parse()
    if name != STARTS_SHELLS:  # before anything that imports msgspec
        importlib.import_module("rulewright_runtime.processes.fast_start")
    return _function(*SHARING.get(name, (name.replace("-", "_"), "run")))(args)


def _function(module: str, name: str) -> Callable[..., int]:
    found: Callable[..., int] = getattr(importlib.import_module(f"rulewright.commands.{module}"), name)
    return found
