"""The command line: finds the command, imports only that one, and turns what it raises into a line and an exit code."""

from __future__ import annotations

import gc
import importlib
import io
import sys

from rulewright_runtime.terminal import READER_GONE, SafeStreams, complain, say

TYPE_CHECKING = False  # `typing`, `argparse` and what the errors import take longer than a cached lint may take
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rulewright.arguments import Command


GROUPS = (
    (
        "start",
        (
            ("init", "start a project in an empty folder"),
            ("demo", "lint and scan the shipped benchmark with recorded judge replies"),
            ("inspect-data", "show what files of chats hold, before anything runs"),
            ("convert", "write chats of any format in one format"),
            ("completion", "complete commands and options in a shell"),
        ),
    ),
    (
        "write rules",
        (
            ("lint", "find mistakes before anything runs, to the exact column"),
            ("lsp", "tell an editor what is wrong while its author types"),
            ("explain", "print the manual page of a diagnostic"),
            ("eval", "evaluate one expression on a JSON or YAML context"),
            ("prove", "prove what tables, workflows and conditions claim"),
            ("policy-diff", "show where two policies differ, or prove them equal"),
        ),
    ),
    (
        "run them",
        (
            ("compile", "compile a project into one plan file"),
            ("plan", "say what a scan would do and cost, without calling anything"),
            ("scan", "compile a project and run it over transcripts"),
            ("run", "run a compiled plan over transcripts"),
            ("questions", "write what a scan would ask, to be answered elsewhere"),
            ("record", "write the replies of a run to a file that a scan can replay"),
            ("models", "find out whether a model answers"),
            ("cache", "look at the ledger of calls to models, export it, or remove calls"),
            ("harness", "play scenarios against a model and keep the transcripts"),
        ),
    ),
    (
        "read a run and decide",
        (
            ("why", "explain one verdict of a run"),
            ("report", "show a finished run as one page"),
            ("serve", "show runs on this machine, take decisions and labels"),
            ("adjudicate", "take people's decisions on what a run left open, and recompute it"),
            ("diff", "compare two runs: what flipped, why, and whether it is worse"),
            ("whatif", "say what a run would tell under another policy"),
            ("rescore", "write a run again under another scorecard or other parameters"),
            ("leaderboard", "rank the models of finished runs"),
            ("gold", "draw items of a run for people to label"),
            ("calibrate", "hold a run against labels of people, and correct its rates"),
            ("export", "write a finished run as Parquet, events or reports"),
        ),
    ),
    (
        "test cases and workflows",
        (
            ("score", "score batches of test cases and label each case"),
            ("workflow", "check, draw, run and retell workflows"),
            ("hil", "decide what waits for a person"),
        ),
    ),
)
COMMANDS = tuple(command for _, commands in GROUPS for command in commands)
ALIASES = {"safe:score": "score"}
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
        f"{rows}\n\n`rulewright COMMAND --help` says more, `rulewright --version` the version.\n"
    )


def _load(name: str) -> Command | None:
    if name not in {command for command, _ in COMMANDS}:
        return None
    command: Command = importlib.import_module(f"rulewright.commands.{name.replace('-', '_')}")
    return command


def _unknown(name: str) -> int:
    import difflib

    near = difflib.get_close_matches(name, [command for command, _ in COMMANDS], 1)
    hint = f"did you mean `{near[0]}`?" if near else "`rulewright --help` lists the commands"
    complain(f"error: unknown command `{name}`", f"help: {hint}")
    return REFUSED


def _report(error: Exception) -> None:
    from rulewright.errors import DocumentError, ExpressionError

    if isinstance(error, DocumentError):
        from rulewright.manual import instead
        from rulewright.render.human import render, width_for

        print(render(error.diagnostics, width=width_for(sys.stderr), instead=instead), file=sys.stderr, end="")
    elif isinstance(error, ExpressionError):
        for mistake in error.errors:
            complain(f"error: {mistake.line}:{mistake.column}: {mistake.message}")
            if mistake.help:
                complain(f"help: {mistake.help}")
    else:
        complain(f"error: {error}")


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
    gc.set_threshold(50_000, 20, 20)  # starting up and loading make many objects and little garbage
    status = _run(sys.argv[1:])
    gc.freeze()  # what is left goes with the process: nobody needs to look for garbage in it
    return status


def _run(words: list[str]) -> int:
    _write_the_same_everywhere()
    with SafeStreams() as streams:
        try:
            status = _command(words)
        except SystemExit as ended:  # wrong arguments, or `--help`
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            raise SystemExit(streams.status(status)) from None
        return streams.status(status)


def _command(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        print(_overview(), end="")
        return 0 if words else REFUSED
    if words[0] in {"-V", "--version"}:
        from importlib.metadata import version

        say(f"rulewright {version('rulewright')}")
        return 0
    name = ALIASES.get(words[0], words[0])
    command = _load(name)
    if command is None:
        return _unknown(name)

    def parse() -> argparse.Namespace:
        from rulewright.arguments import parser_of

        return parser_of(name, command).parse_args(words[1:])

    try:
        if hasattr(command, "run_words"):
            status: int = command.run_words(words[1:], parse)
            return status
        return command.run(parse())
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        return READER_GONE
    except Exception as error:
        return _failed(error, name, command)
    except KeyboardInterrupt:
        complain("interrupted")
        return 130


def _failed(error: Exception, name: str, command: Command) -> int:
    """Say what went wrong; the value is the exit code, which no finding and no gate has."""
    from rulewright.errors import RulewrightError, UsageError
    from rulewright_runtime.errors import RuntimeFailure

    if isinstance(error, OSError) and isinstance(error.filename, str):
        error = UsageError(f"can't use `{error.filename}`: {(error.strerror or str(error)).lower()}")
    if isinstance(error, UsageError):
        from rulewright.arguments import parser_of

        parser_of(name, command).error(str(error))
    if isinstance(error, RulewrightError | RuntimeFailure):
        _report(error)
        return getattr(command, "RULE_BROKEN", REFUSED)
    import traceback

    traceback.print_exception(error)
    complain("error: this is a mistake in rulewright itself; please report it with what stands above")
    return REFUSED
