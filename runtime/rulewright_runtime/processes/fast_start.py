"""A fast start: msgspec is imported without `typing_extensions`, and garbage is collected less often.

msgspec prefers `typing_extensions` to `typing` if it is installed. Importing it takes as long as judging fifty
transcripts, and it is only useful for older Pythons. Import this module before any other that imports msgspec.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_HIDDEN = "typing_extensions" not in sys.modules
if _HIDDEN:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # None makes its import fail

import msgspec  # noqa: E402, F401

if _HIDDEN:
    del sys.modules["typing_extensions"]

MANY: Final = 50_000  # new objects before a search: few of those that a run makes are garbage


@contextmanager
def seldom_collected() -> Generator[None]:
    """Search for garbage less often, in this process, until the block ends."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], MANY), 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
