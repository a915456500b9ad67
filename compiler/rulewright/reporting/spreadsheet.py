"""Cells of CSV files that people open in a spreadsheet: text stays text, and no cell is a formula."""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a spreadsheet would compute, or that was marked


def cell(text: str) -> str:
    """`text` as a cell: one that looks like a formula is marked with an apostrophe, as spreadsheets mark texts."""
    return f"'{text}" if _FORMULA.match(text) else text


def text_of(content: str) -> str:
    """The text in a cell, without the mark of `cell`."""
    return content[1:] if content.startswith("'") and _FORMULA.match(content) else content
