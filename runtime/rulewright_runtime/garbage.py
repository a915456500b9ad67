"""Garbage collection: searching for garbage is slow where many objects are made and few of them are garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY: Final = 50_000  # new objects before a search


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Search for garbage less often, in this process, until the block ends."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], MANY), 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
