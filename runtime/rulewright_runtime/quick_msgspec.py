"""Imports msgspec without `typing_extensions`, which it prefers to `typing` if it is installed.

Importing `typing_extensions` takes as long as judging fifty transcripts, and it is only useful for older Pythons.
"""

from __future__ import annotations

import sys

_HIDDEN = "typing_extensions" not in sys.modules
if _HIDDEN:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # None makes its import fail

import msgspec  # noqa: E402, F401

if _HIDDEN:
    del sys.modules["typing_extensions"]
