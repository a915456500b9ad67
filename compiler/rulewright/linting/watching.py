"""Lint again whenever one of the dependencies changes, until the author interrupts."""

import os
from collections.abc import Callable, Iterable
from time import sleep
from typing import Final

from rulewright.dependencies import DependencyTracker
from rulewright.errors import RulewrightError
from rulewright_runtime.terminal import SafeStream

PAUSE: Final = 0.3  # seconds between two polls


def watch(
    once: Callable[[], str],
    output: SafeStream,
    *,
    wait: Callable[[float], None] | None = None,
    rounds: int | None = None,
) -> int:
    """Print the result of `once`, and again after every change of a file, folder or missing path that it depends on.

    A terminal is cleared before each round; on other outputs the rounds follow each other. Returns 0 after `rounds`
    polls (None: never); an interruption is passed on to the caller.
    """
    paths: set[str] = set()
    before: object = None
    while rounds is None or rounds > 0:
        if before is None or _status(paths) != before:
            with DependencyTracker() as tracker:
                text = _round(once)
            output.clear()
            output.write_coloured(text)
            output.flush()
            paths = {path for _, path in tracker.states}
            before = _status(paths)
            if tracker.has_changed():  # changed since it was read
                before = None
        rounds = None if rounds is None else rounds - 1
        (wait or sleep)(PAUSE)
    return 0


def _status(paths: Iterable[str]) -> list[tuple[int, int, int] | None]:
    """The modification time, size and inode of each path, which show a change without reading the file."""
    found: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return found


def _round(once: Callable[[], str]) -> str:
    """Run one round; a project that can't be read, for instance during an edit, does not end the watch."""
    try:
        return once()
    except RulewrightError as error:
        return f"error: {error}\n"
