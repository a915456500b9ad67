"""The main figures of a page, and the tone of each exit code."""

from typing import Final

from msgspec import Struct

from rulewright_runtime.strict_json import JsonMapping

TONES: Final = ("good", "bad", "open", "bad")  # by exit code


class Range(Struct, frozen=True):
    """A mean with its bounds while answers are missing, and its interval."""

    name: str
    mean: float | None
    bounds: JsonMapping | None = None
    interval: JsonMapping | None = None
    counted: int = 0
    absent: int = 0


class Figure(Struct, frozen=True):
    """One number with its name and notes."""

    label: str
    value: str
    notes: tuple[str, ...] = ()
    tone: str = ""
    range: Range | None = None
