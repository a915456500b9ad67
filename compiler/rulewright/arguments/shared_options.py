"""Options shared by several commands, and the types of their values."""

from __future__ import annotations

import argparse
import glob
import os
import shlex
import sys
from decimal import Decimal, InvalidOperation

from rulewright.arguments.command_parser import suggestion
from rulewright_runtime.terminal import complain

TYPE_CHECKING = False  # importing `typing` takes as long as all declarations here
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEDGER = ".rulewright/ledger.sqlite3"
MAX_TEMPERATURE = 10
BY_NAME = ("anthropic", "openai")  # providers whose models are reached by a name and an address


def add_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    """Add the parser of an action, described by its summary."""
    description = f"{summary[0].upper()}{summary[1:]}."
    return actions.add_parser(name, help=summary, description=description, allow_abbrev=False)


def at_least(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the type of an option that is a whole number of at least `least`, and at most `most`."""

    def whole_number(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        if most is not None and number > most:
            raise argparse.ArgumentTypeError(f"must be at most {most}")
        return number

    return whole_number


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
    raise argparse.ArgumentTypeError(f"no such file or folder: `{path}`{guess}")


def latest_run() -> str | None:
    """Return the folder of the run in `runs` that was scanned last, and say so; None without any. It may be unfinished:
    then it is refused where it is read, and no earlier one is read in its place."""
    files = (*glob.glob("runs/*/plan.json"), *glob.glob("runs/*/*.part"))  # those that removing a chat does not change
    written = [(os.stat(each).st_mtime_ns, os.path.dirname(each)) for each in files]
    if not written:
        return None
    latest = max(written)[1]
    complain(f"note: the latest run is `{latest}`")
    return latest


def _run_or_latest(path: str) -> str:
    found = path or latest_run()
    if not found:
        raise argparse.ArgumentTypeError("`runs` contains no run; name the folder of one, or scan first")
    return found


def seconds_of(text: str) -> float:
    """Parse a time limit. Raises ArgumentTypeError."""
    seconds = float(text)
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError("must be more than 0 and at most 86400")
    return seconds


def temperature(text: str) -> float:
    """Parse the temperature of replies. Raises ArgumentTypeError."""
    number = float(text)
    if not 0 <= number <= MAX_TEMPERATURE:
        raise argparse.ArgumentTypeError(f"must be at least 0 and at most {MAX_TEMPERATURE}")
    return number


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
    from rulewright_runtime.transcripts.readers.table_rows import (
        FIELDS,  # imports all readers, only when columns are given
    )

    pairs = text.split(",")
    for pair in pairs:
        field, _, name = pair.partition("=")
        if not name or field not in FIELDS:
            meant = None if field in FIELDS else f"{name}={field}" if name in FIELDS else suggestion(field, FIELDS)
            guess = f"; did you mean `{meant}`?" if meant else ""
            raise argparse.ArgumentTypeError(f"`{pair}` is not `FIELD=NAME`; the fields are {', '.join(FIELDS)}{guess}")
    return {field: name for field, _, name in (pair.partition("=") for pair in pairs)}


def add_transcripts(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    """Declare the transcripts to read."""
    parser.add_argument(
        "transcripts", nargs=nargs, metavar="TRANSCRIPTS", type=existing, help="transcript files or folders"
    )


def add_finished_run(parser: argparse.ArgumentParser, help: str = "the folder that a scan wrote") -> None:
    """Declare the finished run to read."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default="", type=_run_or_latest, help=f"{help} (default: the latest in `runs`)"
    )


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Declare `--project`, `--profile` and `--scorecard`."""
    parser.add_argument(
        "--project",
        metavar="PATH",
        help="project file or folder (default: the nearest `rulewright.yaml` in this folder or a parent)",
    )
    parser.add_argument("--profile", metavar="NAME", help="the profile: which checks run, with how many votes")
    parser.add_argument("--scorecard", metavar="NAME", help="the scorecard: how verdicts become gates and scores")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every run."""
    parser.add_argument(
        "-o",
        "--out",
        metavar="RUN",
        help="the folder of the run (default: `runs/N` with the next number; with --resume, the last one)",
    )
    parser.add_argument("--judge", metavar="JUDGE", help="the judge: `replay:FILE` or a model")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scorecard")
    parser.add_argument("--max-calls", type=at_least(0), metavar="N", help="stop asking the judge after N calls")
    add_reading_options(parser)
    parser.add_argument(
        "--max-expanded", type=at_least(1), metavar="BYTES", help="refuse larger recorded replies (256 MiB, expanded)"
    )
    parser.add_argument(
        "--jobs", type=at_least(1), default=1, metavar="N", help="use N processes (1); not with a model as judge"
    )
    parser.add_argument(
        "--gates-only", action="store_true", help="ask only questions that can change a gate; no scores"
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="use this Ray cluster, or `local` for one with --jobs processes here; needs the extra `ray`",
    )
    parser.add_argument("--resume", action="store_true", help="continue a killed run in RUN")
    parser.add_argument("--overwrite", action="store_true", help="replace the run in RUN")
    parser.add_argument(
        "--format",
        choices=("human", "json", "junit", "sarif", "github", "markdown"),
        default="human",
        help="json prints summary.json",
    )
    add_fail_on(parser)
    add_live_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that reads chats."""
    parser.add_argument("--max-line", type=at_least(1), metavar="BYTES", help="refuse longer input lines (1 MiB)")
    parser.add_argument(
        "--columns",
        type=_columns,
        metavar="FIELD=NAME,...",
        help="names of a table's columns, of the speakers in plain text (`user=question,assistant=answer`), or of the "
        "keys of other records (`messages=events,role=who,content=text`)",
    )


def add_sources(parser: argparse.ArgumentParser, note: str = "") -> None:
    """Declare the paths of a finished run's conversations and recorded replies."""
    for option, what, help in (
        ("--transcripts", "PATH", "where the conversations are now, if they were moved"),
        ("--replies", "FILE", "recorded replies that the run used"),
    ):
        parser.add_argument(option, action="append", default=[], metavar=what, help=f"{help}{note} (repeatable)")


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """Declare `--fail-on`."""
    parser.add_argument(
        "--fail-on",
        metavar="SEVERITY",
        help="exit 1 if a check of this or a higher severity fails; `never`: exit 0 instead of 1 and 2",
    )


