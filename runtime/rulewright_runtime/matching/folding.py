"""Folding: removes differences that are ignored when texts are compared, and maps spans back to the original text.

    fold_case(text)    simple case folding: one character for one, so that positions stay
    fold(text)         case and every difference of `TEXT`; `.text` is compared, `.span` maps a hit back

A literal hits a text if the folded text contains the folded literal. Both are folded with the same options:

    white_space   a run of spaces, tabs, line breaks, NBSP ... becomes one space
    apostrophes   every apostrophe becomes '
    quotes        every double quotation mark becomes "
    dashes        every dash becomes -
    emphasis      the Markdown marks * _ ` ~ and tatweel are removed; a single ` between letters becomes an apostrophe
    invisible     soft hyphens, zero width and bidirectional marks, variation selectors, BOM, controls are removed

With any option, canonically equivalent texts become equal (NFC), and a letter or digit in another form (full-width,
mathematical, in a circle, in a ligature, a digit of another script) is the letter or digit itself. Diacritics and
look-alike letters of other scripts are never folded.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Final

Edit = tuple[int, int, str]  # start, end and replacement of a piece of a text

_BLANK: Final = "\t-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000"  # and U+0020
_DROPPED: Final = {
    "emphasis": "*_`~\u0640\u07fa",  # the last two stretch Arabic and N'Ko words
    # Code points with the property Default_Ignorable_Code_Point, and control characters that are not spaces.
    "invisible": (
        "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
        "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
        "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    ),
}
_PLAIN: Final = {
    "apostrophes": dict.fromkeys(
        "\u05f3\u2018\u2019\u201a\u201b\u02b9\u02bb\u02bc\u02bd\u0374\u2032\u1fef\u1ffd\uff07\u00b4", "'"
    ),
    "quotes": dict.fromkeys("\u05f4\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
    "dashes": dict.fromkeys(  # those of Unicode's property Dash, and the wave dash as Windows writes it
        "\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2053\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d"
        "\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\uff5e\U00010d6e\U00010ead",
        "-",
    ),
}
DIFFERENCES: Final = ("white_space", *_PLAIN, *_DROPPED)
TEXT: Final = frozenset(DIFFERENCES)

_DOTTED_CAPITAL_I: Final = "\u0130"  # the only character whose lower case is longer
# Characters that are equal when case is ignored although their lower cases differ; each group folds to its first.
_GROUPS: Final = (
    *("i\u0131", "s\u017f", "\u00b5\u03bc", "\u0345\u03b9\u1fbe", "\u0390\u1fd3", "\u03b0\u1fe3", "\u03b2\u03d0"),
    *("\u03b5\u03f5", "\u03b8\u03d1", "\u03ba\u03f0", "\u03c0\u03d6", "\u03c1\u03f1", "\u03c2\u03c3", "\u03c6\u03d5"),
    *("\u1e61\u1e9b", "\ufb05\ufb06", "\u0432\u1c80", "\u0434\u1c81", "\u043e\u1c82", "\u0441\u1c83"),
    *("\u0442\u1c84\u1c85", "\u044a\u1c86", "\u0463\u1c87", "\ua64b\u1c88"),
)
_SAME: Final = {ord(other): group[0] for group in _GROUPS for other in group[1:]}
_OTHERS: Final = tuple(map(chr, _SAME))


def fold_case(text: str) -> str:
    """`text` under simple case folding: the length is kept, and texts are equal that IGNORECASE treats as equal.

    I, i and the Turkish \u0130 and \u0131 are one letter; \u00df equals \u1e9e and not ss.
    """
    if text.isascii():
        return text.lower()
    lowered = text.replace(_DOTTED_CAPITAL_I, "i").lower()
    # Most texts contain none of these, and testing for each is far cheaper than translating.
    return lowered.translate(_SAME) if any(map(lowered.__contains__, _OTHERS)) else lowered


class Folded:
    """A folded text that maps its spans to the original text."""

    __slots__ = ("_steps", "text")

    def __init__(self, text: str, steps: tuple[_Step, ...]) -> None:
        self.text = text
        self._steps = steps

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the original text of the characters from `start` to `end`.

        A character that replaces several is mapped to all of them.
        """
        for step in reversed(self._steps):
            start, end = step.back(start, end)
        return start, end


