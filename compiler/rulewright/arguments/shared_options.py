"""How commands declare an argument on one line; the options that several share, and the types of their values."""

from __future__ import annotations

import argparse
import glob
import os
import shlex
import sys
from decimal import Decimal, InvalidOperation

from rulewright.arguments.command_parser import suggestion
from rulewright_runtime.terminal import complain

TYPE_CHECKING = False  # importing `typing` takes as long as all declarations
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Arguments = argparse.ArgumentParser | argparse._ArgumentGroup

LEDGER = ".rulewright/ledger.sqlite3"
MAX_TEMPERATURE = 10
BY_NAME = ("anthropic", "openai")  # providers whose models are reached by a name and an address


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
    """Declare `-o` and `--out`; `-` stands for standard output, which isn't a folder."""
    usual = {} if metavar in ("FILE", "PATH") else {"type": _folder}
    parser.add_argument("-o", "--out", metavar=metavar, help=help, **{**usual, **more})


def printed(parser: Arguments, what: str) -> None:
    """Declare `-o` and `--out` for a text that goes to standard output without them; the value is None for `-` too."""
    output(parser, "FILE", f"write {what} to FILE; - prints it (default: -)", type=file_to_write)


def formats(parser: Arguments, *names: str, note: str = "") -> None:
    """Declare `--format`; the first format is the default."""
    about = f"the format of the output (default: {names[0]}){note and f'; {note}'}"
    parser.add_argument("--format", choices=names, default=names[0], help=about)


def add_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    """Add the parser of an action, described by its summary."""
    description = f"{summary[0].upper()}{summary[1:]}."
    return actions.add_parser(name, help=summary, description=description, allow_abbrev=False)


def whole(text: str) -> int:
    """Parse a whole number. Raises ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number") from None


def number(text: str) -> float:
    """Parse a number. Raises ArgumentTypeError."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number") from None


