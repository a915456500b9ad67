"""The dependencies of a run: the files it read, the folders it listed and the paths it probed.

The loader and the layout of projects access files through this module. An active `DependencyTracker` records each
access with the state of the path, so that a later run can detect whether anything has changed.
"""

from __future__ import annotations

import json
import os
import stat

from rulewright_runtime.digests import blake2b

TYPE_CHECKING = False  # cached output is printed without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable

    Dependency = tuple[str, str]  # the access (`read`, `listed` or `probed`), and the path

READ, LISTED, PROBED, CALLED = "read", "listed", "probed", "called"
UNLISTED = "unreadable"  # the state of a folder that can't be listed
CHANGING = "changing"  # a state that differs from every state
UNSEEN = "unseen"  # the state of code, which may change without any change in the project
BLOCK = 65_536


class DependencyTracker:
    """Records every access while it is active: `states` maps each dependency to its state."""

    def __init__(self) -> None:
        self.states: dict[Dependency, str] = {}

    def __enter__(self) -> DependencyTracker:
        _active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _active.remove(self)

    def note(self, access: str, path: str, state: str) -> None:
        """Record one access; a path whose state has changed meanwhile becomes unusable for the cache."""
        self.states[access, path] = state if self.states.get((access, path), state) == state else CHANGING

    def has_changed(self) -> bool:
        """Whether a dependency differs from its recorded state."""
        return any(state_of(access, path) != state for (access, path), state in self.states.items())


_active: list[DependencyTracker] = []


def exists(path: str | os.PathLike[str]) -> bool:
    """Whether the path exists; a broken link does not."""
    return _probe(path) not in ("absent", "broken")


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a regular file."""
    return _probe(path) == "file"


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether anything is at the path, be it a broken link: reading it reports the error."""
    return _probe(path) != "absent"


def is_folder(path: str | os.PathLike[str]) -> bool:
    return _probe(path) == "folder"


def names_in(folder: str | os.PathLike[str]) -> list[tuple[str, bool]]:
    """Return the sorted names in a folder, each with whether it is a folder and not a link. Raises OSError."""
    try:
        names = _listed(folder)
    except OSError:
        note(LISTED, folder, lambda: UNLISTED)
        raise
    note(LISTED, folder, lambda: digest(json.dumps(names).encode()))
    return names


def note_content(path: str | os.PathLike[str], content: bytes | None) -> None:
    """Record that a file was read; None is the content of an unreadable file."""
    note(READ, path, lambda: state_of(READ, os.fspath(path)) if content is None else digest(content))


def note_call(plug_in: str) -> None:
    """Record that the code of a plug-in was called."""
    note(CALLED, plug_in, lambda: UNSEEN)


def note(access: str, path: str | os.PathLike[str], state: Callable[[], str]) -> None:
    """Record an access in the active trackers; without one, `state` is not called."""
    for tracker in _active:
        tracker.note(access, os.fspath(path), state())


def state_of(access: str, path: str) -> str:
    """Return the present state of a path, in the tracker's format."""
    return UNSEEN if access == CALLED else {READ: _content_state, LISTED: _listing_state, PROBED: _kind}[access](path)


def _probe(path: str | os.PathLike[str]) -> str:
    kind = _kind(os.fspath(path))
    note(PROBED, path, lambda: kind)
    return kind


def _kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return "broken" if os.path.lexists(path) else "absent"
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _listing_state(path: str) -> str:
    try:
        return digest(json.dumps(_listed(path)).encode())
    except OSError:
        return UNLISTED


def _listed(folder: str | os.PathLike[str]) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except ValueError as error:  # no path can hold a null character
        raise OSError(str(error)) from None


def _content_state(path: str) -> str:
    """A digest of a file's content. Never blocks, as opening a pipe would."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return "unreadable"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "other"
        hash_ = blake2b()
        while block := os.read(handle, BLOCK):
            hash_.update(block)
        return hash_.hexdigest()
    except OSError:
        return CHANGING
    finally:
        os.close(handle)


def digest(data: bytes) -> str:
    return blake2b(data).hexdigest()
