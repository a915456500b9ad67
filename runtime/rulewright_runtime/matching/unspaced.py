"""Words: which characters are part of one and, in scripts without spaces, how many of them count as one."""

import re
import unicodedata
from functools import cache
from typing import Final

# By the number of characters that count as a word: Chinese and Japanese; Thai, Lao, Tibetan, Burmese and Khmer.
_BY_SIZE: Final = {
    2: r"\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    4: r"\u0e01-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3",
}
LETTERS: Final = "".join(_BY_SIZE.values())  # for a class of a regular expression
_FIRST: Final = "\u0e01"
_FIRST_MARK: Final = "\u0300"


def is_part_of_word(char: str) -> bool:
    """Whether a character is a letter, a digit or a mark on one; False for an empty text."""
    return char.isalnum() or is_mark(char)


def is_mark(char: str) -> bool:
    """Whether a character is a vowel sign, an accent or another mark on the letter before it."""
    return char >= _FIRST_MARK and unicodedata.category(char).startswith("M")


@cache
def _one_of(letters: str) -> re.Pattern[str]:
    """The expression for one of these letters. Compiling it takes milliseconds, and many runs need none."""
    return re.compile(f"[{letters}]")


def is_unspaced(char: str) -> bool:
    """Whether a character is of a script without spaces between words; False for an empty text."""
    return char >= _FIRST and _one_of(LETTERS).match(char) is not None


def without_unspaced(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with a space in place of each character of these scripts, and their counts: how many there are,
    and how many of these are a word."""
    if text.isascii():
        return text, []
    counts = []
    for size, letters in _BY_SIZE.items():
        text, count = _one_of(letters).subn(" ", text)
        counts.append((count, size))
    return text, counts
