"""Imports msgspec without `typing_extensions`, which it prefers to `typing` where both are installed.

That one alone takes as long to import as judging fifty transcripts, and what it adds is for older Pythons.
"""

from __future__ import annotations

import sys

_HIDDEN = "typing_extensions" not in sys.modules
if _HIDDEN:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # there is no such module, says None

import msgspec  # noqa: E402, F401

if _HIDDEN:
    del sys.modules["typing_extensions"]
