"""The cells of a terminal that a text takes, as terminals draw graphemes."""

from __future__ import annotations

from unicodedata import category, east_asian_width

TAB = "    "
_ZERO_WIDTH_JOINER = "\u200d"
_JOINERS = (0x200C, 0x200D)
_EMOJI_STYLE = "\ufe0f"
_REGIONAL = range(0x1F1E6, 0x1F200)
_SKIN = range(0x1F3FB, 0x1F400)
_JAMO = range(0x1160, 0x1200)  # vowels and finals, drawn inside the syllable of their lead consonant


class Cell:
    """One code point as shown; a `width` of 0 joins it to the one before."""

    __slots__ = ("shown", "width")

    def __init__(self, shown: str, width: int) -> None:
        self.shown, self.width = shown, width


def cells(line: str) -> list[Cell]:
    """Return one cell for each code point; characters that move the cursor or reorder text show as U+FFFD."""
    result: list[Cell] = []
    flags = 0
    for i, char in enumerate(line):
        point = ord(char)
        if point < 0x7F and char >= " ":
            result.append(Cell(char, 1))
        elif char == "\t":
            result.append(Cell(TAB, len(TAB)))
        elif point in _REGIONAL:
            flags += 1
            result.append(Cell(char, 0 if flags % 2 == 0 else 2))
            continue
        elif result and (_joins(point) or line[i - 1] == _ZERO_WIDTH_JOINER):
            result.append(Cell(char, 0))
            if char == _EMOJI_STYLE:
                _widen(result)
        elif category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            result.append(Cell("\ufffd", 1))
        else:
            result.append(Cell(char, 2 if east_asian_width(char) in "WF" else 1))
        flags = 0
    return result


def width(text: str) -> int:
    """Return the width of `text` in cells: East Asian wide characters and emoji take two, combining characters none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(cell.width for cell in cells(text))


def _joins(point: int) -> bool:
    """Whether a code point belongs to the grapheme before it."""
    return category(chr(point)) in ("Mn", "Me") or point in _JOINERS or point in _SKIN or point in _JAMO


def _widen(row: list[Cell]) -> None:
    """Widen the symbol before an emoji variation selector to two cells; spaces and tabs are not symbols."""
    for cell in reversed(row):
        if cell.width:
            cell.width = cell.width if cell.shown.isspace() else 2
            return
