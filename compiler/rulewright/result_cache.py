"""The cache of lint output and compiled plans, valid as long as no dependency has changed.

An entry holds the dependencies that a `DependencyTracker` recorded: the content of every file read, the names in every
folder listed, and the state of every path probed. Its key covers the options, the working folder and all programs
involved, so that entries of other versions are not used. Entries are in the user's cache folder and never in a project,
which could bring an entry along that hides its own mistakes.
"""

from __future__ import annotations

import json
import os
import stat
import sys

from rulewright.dependencies import CHANGING, UNSEEN, digest, state_of

TYPE_CHECKING = False  # `typing` takes longer to import than this module may take
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from rulewright.dependencies import Dependency

FORMAT = 3
MAX_ENTRIES = {"lint": 500, "plans": 50}
MAX_ENTRY_BYTES = 16_000_000
HEAD_KEYS = {"about", "environment", "key", "states"}


class CacheEntry:
    """One cache entry: the same command, options and programs give the same key."""

    def __init__(self, kind: str, question: Sequence[object]) -> None:
        """The entry for `question`, any JSON value that identifies the request; `kind` is the kind of content."""
        self.kind = kind
        self.folder = cache_folder(kind)
        self.key = digest(json.dumps([FORMAT, kind, os.getcwd(), sys.version, programs(), question]).encode())
        self.path = os.path.join(self.folder, self.key)

    def load(self) -> tuple[object, bytes] | None:
        """Return a JSON value about the content, and the content, or None if a dependency has changed.

        The caller must validate their form.
        """
        entry = self._read() if _is_ours(self.folder) else None
        try:
            if entry is None or any(_variable(name) != value for name, value in entry[0]["environment"].items()):
                return None
            is_same = all(state_of(how, path) == state for how, path, state in entry[0]["states"])
            return (entry[0]["about"], entry[1]) if is_same else None
        except (KeyError, TypeError, ValueError, AttributeError):  # a malformed head
            return None

    def store(self, about: object, content: bytes, states: dict[Dependency, str], variables: Iterable[str]) -> None:
        """Store the content, unless a dependency can change unseen; errors of writing are ignored."""
        if not {CHANGING, UNSEEN, "other"}.isdisjoint(states.values()):
            return
        head = {
            "key": self.key,
            "about": about,
            "states": [[how, path, state] for (how, path), state in sorted(states.items())],
            "environment": {name: _variable(name) for name in sorted(variables)},
        }
        payload = json.dumps(head).encode() + b"\n" + content
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if _is_ours(self.folder) and len(payload) <= MAX_ENTRY_BYTES:
                _write(self.path, digest(payload).encode() + b"\n" + payload)
                _remove_oldest(self.folder, MAX_ENTRIES[self.kind])
        except OSError:
            return

    def _read(self) -> tuple[dict[str, Any], bytes] | None:
        """Read the head and the content of a valid entry, or None."""
        try:
            with open(self.path, "rb") as file:
                checksum, _, payload = file.read(MAX_ENTRY_BYTES + 1000).partition(b"\n")
            if checksum != digest(payload).encode():
                return None
            first, _, content = payload.partition(b"\n")
            head = json.loads(first)
        except (OSError, ValueError, RecursionError):
            return None
        is_own = isinstance(head, dict) and head.keys() == HEAD_KEYS and head["key"] == self.key
        return (head, content) if is_own else None


def cache_folder(kind: str) -> str:
    """Return `$XDG_CACHE_HOME/rulewright/KIND`, by default below `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(home if os.path.isabs(home) else os.path.expanduser("~/.cache"), "rulewright", kind)


def programs() -> str:
    """Return a digest of the programs involved: our files by size and time, libraries by version."""
    package_folder = os.path.dirname(os.path.abspath(__file__))
    parts: list[object] = [*_files(package_folder)]
    for search_path in dict.fromkeys(sys.path):
        names = sorted(os.listdir(search_path or ".")) if os.path.isdir(search_path or ".") else []
        parts += [name for name in names if name.endswith((".dist-info", ".egg-info"))]
        for package in ("rulewright_runtime", "rulewright_grammar"):
            parts += _files(os.path.join(search_path, package)) if package in names else ()
    return digest(json.dumps(parts).encode())


def _files(folder: str) -> list[tuple[str, int, int]]:
    file_states = []
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for file in (os.path.join(path, name) for name in names):
            status = os.stat(file)
            file_states.append((file, status.st_size, status.st_mtime_ns))
    return sorted(file_states)


def _variable(name: str) -> str | None:
    """A digest of a variable's value, so that no secret is stored."""
    value = os.environ.get(name)
    return None if value is None else digest(os.fsencode(value))


def _is_ours(folder: str) -> bool:
    """Whether only this user can write to the folder."""
    try:
        status = os.stat(folder)
    except OSError:
        return False
    is_private = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not hasattr(os, "geteuid") or (is_private and status.st_uid == os.geteuid())  # Windows has no such ids


def _write(path: str, data: bytes) -> None:
    """Write a file atomically: another run sees the old entry or the new one."""
    scratch = f"{path}.{os.getpid()}"
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except OSError:
        os.unlink(scratch)
        raise


def _remove_oldest(folder: str, limit: int) -> None:
    paths = sorted((os.path.join(folder, name) for name in os.listdir(folder)), key=os.path.getmtime)
    for path in paths[: -limit // 2] if len(paths) > limit else ():
        os.unlink(path)
