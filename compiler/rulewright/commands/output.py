"""Output of commands: data as JSON or lines for people, printed or written to a file."""

from __future__ import annotations

import getpass
import json
import sys
from contextlib import contextmanager

from rulewright.errors import UsageError
from rulewright_runtime.english import reason_of
from rulewright_runtime.files.atomic import open_whole
from rulewright_runtime.terminal import say

TYPE_CHECKING = False  # importing `typing` takes longer than writing the output
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterable
    from typing import IO

    from rulewright.web.server import LocalServer


def answer(form: str, data: object, lines: Iterable[str], *, indent: int | None = None) -> None:
    """Print `data` if the format is `json`, else the lines for people, which are made only then."""
    if form == "json":
        print(json.dumps(data, ensure_ascii=False, indent=indent, default=str))
    else:
        say(*lines)


def person() -> str:
    """The name of the user who runs the command, for decisions."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


def serve_until_stopped(opened: Callable[[], LocalServer], port: int, what: str) -> None:
    """Open a local site, print the address of `what` is on it, and serve it until the command is stopped. Raises
    UsageError for a port that can't be used."""
    try:
        server = opened()
    except (OSError, OverflowError) as error:
        raise UsageError(f"can't listen on port {port}: {reason_of(error)}; choose another one with `--port`") from None
    with server:
        say(f"{what} at {server.url} (stop with Ctrl-C)")
        sys.stdout.flush()
        server.wait()


@contextmanager
def writing_to(place: str | os.PathLike[str]) -> Generator[None]:
    """Turn errors of writing `place` into UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"can't write `{place}`: {reason_of(error)}") from None


@contextmanager
def open_output(out: str | None) -> Generator[IO[bytes]]:
    """A stream to standard output for `-` and None, else to a file that is written completely or not at all. Raises
    UsageError."""
    if out is None or out == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with writing_to(out), open_whole(out) as stream:
        yield stream


def hand_over(data: str | bytes, out: str | None, message: str = "") -> None:
    """Print data for `-` and None, else write them to the file `out`, completely or not at all, and report it with the
    message. Raises UsageError."""
    is_printed = out is None or out == "-"
    if is_printed and isinstance(data, str):
        sys.stdout.write(data)
        return
    with open_output(out) as stream:
        stream.write(data.encode() if isinstance(data, str) else data)
    if not is_printed:
        say(message or f"wrote {out}")
