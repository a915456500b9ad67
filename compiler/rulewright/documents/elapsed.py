"""Parses the time between sessions as authors write it: `2 weeks later`, `Day 3`, `the next day`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

HOURS: Final = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}
WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12,
}  # fmt: skip
_UNIT: Final = "(minute|hour|day|week|month|year)"
_RELATIVE: Final = re.compile(rf"^(?:about |some )?(\d+(?:\.\d+)?|[a-z]+) {_UNIT}s?(?: (?:later|after|since|on)\b.*)?$")
_NEXT: Final = re.compile(rf"^(?:the )?(?:next|following) {_UNIT}$")
_ABSOLUTE: Final = re.compile(rf"^{_UNIT} (\d+)$")


def hours_between(written: Iterable[str]) -> tuple[float | None, ...]:
    """The hours between each session and the previous one; None for the first, and if the text can't be parsed.

    A month counts 730 hours, a year 8760. `Day 3` is counted from `Day 0` and needs every time before it.
    """
    found: list[float | None] = []
    position: float | None = 0.0
    for number, words in enumerate(written):
        absolute = _ABSOLUTE.match(words.strip().lower())
        if absolute:
            now = int(absolute.group(2)) * HOURS[absolute.group(1)]
            since = None if position is None or now < position else now - position
            position = now
        else:
            since = _relative(words.strip().lower())
            position = None if position is None or since is None else position + since
        if number == 0:
            since, position = None, position if absolute else 0.0
        found.append(since)
    return tuple(found)


def _relative(words: str) -> float | None:
    following = _NEXT.match(words)
    if following:
        return HOURS[following.group(1)]
    counted = _RELATIVE.match(words)
    if counted is None:
        return None
    number = counted.group(1)
    amount = float(number) if number[0].isdecimal() else WORDS.get(number)
    return None if amount is None else amount * HOURS[counted.group(2)]
