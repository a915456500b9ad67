"""What linting printed and what compiling made last time, kept as long as nothing it depends on has changed.

An entry holds the dependencies that a `DependencyTracker` noted while its content was made: the content of every file
that was read, the names in every folder that was listed, and whether each path that was asked about was there. Its key
holds the options, the working folder and every program that takes part: what another version wrote is not found.
Entries are in the user's own cache folder and never in a project, which could bring an entry along that calls its own
mistakes clean.
"""

from __future__ import annotations

import json
import os
import stat
import sys

from rulewright.dependencies import CHANGING, digest, state_of

TYPE_CHECKING = False  # `typing` takes longer to import than this module may take
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from rulewright.dependencies import Dependency

FORMAT = 3
MOST_ENTRIES = {"lint": 500, "plans": 50}
LARGEST_ENTRY = 16_000_000
PARTS = {"about", "environment", "key", "states"}


class CacheEntry:
    """The place of one content: the same words, options and programs find the same entry."""

    def __init__(self, kind: str, question: Sequence[object]) -> None:
        """The entry for `question`, any JSON value that says all that was asked for; `kind` says what is kept."""
        self.kind = kind
        self.folder = cache_folder(kind)
        self.key = digest(json.dumps([FORMAT, kind, os.getcwd(), sys.version, programs(), question]).encode())
        self.path = os.path.join(self.folder, self.key)

    def known(self) -> tuple[object, bytes] | None:
        """What was kept, if everything it depends on is as it was: any JSON value about the content, and the content.

        Both are as an entry of ours holds them. Whoever reads them looks at their form again.
        """
        found = self._read() if _is_ours(self.folder) else None
        try:
            if found is None or any(_variable(name) != value for name, value in found[0]["environment"].items()):
                return None
            is_same = all(state_of(how, path) == state for how, path, state in found[0]["states"])
            return (found[0]["about"], found[1]) if is_same else None
        except (KeyError, TypeError, ValueError, AttributeError):  # a head of another form
            return None

    def keep(self, about: object, content: bytes, states: dict[Dependency, str], variables: Iterable[str]) -> None:
        """Write the content down; a cache that can't be written to is left alone."""
        if not {CHANGING, "other"}.isdisjoint(states.values()):
            return
        head = {
            "key": self.key,
            "about": about,
            "states": [[how, path, state] for (how, path), state in sorted(states.items())],
            "environment": {name: _variable(name) for name in sorted(variables)},
        }
        written = json.dumps(head).encode() + b"\n" + content
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if _is_ours(self.folder) and len(written) <= LARGEST_ENTRY:
                _write(self.path, digest(written).encode() + b"\n" + written)
                _remove_oldest(self.folder, MOST_ENTRIES[self.kind])
        except OSError:
            return

    def _read(self) -> tuple[dict[str, Any], bytes] | None:
        """The head and the content as they were written by us; anything else is none."""
        try:
            with open(self.path, "rb") as file:
                checksum, _, written = file.read(LARGEST_ENTRY + 1000).partition(b"\n")
            if checksum != digest(written).encode():
                return None
            first, _, content = written.partition(b"\n")
            head = json.loads(first)
        except (OSError, ValueError, RecursionError):
            return None
        is_own = isinstance(head, dict) and head.keys() == PARTS and head["key"] == self.key
        return (head, content) if is_own else None


def cache_folder(kind: str) -> str:
    """`$XDG_CACHE_HOME/rulewright/KIND`, by default below `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(home if os.path.isabs(home) else os.path.expanduser("~/.cache"), "rulewright", kind)


def programs() -> str:
    """A digest of the code that takes part: our files by size and time, the libraries by their versions."""
    own = os.path.dirname(os.path.abspath(__file__))
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


def _remove_oldest(folder: str, most: int) -> None:
    paths = sorted((os.path.join(folder, name) for name in os.listdir(folder)), key=os.path.getmtime)
    for path in paths[: -most // 2] if len(paths) > most else ():
        os.unlink(path)