def fold(text: str, differences: frozenset[str] = TEXT, *, case: bool = True) -> Folded:
    """`text` without the `differences` (names of `DIFFERENCES`) and, if `case` is set, without case."""
    steps: list[_Step] = []
    if differences:
        text = _apply(steps, text, list(_plain_forms(text)))
        for expression, plain in _passes(differences):
            text = _apply(steps, text, [(*match.span(), plain(match.group())) for match in expression.finditer(text)])
        text = _apply(steps, text, list(_composed(text)))
    if case:
        text = fold_case(text)
        if differences:  # an upper case letter with a mark may have a composed lower case
            text = _apply(steps, text, list(_composed(text)))
    return Folded(text, tuple(steps))


def folded_text(text: str, differences: frozenset[str], *, case: bool = True) -> str:
    """`fold(text, differences, case=case).text`, many times as fast, without the mapping to the original."""
    if not differences:
        return fold_case(text) if case else text
    unusual = non_ascii(text)
    is_settled = all(map(_is_settled, unusual))
    plain = _replaced(text, unusual, differences, lower=case and is_settled)
    if is_settled:
        return plain
    lowered = fold_case(plain) if case else plain
    is_composed = all(unicodedata.is_normalized("NFC", each) for each in (plain, lowered))
    return lowered if is_composed else fold(text, differences, case=case).text


turn_folded: Final = lru_cache(maxsize=256)(folded_text)  # the matcher and quotes fold the same turns


def non_ascii(text: str) -> set[str]:
    if text.isascii():
        return set()
    return set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))


@cache
def _is_settled(char: str) -> bool:
    """Whether neither folding case nor composing changes `char`, whatever is before it."""
    return _plain_form(char) == fold_case(char) == unicodedata.normalize("NFC", char) == char and _is_starter(char)


def _replaced(text: str, unusual: Iterable[str], differences: frozenset[str], *, lower: bool) -> str:
    """`text` after the passes of the differences and, with `lower`, with ASCII in lower case; `unusual` are its
    characters that are not ASCII."""
    blanks, dropped, others = _replacements(differences, lower)
    for char in unusual:
        if (plain_form := _plain_form(char)) != char:
            text = text.replace(char, plain_form)
    if "`" in text and "apostrophes" in differences:
        expression, plain = _passes(differences)[0]
        text = expression.sub(lambda match: plain(match.group()), text)
    for char in unusual:
        if char in others:
            text = text.replace(char, others[char])
    data = text.encode("utf-8", "surrogatepass")
    if "white_space" not in differences:
        return data.translate(blanks, dropped).decode("utf-8", "surrogatepass")
    data = _LINE_BREAK.sub(b"\n", data).translate(blanks, dropped)  # the line breaks are most runs of spaces
    return (_SPACES.sub(b" ", data) if b"  " in data else data).decode("utf-8", "surrogatepass")


_LINE_BREAK: Final = re.compile(rb"\n\s+")
_SPACES: Final = re.compile(rb"  +")
_ASCII: Final = bytes(range(0x80))


@cache
def _replacements(differences: frozenset[str], lower: bool) -> tuple[bytes, bytes, dict[str, str]]:
    """What the differences do to ASCII, as a table and the characters that are dropped, and the replacement of each
    other character; removal takes precedence. With `lower` the table also maps letters to lower case."""
    plain_of = {char: plain for name, chars in _PLAIN.items() if name in differences for char, plain in chars.items()}
    if "white_space" in differences:
        plain_of |= dict.fromkeys(_members(_BLANK), " ")
    for name, chars in _DROPPED.items():
        if name in differences:
            plain_of |= dict.fromkeys(_members(chars), "")
    plain = "".join(plain_of.get(char) or char for char in map(chr, range(0x80))).encode() + bytes(range(0x80, 0x100))
    dropped = "".join(char for char, plain in plain_of.items() if char.isascii() and not plain).encode()
    others = {char: plain for char, plain in plain_of.items() if not char.isascii()}
    return plain.lower() if lower else plain, dropped, others


def _members(characters: str) -> Iterator[str]:
    """Yield the characters of a regular expression's character class."""
    for first, last, single in re.findall("(.)-(.)|(.)", characters, re.DOTALL):
        yield from single or map(chr, range(ord(first), ord(last) + 1))