def add_live_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a model as judge."""
    group = parser.add_argument_group("a model as judge")
    group.add_argument("--concurrency", type=at_least(1), metavar="N", help="calls at the same time (8)")
    group.add_argument("--requests-per-minute", type=at_least(1), metavar="N", help="limit of calls started per minute")
    group.add_argument(
        "--tokens-per-minute", type=at_least(1), metavar="N", help="limit of tokens sent and received per minute"
    )
    group.add_argument(
        "--timeout",
        type=seconds_of,
        metavar="SECONDS",
        help="time limit of one attempt (180)",
    )
    add_spending_options(group)
    group.add_argument("--ledger", metavar="FILE", help=f"the ledger of calls ({LEDGER} of the project)")
    group.add_argument("--explain-cache", action="store_true", help="explain which checks were asked again, and why")
    group.add_argument(
        "--on-ambiguous",
        choices=("retry", "unclear", "hold"),
        default="retry",
        help="a call that a killed run had sent: ask again (`retry`, default), count it as unanswered (`unclear`), or "
        "stop there (`hold`)",
    )


def add_spending_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Declare the limits of spending on tokens."""
    parser.add_argument("--max-tokens", type=at_least(0), metavar="N", help="stop before more than N tokens are spent")
    parser.add_argument("--max-usd", type=dollars, metavar="X", help="stop before more than X dollars are spent")


def add_policy_options(parser: argparse.ArgumentParser, help: str = "the folder that a scan wrote") -> None:
    """Declare the run, and the policy for rescoring it."""
    add_finished_run(parser, help)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scorecard")
    parser.add_argument("--scorecard", metavar="NAME", help="another scorecard of the project")
    parser.add_argument("--profile", metavar="NAME", help="another profile of the project: which checks run, and votes")
    parser.add_argument("--project", metavar="PATH", help="the project of both (default: the nearest project)")
    parser.add_argument("--votes", type=at_least(1, 101), metavar="N", help="count N votes of each judged check")
    parser.add_argument(
        "--majority-of",
        choices=("planned", "usable"),
        help="whether a verdict needs a majority of the planned or of the usable votes",
    )
    add_sources(parser, "; with --profile, --votes or --majority-of")


def how_to_continue(cause: str, restart: str, judge: str = "") -> str:
    """Return how to go on after a run that stopped because of `cause`; `restart` is for a model at a wrong address."""
    if cause == "replies":
        checked = f"once `rulewright models check {shlex.quote(judge)}` says that it can judge"
        return f"{checked}, continue with `{again()}`, which asks to the end"
    if cause == "name":
        return f"start the model or correct its name and address, then {restart}"
    return f"continue with `{again()}`"


def again(*models: str) -> str:
    """Return the command line that resumes this run, with a placeholder for each of `models`."""
    words = _words(models)
    return shlex.join(words if any(word.startswith("--resume") for word in words) else [*words, "--resume"])


def anew(out: str, *models: str) -> str:
    """Return the command line that starts the run in `out` anew, with a placeholder for each of `models`."""
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
