"""Finds quotes in a message and splits the message into highlighted and other pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

MOST_WORDS: Final = 200
_ELLIPSIS: Final = re.compile(r"[\[(]?(?:\.{3,}|…)[\])]?")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a text that a verdict quotes: from `start` to `end`, and the verdict's anchor."""

    start: int
    end: int
    verdict: str
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class HighlightPiece:
    """A part of a text. `verdict` is empty if no verdict quotes it; `ends` are the marks that end with it."""

    text: str
    verdict: str = ""
    ends: tuple[Mark, ...] = ()


def find(quote: str, text: str) -> list[tuple[int, int]]:
    """Find a quote in a text: verbatim, else word by word with anything between the words. A quote with an ellipsis has
    several parts."""
    at = text.find(quote)
    if quote and at >= 0:
        return [(at, at + len(quote))]
    places: list[tuple[int, int]] = []
    after = 0
    for part in _ELLIPSIS.split(quote):
        words = _WORD.findall(part)[:MOST_WORDS]
        if not words:
            continue
        found = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE).search(text, after)
        if found is None:
            return []
        after = found.end()
        places.append(found.span())
    return places


def pieces(text: str, marks: Sequence[Mark]) -> list[HighlightPiece]:
    """Return the pieces of the text in order; of overlapping marks the most severe verdict is shown."""
    cuts = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    found = []
    for start, end in pairwise(cuts):
        over = [mark for mark in marks if mark.start < end and mark.end > start]
        ends = tuple(dict.fromkeys(mark for mark in over if mark.end == end))
        found.append(HighlightPiece(text[start:end], gravest(mark.verdict for mark in over), ends))
    return found


_GRAVITY: Final = ("FAIL", "UNCLEAR", "PASS")


def gravest(verdicts: Iterable[str]) -> str:
    """Return the most severe of some verdicts; empty for none."""
    known = set(verdicts)
    return next((verdict for verdict in _GRAVITY if verdict in known), min(known, default=""))