# The characters that a difference affects or makes: no compatibility form of them is folded.
_AFFECTED: Final = frozenset(
    (
        *_members(f"{_BLANK} '\"-"),
        *_members("".join(_DROPPED.values())),
        *(char for each in _PLAIN.values() for char in each),
    )
)


@cache
def _plain_form(char: str) -> str:
    """The letters, digits and marks of which `char` is a compatibility form, else `char` itself.

    Left are signs that are next to a word or make another number: `™`, `№`, `º`, `²`, `½`.
    """
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    base, plain = unicodedata.normalize("NFD", char)[0], unicodedata.normalize("NFKC", char)
    tag = unicodedata.decomposition(base).partition(">")[0]
    if not tag.startswith("<") or not _AFFECTED.isdisjoint(char + plain):
        return char
    if tag in ("<wide", "<narrow"):
        return plain
    if unicodedata.category(base) == "So" and len(plain) > 1:
        return char
    if tag in ("<super", "<sub") and unicodedata.category(base) != "Lm":
        return char
    return plain if all(unicodedata.category(each)[0] in "LMN" for each in plain) else char


def _plain_forms(text: str) -> Iterator[Edit]:
    """Yield the edits that replace every character by its plain form."""
    plain_of = {char: plain for char in non_ascii(text) if (plain := _plain_form(char)) != char}
    if plain_of:
        yield from ((at, at + 1, plain_of[char]) for at, char in enumerate(text) if char in plain_of)


@cache
def _passes(differences: frozenset[str]) -> tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]:
    """The expression and the replacement of each pass; each pass works on the result of the previous one."""
    passes: list[tuple[str, Callable[[str], str]]] = []
    if "apostrophes" in differences:  # a backtick between letters is an apostrophe
        passes.append(("`(?<=[^\\W_]`)(?=[^\\W_])" if "emphasis" in differences else "`", lambda _: "'"))
    dropped = "".join(chars for name, chars in _DROPPED.items() if name in differences)
    if dropped:
        passes.append((f"[{dropped}]+", lambda _: ""))
    if "white_space" in differences:
        passes.append((f"[ {_BLANK}](?:[ {_BLANK}]+|(?<! ))", lambda _: " "))
    table = {char: plain for name, chars in _PLAIN.items() if name in differences for char, plain in chars.items()}
    if table:
        passes.append((f"[{''.join(table)}]", table.__getitem__))
    return tuple((re.compile(expression), plain) for expression, plain in passes)


class _Step:
    """One rewriting of a text: the edits in order, and the start of each in the new text."""

    __slots__ = ("_edits", "_starts")

    def __init__(self, edits: list[Edit]) -> None:
        self._edits = edits
        self._starts: list[int] = []
        shift = 0
        for start, end, plain in edits:
            self._starts.append(start + shift)
            shift += len(plain) - (end - start)

    def back(self, start: int, end: int) -> tuple[int, int]:
        first = self._origin(start)[0]
        return first, self._origin(end - 1)[1] if end > start else first

    def _origin(self, position: int) -> tuple[int, int]:
        """The span in the old text of the character at `position` of the new text."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position, position + 1
        start, end, plain = self._edits[index]
        beyond = position - self._starts[index] - len(plain)
        return (start, end) if beyond < 0 else (end + beyond, end + beyond + 1)


def _apply(steps: list[_Step], text: str, edits: list[Edit]) -> str:
    """`text` after the edits, which are appended as a step if there are any."""
    if not edits:
        return text
    steps.append(_Step(edits))
    parts: list[str] = []
    done = 0
    for start, end, plain in edits:
        parts += text[done:start], plain
        done = end
    return "".join([*parts, text[done:]])


def _composed(text: str) -> Iterator[Edit]:
    """Yield the edits that bring `text` into the composed form (NFC)."""
    if unicodedata.is_normalized("NFC", text):
        return
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or _is_starter(text[end]):
            piece = text[start:end]
            composed = unicodedata.normalize("NFC", piece)
            if composed != piece:
                yield start, end, composed
            start = end


def _is_starter(char: str) -> bool:
    """Whether `char` can't be composed with a character before it."""
    if char < "\u0300":
        return True
    return unicodedata.category(char) not in ("Mn", "Mc", "Me") and not (
        "\u1100" <= char <= "\u11ff" or "\U00016d63" <= char <= "\U00016d6a"
    )
