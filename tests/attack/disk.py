"""A disk that is watched: what a kill, a power cut or a full disk leaves at every step of a program that writes files.

Every operation that changes a folder is a step: making, writing, cutting, renaming and removing files, and waiting for
the disk. The program runs in this process; before each step a picture of the folder is taken, or the step fails.
"""

import errno
import io
import os
import shutil
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

WATCHED: Final = ("replace", "remove", "mkdir", "rmdir", "fsync", "ftruncate", "posix_fallocate")
NEEDS_ROOM: Final = ("open", "write", "replace", "mkdir", "fsync", "posix_fallocate")
Step = Callable[[str], None]


class _Raw(io.RawIOBase):
    """An open file whose writes are steps."""

    def __init__(self, handle: int, step: Step, closefd: bool) -> None:
        self._handle, self._step, self._closefd = handle, step, closefd

    def fileno(self) -> int:
        return self._handle

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._step("write")
        return os.write(self._handle, data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._handle, offset, whence)

    def truncate(self, size: int | None = None) -> int:
        where = os.lseek(self._handle, 0, os.SEEK_CUR) if size is None else size
        os.ftruncate(self._handle, where)
        return where

    def close(self) -> None:
        if not self.closed and self._closefd:
            os.close(self._handle)
        super().close()


@contextmanager
def watched(step: Step) -> Generator[None]:
    """Call `step` with the name of each operation before it is done; what `step` raises happens instead."""
    lock, busy = threading.RLock(), False
    real = {name: getattr(os, name) for name in (*WATCHED, "fdopen", "open")}

    def before(name: str) -> None:
        nonlocal busy
        if busy:  # the step itself works with files
            return
        busy = True
        try:
            step(name)
        finally:
            busy = False

    def of(name: str) -> Callable[..., Any]:
        def operation(*args: Any, **settings: Any) -> Any:
            with lock:
                before(name)
                return real[name](*args, **settings)

        return operation

    def fdopen(handle: int, mode: str = "r", buffering: int = -1, closefd: bool = True, **rest: Any) -> Any:
        if "w" not in mode:
            return real["fdopen"](handle, mode, buffering, closefd=closefd, **rest)
        return io.BufferedWriter(_Raw(handle, before, closefd), 2**18)

    def opened(path: Any, flags: int, *rest: Any, **settings: Any) -> int:
        with lock:
            if flags & os.O_CREAT:
                before("open")
            handle: int = real["open"](path, flags, *rest, **settings)
        return handle

    with pytest.MonkeyPatch.context() as patch:
        for name in WATCHED:
            patch.setattr(os, name, of(name))
        patch.setattr(os, "fdopen", fdopen)
        patch.setattr(os, "open", opened)
        yield


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def pictures(
    folder: Path, into: Path, program: Callable[[], object], note: Callable[[], Any]
) -> list[tuple[Path, Any]]:
    """What stood in `folder` before the steps of `program`, as a kill there would leave it, each with what `note` said
    at that moment; the last is what stands at the end. A step before which nothing changed has no picture."""
    taken: list[tuple[Path, Any]] = []
    last: tuple[dict[str, bytes], Any] | None = None

    def take(_: str) -> None:
        nonlocal last
        now = content(folder), note()
        if now == last:
            return
        last = now
        place = into / str(len(taken))
        if folder.exists():
            shutil.copytree(folder, place)
        else:
            place.mkdir(parents=True)
        taken.append((place, now[1]))

    with watched(take):
        program()
    take("end")
    return taken


class FullError(OSError):
    """The disk is full."""

    def __init__(self) -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_at(number: int, *, stays: bool) -> Step:
    """Of the steps that need room the one with this number fails, and with `stays` all after it."""
    count = -1

    def step(what: str) -> None:
        nonlocal count
        count += what in NEEDS_ROOM
        if what in NEEDS_ROOM and (count == number or (stays and count > number)):
            raise FullError

    return step


class PowerCuts:
    """What a folder holds after power cuts: only what was waited for is sure to be on the disk.

    Before every step two pictures are taken, unless they show what an earlier one does: the latest names, and the names
    as old as the last `fsync` of the folder; both with data as old as the last `fsync` of each file.
    """

    def __init__(self, folder: Path, into: Path) -> None:
        self._folder, self._into = folder, into
        self._durable: dict[int, bytes] = {}  # by inode
        self._names: dict[str, int] = {}
        self._pinned: dict[int, int] = {}  # handles, so that no inode is used for another file
        self._seen: set[tuple[tuple[str, bytes], ...]] = set()
        self.taken: list[Path] = []

    @contextmanager
    def watch(self) -> Generator[None]:
        """Take pictures while a program runs."""
        with watched(self._take), pytest.MonkeyPatch.context() as patch:
            fsync = os.fsync

            def noted(handle: int) -> None:
                fsync(handle)
                self._note(handle)

            patch.setattr(os, "fsync", noted)
            yield
        for handle in self._pinned.values():
            os.close(handle)

    def _files(self) -> dict[str, int]:
        """The inode of each file."""
        found = [path for path in self._folder.rglob("*") if path.is_file()] if self._folder.exists() else []
        for path in found:
            if path.stat().st_ino not in self._pinned:
                self._pinned[path.stat().st_ino] = os.open(path, os.O_RDONLY)
        return {str(path.relative_to(self._folder)): path.stat().st_ino for path in found}

    def _note(self, handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            self._names = self._files()
        else:
            self._durable[status.st_ino] = os.pread(handle, status.st_size, 0)

    def _take(self, _: str) -> None:
        for names in (self._files(), self._names):
            left = tuple((name, self._durable.get(inode, b"")) for name, inode in sorted(names.items()))
            if left in self._seen:
                continue
            self._seen.add(left)
            place = self._into / str(len(self.taken))
            place.mkdir(parents=True)
            for name, data in left:
                (place / name).parent.mkdir(exist_ok=True)
                (place / name).write_bytes(data)
            self.taken.append(place)
