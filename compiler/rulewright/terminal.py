"""What the place that output goes to can show: colour and how wide a line may be. Imports nothing heavy."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

WIDTH = 80
UNBROKEN = 2000


def wants_colour(stream: TextIO) -> bool:
    """Colour is for terminals, unless `NO_COLOR` is set or the terminal is dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width_for(stream: TextIO) -> int:
    """The cells of a line: as many as the terminal has, and without a terminal so many that no sentence is broken, so
    that a message can be searched for."""
    if not stream.isatty():
        return UNBROKEN
    from shutil import get_terminal_size

    return get_terminal_size((WIDTH, 24)).columns
