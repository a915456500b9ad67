"""Files written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile sees the old content or the whole new one.

    A file that exists keeps its mode, and a link keeps pointing where it does. Raises OSError; nothing is left then.
    """
    target = os.path.realpath(path)
    beside = f"{target}.new"
    try:
        with open(beside, "wb") as stream:
            stream.write(data)
        with suppress(FileNotFoundError):
            os.chmod(beside, os.stat(target).st_mode & 0o7777)
        os.replace(beside, target)
    except OSError:
        with suppress(OSError):
            os.remove(beside)
        raise
