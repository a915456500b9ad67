"""The figures at the top of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rulewright_runtime.strict_json import JsonMapping

TONES: Final = ("good", "bad", "open", "bad")  # by exit code


@dataclass(frozen=True, slots=True)
class Range:
    """A mean with its bounds while answers are missing, and its interval."""

    name: str
    mean: float | None
    bounds: JsonMapping | None = None
    interval: JsonMapping | None = None
    counted: int = 0
    absent: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its name and notes."""

    label: str
    value: str
    notes: tuple[str, ...] = ()
    tone: str = ""
    range: Range | None = None
