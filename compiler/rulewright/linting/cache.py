"""What linting printed last time, kept as long as nothing it depends on has changed.

An entry holds the dependencies that a `DependencyTracker` noted while the linter ran: the content of every file it
read, the names in every folder it listed, and whether each path it asked about was there. Its key holds the options,
the working folder and every program that takes part. Entries are in the user's own cache folder and never in a project,
which could bring an entry along that calls its own mistakes clean.
"""

from __future__ import annotations

import json
import os
import stat
import sys

from rulewright.dependencies import CHANGING, digest, state_of
from rulewright_runtime.terminal import safe_stream

TYPE_CHECKING = False  # `typing` takes longer to import than this module may take
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from rulewright.dependencies import Dependency

FORMAT = 2
MOST_ENTRIES = 500
LARGEST_ENTRY = 16_000_000
PARTS = {"environment", "key", "states", "status", "text"}


class LintOutput:
    """What a run printed to standard output, and its exit code."""

    def __init__(self, status: int, text: str) -> None:
        self.status, self.text = status, text

    def show(self) -> int:
        """Print it; the value is the exit code."""
        if self.text.startswith("::"):  # only `--format github` begins so
            safe_stream(sys.stdout).write_annotations(self.text)
        else:
            safe_stream(sys.stdout).write_coloured(self.text)
        return self.status


class CacheEntry:
    """The place of one output: the same words, options and programs find the same entry."""

    def __init__(self, question: Sequence[object], folder: str | None = None) -> None:
        """The entry for `question`, any JSON value that says all that was asked for; `folder` holds the cache."""
        self.folder = cache_folder() if folder is None else folder
        self.key = digest(json.dumps([FORMAT, os.getcwd(), sys.version, programs(), question]).encode())
        self.path = os.path.join(self.folder, f"{self.key}.json")

    def known(self) -> LintOutput | None:
        """The output, if there is one and everything it depends on is as it was."""
        body = self._body() if _is_ours(self.folder) else None
        try:
            if body is None or any(_variable(name) != value for name, value in body["environment"].items()):
                return None
            is_same = all(state_of(how, path) == state for how, path, state in body["states"])
            return LintOutput(body["status"], body["text"]) if is_same else None
        except (KeyError, TypeError, ValueError, AttributeError):  # a body of another form
            return None

    def keep(self, output: LintOutput, states: dict[Dependency, str], variables: Iterable[str]) -> None:
        """Write the output down; a cache that can't be written to is left alone."""
        if not {CHANGING, "other"}.isdisjoint(states.values()):
            return
        body = {
            "key": self.key,
            "status": output.status,
            "text": output.text,
            "states": [[how, path, state] for (how, path), state in sorted(states.items())],
            "environment": {name: _variable(name) for name in sorted(variables)},
        }
        written = json.dumps(body).encode()
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if _is_ours(self.folder) and len(written) <= LARGEST_ENTRY:
                _write(self.path, digest(written).encode() + b"\n" + written)
                _remove_oldest(self.folder)
        except OSError:
            return

    def _body(self) -> dict[str, Any] | None:
        """The entry as it was written by us; anything else is none."""
        try:
            with open(self.path, "rb") as file:
                checksum, _, written = file.read(LARGEST_ENTRY + 1000).partition(b"\n")
            body = json.loads(written) if checksum == digest(written).encode() else None
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(body, dict) or body.keys() != PARTS or body["key"] != self.key:
            return None
        return body if type(body["status"]) is int and body["status"] in (0, 1) and type(body["text"]) is str else None


def cache_folder() -> str:
    """`$XDG_CACHE_HOME/rulewright/lint`, by default below `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(home if os.path.isabs(home) else os.path.expanduser("~/.cache"), "rulewright", "lint")


def programs() -> str:
    """A digest of the code that lints: every file of our packages by size and time, every library by its version."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found: list[object] = [*_files(own)]
    for place in dict.fromkeys(sys.path):
        names = sorted(os.listdir(place or ".")) if os.path.isdir(place or ".") else []
        found += [name for name in names if name.endswith((".dist-info", ".egg-info"))]
        for package in ("rulewright_runtime", "rulewright_grammar"):
            found += _files(os.path.join(place, package)) if package in names else ()
    return digest(json.dumps(found).encode())


def _files(folder: str) -> list[tuple[str, int, int]]:
    found = []
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for file in (os.path.join(path, name) for name in names):
            found.append((file, os.path.getsize(file), os.stat(file).st_mtime_ns))
    return sorted(found)


def _variable(name: str) -> str | None:
    """A digest of a variable's value: secrets stay where they are."""
    value = os.environ.get(name)
    return None if value is None else digest(os.fsencode(value))


def _is_ours(folder: str) -> bool:
    """Whether only we can have written what is in the folder."""
    try:
        status = os.stat(folder)
    except OSError:
        return False
    is_private = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not hasattr(os, "geteuid") or (is_private and status.st_uid == os.geteuid())  # Windows has no such ids


def _write(path: str, data: bytes) -> None:
    """All of it or nothing: another run sees the old entry or the new one."""
    scratch = f"{path}.{os.getpid()}"
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except OSError:
        os.unlink(scratch)
        raise


def _remove_oldest(folder: str) -> None:
    paths = sorted((os.path.join(folder, name) for name in os.listdir(folder)), key=os.path.getmtime)
    for path in paths[: -MOST_ENTRIES // 2] if len(paths) > MOST_ENTRIES else ():
        os.unlink(path)
