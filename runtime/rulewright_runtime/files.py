"""Files written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream into a file that appears at the end: whoever reads it meanwhile sees the old content or none.

    A file that exists keeps its mode, and a link keeps pointing where it does. What is raised inside, and OSError, go
    on to the caller; nothing is left then. A place that is no file (a pipe, `/dev/null`) is written to directly.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as stream:
            yield stream
        return
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{os.getpid()}")  # nobody else's file has this name
    try:
        with open(beside, "wb") as stream:
            yield stream
        with suppress(FileNotFoundError):
            os.chmod(beside, os.stat(target).st_mode & 0o7777)
        os.replace(beside, target)
    except BaseException as error:
        with suppress(OSError):
            os.remove(beside)
        if isinstance(error, OSError) and error.filename == beside:
            error.filename = os.fspath(path)  # the caller's word for it
        raise


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file at once, as `open_whole` does. Raises OSError."""
    with open_whole(path) as stream:
        stream.write(data)
