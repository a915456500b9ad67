"""Similarity: finds a phrase in a text, exactly or nearly.

Exact and fuzzy search are both deterministic and need no library: texts are compared word by word, ignoring case,
apostrophes and punctuation, or letter by letter in scripts without spaces. The similarity of two phrases is
`2 * common / (length + length)`, where `common` is the length of their longest common subsequence of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from rulewright_runtime.matching.folding import non_ascii
from rulewright_runtime.matching.unspaced import LETTERS, is_mark, is_unspaced

SHORT: Final = 4  # characters; a shorter phrase is similar to too many others, so only an exact match counts
MAX_TEXT: Final = 100_000  # characters; a longer text is only searched exactly
_APOSTROPHES: Final = "'\u2019\u02bc"


class SimilarSpan(msgspec.Struct, frozen=True):
    """The span of a phrase in a text and its likeness in [0, 1]: 1 is an exact match."""

    start: int
    end: int
    likeness: float


def words(text: str) -> list[tuple[str, int, int]]:
    """The folded words of a text, each with its start and end. In scripts without spaces, each letter is one.

    Marks and invisible characters are part of the word that they follow.
    """
    unusual = non_ascii(text)
    unspaced = set(filter(is_unspaced, unusual))
    attached = "".join(sorted(char for char in unusual - unspaced if is_mark(char) or _is_invisible(char)))
    pattern = _word(attached, bool(unspaced))
    return [(_fold(each.group()), *each.span()) for each in pattern.finditer(text)]


@lru_cache(maxsize=256)
def _word(attached: str, holds_unspaced: bool) -> re.Pattern[str]:
    letter = rf"[^\W_{LETTERS}]" if holds_unspaced else r"[^\W_]"
    letters = rf"(?:{letter}[{attached}]*)+" if attached else f"{letter}+"
    word = f"{letters}(?:[{_APOSTROPHES}]{letters})*"
    return re.compile(rf"[{LETTERS}]|{word}" if holds_unspaced else word)


def find(phrase: str, text: str, at_least: float = 1.0) -> SimilarSpan | None:
    """The first exact match of `phrase` in `text`, else the most similar span with a likeness of `at_least`, else None.

    A phrase without a word is never found.
    """
    phrase_words = [word for word, _, _ in words(phrase.replace("_", " "))]
    text_words = words(text)
    if not phrase_words:
        return None
    size = len(phrase_words)
    plain = [word for word, _, _ in text_words]
    for index in range(len(text_words) - size + 1):
        if plain[index : index + size] == phrase_words:
            return SimilarSpan(text_words[index][1], text_words[index + size - 1][2], 1.0)
    joined = "".join(_pieces(phrase_words)).lstrip()
    if at_least >= 1 or len(joined) < SHORT or len(text) > MAX_TEXT:
        return None
    return _most_similar(joined, size, text_words, at_least)


def _most_similar(
    joined: str, size: int, text_words: list[tuple[str, int, int]], at_least: float
) -> SimilarSpan | None:
    """The most similar window of `size` words, one less or one more; in a tie the first one tried wins."""
    best: SimilarSpan | None = None
    masks, pieces = bit_masks(joined), _pieces(word for word, _, _ in text_words)
    for length in (size, size - 1, size + 1):
        for index in range(len(text_words) - length + 1 if length > 0 else 0):
            window = "".join(pieces[index : index + length]).lstrip()
            shorter, longer = sorted((len(window), len(joined)))
            if 2 * shorter < at_least * (shorter + longer):  # the lengths differ too much
                continue
            score = 2 * _common(masks, len(joined), window) / (shorter + longer)
            if score >= at_least and (best is None or score > best.likeness):
                best = SimilarSpan(text_words[index][1], text_words[index + length - 1][2], score)
    return best


def _pieces(words: Iterable[str]) -> list[str]:
    """The parts of a text of these words: a space comes before those of scripts that have spaces."""
    return [word if is_unspaced(word[:1]) else f" {word}" for word in words]


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence of two texts or of two lists of words."""
    return _common(bit_masks(one), len(one), other)


def bit_masks(text: Sequence[str]) -> dict[str, int]:
    """For every character or word, its positions as the bits of a number."""
    masks: dict[str, int] = {}
    for index, char in enumerate(text):
        masks[char] = masks.get(char, 0) | 1 << index
    return masks


def _common(masks: dict[str, int], size: int, other: Sequence[str]) -> int:
    """The length of the longest common subsequence of `other` and the text of `size` characters with these `masks`.

    A row of the usual table is one number: its zero bits are where the row grows (Hyyro's bit-parallel form).
    """
    whole = row = (1 << size) - 1
    for char in other:
        hit = row & masks.get(char, 0)
        row = ((row + hit) | (row - hit)) & whole
    return size - row.bit_count()


def _fold(word: str) -> str:
    plain = "".join(char for char in word if char not in _APOSTROPHES and not _is_invisible(char))
    return unicodedata.normalize("NFC", plain).casefold()


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf"