def at_least(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the type of an option that is a whole number of at least `least`, and at most `most`."""

    def whole_number(text: str) -> int:
        number = whole(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        if most is not None and number > most:
            raise argparse.ArgumentTypeError(f"must be at most {most}")
        return number

    return whole_number


def file_to_write(path: str) -> str | None:
    """Return the path of a file, or None for `-`, standard output."""
    return None if path == "-" else path


def _folder(path: str) -> str:
    """Return the path of a folder. Raises ArgumentTypeError for `-`, standard output."""
    if path == "-":
        raise argparse.ArgumentTypeError("`-` is standard output; name a folder (`./-` for one of this name)")
    return path


def existing(path: str) -> str:
    """Return the path of a file or folder that exists. Raises ArgumentTypeError, with a name that was perhaps meant."""
    if os.path.lexists(path):
        return path
    folder, name = os.path.split(path)
    try:
        near = suggestion(name, os.listdir(folder or "."))
    except OSError:
        near = None
    if "\\" in path and os.path.lexists(path.replace("\\", "/")):
        folder, near = "", path.replace("\\", "/")
    guess = f"; did you mean `{os.path.join(folder, near)}`?" if near else ""
    if not guess and glob.has_magic(path):
        fits = "patterns are not expanded here: name its folder" if glob.glob(path) else "no file fits the pattern"
        guess = f"; {fits}"
    raise argparse.ArgumentTypeError(f"no such file or folder: `{path}`{guess}")


def existing_or_standard_input(path: str) -> str:
    """Return `-`, or the path of a file or folder that exists. Raises ArgumentTypeError."""
    return path if path == "-" else existing(path)


def existing_file(path: str) -> str:
    """Return the path of a file that exists. Raises ArgumentTypeError."""
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"`{path}` is a folder; name a file")
    return existing(path)


def latest_run() -> str | None:
    """Return the folder of the run in `runs` that was scanned last, and say so; None without any. It may be unfinished:
    then it is refused where it is read, and no earlier one is read in its place."""
    files = (*glob.glob("runs/*/plan.json"), *glob.glob("runs/*/*.part"))  # those that removing a chat does not change
    folders = [(each, os.path.dirname(each)) for each in files]
    # Of runs that were copied at once, as from an archive, the one with the highest number: `10` is longer than `9`.
    written = [(os.stat(each).st_mtime_ns, len(folder), folder) for each, folder in folders]
    if not written:
        return None
    latest = max(written)[2]
    complain(f"note: the latest run is `{latest}`")
    return latest


def _run_or_latest(path: str) -> str:
    found = path or latest_run()
    if not found:
        of_workflows = "`rulewright workflow trace` shows the run of a workflow"
        message = f"`runs` contains no run that `rulewright scan` wrote; name its folder; {of_workflows}"
        raise argparse.ArgumentTypeError(message)
    return found


def seconds_of(text: str) -> float:
    """Parse a time limit. Raises ArgumentTypeError."""
    seconds = number(text)
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError("must be more than 0 and at most 86400")
    return seconds


def temperature(text: str) -> float:
    """Parse the temperature of replies. Raises ArgumentTypeError."""
    degree = number(text)
    if not 0 <= degree <= MAX_TEMPERATURE:
        raise argparse.ArgumentTypeError(f"must be at least 0 and at most {MAX_TEMPERATURE}")
    return degree


def dollars(text: str) -> Decimal:
    """Parse an amount of dollars. Raises ArgumentTypeError."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"`{text}` is not an amount") from None
    if not amount.is_finite() or amount < 0:
        raise argparse.ArgumentTypeError("must be at least 0")
    return amount


def _columns(text: str) -> dict[str, str]:
    """Parse pairs of field and column, `FIELD=NAME,...`."""
    from rulewright_runtime.transcripts.readers.columns import (
        FIELDS,  # imports all readers, only when columns are given
    )

    pairs = text.split(",")
    for pair in pairs:
        field, _, name = pair.partition("=")
        if field not in FIELDS or not (name or pair == "conversation="):
            meant = None if field in FIELDS else f"{name}={field}" if name in FIELDS else suggestion(field, FIELDS)
            guess = f"; did you mean `{meant}`?" if meant else ""
            raise argparse.ArgumentTypeError(f"`{pair}` is not `FIELD=NAME`; the fields are {', '.join(FIELDS)}{guess}")
    return {field: name for field, _, name in (pair.partition("=") for pair in pairs)}


def add_transcripts(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    """Declare the transcripts to read."""
    option(parser, "transcripts", "TRANSCRIPTS", "transcript files or folders", nargs=nargs, type=existing)


def add_finished_run(parser: argparse.ArgumentParser, help: str = "the folder that a scan wrote") -> None:
    """Declare the finished run to read."""
    option(parser, "run", "RUN", f"{help} (default: the latest in `runs`)", nargs="?", default="", type=_run_or_latest)


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Declare `--project`, `--profile` and `--scorecard`."""
    option(parser, "--project", "PATH", "project file or folder (default: the nearest `rulewright.yaml` here or above)")
    option(parser, "--profile", "NAME", "the profile: which checks run, with how many votes")
    option(parser, "--scorecard", "NAME", "the scorecard: how verdicts become gates and scores")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every run."""
    output(parser, "RUN", "the folder of the run (default: `runs/N` with the next number; with --resume, the last one)")
    option(parser, "--judge", "JUDGE", "the judge: `replay:FILE` or a model (default: the project's `judge.source`)")
    repeated(parser, "--set", "NAME=VALUE", "set a parameter of the scorecard")
    option(
        parser,
        "--max-calls",
        "N",
        "stop asking the judge after N calls (default: the project's limit, or none)",
        type=at_least(0),
    )
    add_reading_options(parser)
    option(
        parser,
        "--max-expanded",
        "BYTES",
        "refuse recorded replies that are larger when expanded (default: 256 MiB)",
        type=at_least(1),
    )
    option(
        parser, "--jobs", "N", "use N processes (default: 1); not with a model as judge", type=at_least(1), default=1
    )
    flag(parser, "--gates-only", "ask only questions that can change a gate; no scores")
    option(
        parser,
        "--ray",
        "ADDRESS",
        "use a Ray cluster, or `local` for --jobs processes of Ray here; needs the extra `ray`",
    )
    flag(parser, "--resume", "continue a killed run in RUN")
    flag(parser, "--overwrite", "replace the run in RUN")
    formats(parser, "human", "json", "junit", "sarif", "github", "markdown", note="json is summary.json")
    add_fail_on(parser)
    add_live_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that reads chats."""
    option(parser, "--max-line", "BYTES", "refuse longer input lines (default: 1 MiB)", type=at_least(1))
    option(
        parser,
        "--columns",
        "FIELD=NAME,...",
        "names of a table's columns, of the speakers in plain text (`user=question,assistant=answer`), or of the "
        "keys of other records (`messages=events,role=who,content=text`)",
        type=_columns,
    )


def add_sources(parser: argparse.ArgumentParser, note: str = "") -> None:
    """Declare the paths of a finished run's conversations and recorded replies."""
    moved = f"where the conversations are now, if they were moved{note}"
    repeated(parser, "--transcripts", "PATH", moved)
    repeated(parser, "--replies", "FILE", f"recorded replies that the run used{note}")


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    option(
        parser,
        "--fail-on",
        "SEVERITY",
        "exit with 1 if a check of at least this severity fails; `never`: 0 instead of 1 and 2 (default: gates decide)",
    )


def add_live_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a model as judge."""
    group = parser.add_argument_group("a model as judge", "the `judge` of the project may set other defaults")
    option(group, "--concurrency", "N", "number of calls at the same time (default: 8)", type=at_least(1))
    option(group, "--requests-per-minute", "N", "limit of calls per minute (default: no limit)", type=at_least(1))
    option(
        group,
        "--tokens-per-minute",
        "N",
        "limit of tokens sent and received per minute (default: no limit)",
        type=at_least(1),
    )
    option(group, "--timeout", "SECONDS", "time limit of one attempt (default: 180)", type=seconds_of)
    add_spending_options(group)
    option(group, "--ledger", "FILE", f"the ledger of calls (default: {LEDGER} of the project)")
    flag(group, "--explain-cache", "explain which checks were asked again, and why")
    group.add_argument(
        "--on-ambiguous",
        choices=("retry", "unclear", "hold"),
        default="retry",
        help="a call that a killed run had sent: ask again (`retry`, default), count it as unanswered (`unclear`), or "
        "stop there (`hold`)",
    )


def add_spending_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Declare the limits of spending on tokens."""
    option(
        parser, "--max-tokens", "N", "stop before more than N tokens are spent (default: no limit)", type=at_least(0)
    )
    option(parser, "--max-usd", "X", "stop before more than X dollars are spent (default: no limit)", type=dollars)


def add_policy_options(parser: argparse.ArgumentParser, help: str = "the folder that a scan wrote") -> None:
    """Declare the run, and the policy for rescoring it."""
    add_finished_run(parser, help)
    repeated(parser, "--set", "NAME=VALUE", "set a parameter of the scorecard")
    option(parser, "--scorecard", "NAME", "another scorecard of the project (default: the run's)")
    option(
        parser,
        "--profile",
        "NAME",
        "another profile of the project: which checks run, with how many votes (default: the run's)",
    )
    option(
        parser,
        "--project",
        "PATH",
        "the project of --scorecard and --profile (default: the nearest `rulewright.yaml` here or above)",
    )
    option(parser, "--votes", "N", "count N votes of each judged check (default: as in the run)", type=at_least(1, 101))
    parser.add_argument(
        "--majority-of",
        choices=("planned", "usable"),
        help="whether a verdict needs a majority of the planned or of the usable votes (default: as in the run)",
    )
    add_sources(parser, "; with --profile, --votes or --majority-of")


def how_to_continue(cause: str, restart: str, judge: str = "") -> str:
    """Return how to continue a run that stopped because of `cause`; `restart` is for a model at a wrong address."""
    if cause == "replies":
        checked = f"once `rulewright models check {shlex.quote(judge)}` says that it can judge"
        return f"{checked}, continue with `{again()}`, which asks all remaining questions"
    if cause == "name" and judge.startswith(("python:", "command:")):
        return f"correct `{judge}`, then {restart}"
    if cause == "name":
        return f"start the model or correct its name and address, then {restart}"
    return f"continue with `{again()}`"


def again(*models: str) -> str:
    """Return the command line that resumes this run, with a placeholder for each of `models`."""
    words = _words(models)
    return shlex.join(words if any(word.startswith("--resume") for word in words) else [*words, "--resume"])


def from_start(out: str, *models: str) -> str:
    """Return the command line that starts the run in `out` over, with a placeholder for each of `models`."""
    words = [word for word in _words(models) if word != "--resume"]
    is_named = any(word.startswith(("--out", "-o")) for word in words)
    return shlex.join([*words, *([] if is_named else ["--out", out]), "--overwrite"])


def elsewhere(out: str, *models: str) -> str:
    """Return the command line that starts the run in another folder, with a placeholder for each of `models`."""
    words = [word for word in _words(models) if word != "--resume"]
    named = ("--out", "-o", f"--out={out}", f"-o{out}")
    last = ["", *words]
    return shlex.join(
        word[: -len(out)] + "FOLDER" if word.endswith(out) and (word in named or before in named) else word
        for before, word in zip(last, words, strict=False)
    )


def _words(models: Sequence[str]) -> list[str]:
    """Return the words of this command line."""
    words = ["rulewright", *(word for word in sys.argv[1:] if word != "--overwrite")]
    for model in models:
        provider, _, rest = model.partition(":")
        if provider in BY_NAME:
            name = f"{provider}:MODEL@URL" if "@http" in rest else f"{provider}:MODEL"
            words = [word.replace(model, name) if word.endswith(model) else word for word in words]
    return words
