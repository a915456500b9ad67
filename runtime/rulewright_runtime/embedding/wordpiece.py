"""Word pieces: how a BERT model reads a text, as numbers of its vocabulary (Devlin et al. 2019; Wu et al. 2016)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

_ASCII_MARKS: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_LONGEST: Final = 100  # characters of a word; a longer one is unknown
_INVISIBLE: Final = frozenset({"Cc", "Cf"})
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """Splits texts into pieces of a vocabulary: the longest that fits first, `##` before one that goes on a word."""

    def __init__(self, vocabulary: Sequence[str], *, lower: bool, most: int) -> None:
        """`vocabulary` lists the pieces by number, `lower` drops case and accents, `most` pieces are kept of a text.

        KeyError when one of the marks that every such vocabulary has is not in it.
        """
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown, self._start, self._end = (self._numbers[mark] for mark in ("[UNK]", "[CLS]", "[SEP]"))
        self._lower = lower
        self._most = most

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text by number, between the marks of its start and its end."""
        found: list[int] = []
        for word in _words(_plain(text) if self._lower else _clean(text)):
            found += self._pieces(word)
            if len(found) >= self._most - 2:
                break
        return [self._start, *found[: self._most - 2], self._end]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST:
            return [self._unknown]
        found: list[int] = []
        at = 0
        while at < len(word):
            before = "##" if at else ""
            ends = range(len(word), at, -1)
            end = next((end for end in ends if before + word[at:end] in self._numbers), None)
            if end is None:
                return [self._unknown]
            found.append(self._numbers[before + word[at:end]])
            at = end
        return found


def _clean(text: str) -> str:
    """Without control characters, every ideograph a word of its own."""
    return "".join(_kept(char) for char in text)


def _kept(char: str) -> str:
    if char in "\t\n\r":
        return " "
    if char == "\ufffd" or unicodedata.category(char) in _INVISIBLE:
        return ""
    return f" {char} " if any(low <= ord(char) <= high for low, high in _IDEOGRAPHS) else char


def _plain(text: str) -> str:
    """Clean, without accents and in small letters, each character by itself."""
    parts = unicodedata.normalize("NFD", _clean(text))
    return "".join(char.lower() for char in parts if unicodedata.category(char) != "Mn")


def _words(text: str) -> Iterator[str]:
    """Runs without white space, each punctuation mark by itself."""
    for run in text.split():
        start = 0
        for at, char in enumerate(run):
            if char in _ASCII_MARKS or unicodedata.category(char).startswith("P"):
                if start < at:
                    yield run[start:at]
                yield char
                start = at + 1
        if start < len(run):
            yield run[start:]
