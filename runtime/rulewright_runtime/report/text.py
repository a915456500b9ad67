"""Text for a terminal or a Markdown table: widths as they are seen, nothing that could break out of its cell."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

_WIDE: Final = frozenset("WF")
_ZERO: Final = frozenset({"Mn", "Me", "Cf"})
_MARKUP: Final = str.maketrans({char: "\\" + char for char in "\\`*_[]<>|#~"})


def width(text: str) -> int:
    """How many columns `text` takes: East Asian wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_width_of(char) for char in text)


def _width_of(char: str) -> int:
    if unicodedata.category(char) in _ZERO:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def clean(text: str) -> str:
    """`text` on one line, without control characters and without marks that turn the writing direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char.isspace() else char for char in text if char.isspace() or char.isprintable())


def fit(text: str, columns: int) -> str:
    """`text` cleaned and cut to `columns`, with `…` where something is missing."""
    text = clean(text)
    if width(text) <= columns:
        return text
    kept, used = [], 0
    for char in text:
        used += _width_of(char)
        if used > columns - 1:
            break
        kept.append(char)
    return "".join(kept) + "…" if columns > 0 else ""


def left(text: str, columns: int) -> str:
    """`text` in a cell of `columns`, at its left."""
    text = fit(text, columns)
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """`text` in a cell of `columns`, at its right."""
    text = fit(text, columns)
    return " " * (columns - width(text)) + text


def center(text: str, columns: int) -> str:
    """`text` in the middle of a cell of `columns`; an odd blank goes to the right."""
    text = fit(text, columns)
    spare = columns - width(text)
    return " " * (spare // 2) + text + " " * (spare - spare // 2)


def escape(text: object) -> str:
    """`text` for a place in Markdown where it must stay text."""
    return clean(str(text)).translate(_MARKUP)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table; cells are escaped, numbers stand at the right."""
    body = [list(row) for row in rows]
    numeric = [bool(body) and all(isinstance(row[at], (int, float)) for row in body) for at in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(" ---: " if n else " --- " for n in numeric) + "|"]
    lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in body]
    return lines


def percent(part: float | None) -> str:
    """A share as a percentage without decimals, or a dash."""
    return "–" if part is None else f"{part:.0%}"


def number(value: float | None) -> str:
    """A score with two decimals, or a dash."""
    return "–" if value is None else f"{value:.2f}"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"
