"""The text matcher: where the lexicons of a plan hit a text, and exactly what they hit.

All patterns that are looked for in one role's turns are fused into one RE2 expression that runs once over those turns
and says in which of them there may be something (`Matcher.may_hit`); that is confirmed pattern by pattern with exact
rules. Without RE2 the confirmation alone decides, with the same answers:

    substring_ci   equal under simple case folding, which is what Python's IGNORECASE does with a literal
    contains_ci    `pattern.lower() in text.lower()`
    regex          RE2's leftmost match
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.regex import compile_regex

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from rulewright_runtime.plan import Lexicon, Pattern

FUSED_MEMORY: Final = 64 * 2**20
_DOTTED_CAPITAL_I: Final = "\u0130"  # the one character whose lower case is longer than itself
# Characters that are equal when case is ignored although their lower cases differ; the first stands for its group.
_GROUPS: Final = (
    *("i\u0131", "s\u017f", "\u00b5\u03bc", "\u0345\u03b9\u1fbe", "\u0390\u1fd3", "\u03b0\u1fe3", "\u03b2\u03d0"),
    *("\u03b5\u03f5", "\u03b8\u03d1", "\u03ba\u03f0", "\u03c0\u03d6", "\u03c1\u03f1", "\u03c2\u03c3", "\u03c6\u03d5"),
    *("\u1e61\u1e9b", "\ufb05\ufb06", "\u0432\u1c80", "\u0434\u1c81", "\u043e\u1c82", "\u0441\u1c83"),
    *("\u0442\u1c84\u1c85", "\u044a\u1c86", "\u0463\u1c87", "\ua64b\u1c88"),
)
_SAME: Final = {ord(other): group[0] for group in _GROUPS for other in group[1:]}
_OTHERS: Final = tuple(map(chr, _SAME))
_FOLDS: Final = {
    "apostrophes": dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc\u02b9\uff07\u0060\u00b4"), "'"),
    "quotes": dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02"), '"'),
    "spaces": dict.fromkeys(map(ord, "\t\n\r\u00a0\u1680\u2007\u2009\u200a\u202f\u205f\u3000"), " ")
    | dict.fromkeys(range(0x2000, 0x2007), " "),
}
# What an ASCII letter equals besides its two cases, under either substring mode.
_ALSO: Final = {"i": "\u0131\u0130", "s": "\u017f", "k": "\u212a"}


class Span(msgspec.Struct, frozen=True):
    """One hit: the pattern as written, the exact text and where it stands (code points)."""

    lexicon: str
    pattern: str
    start: int
    end: int
    text: str


def fold_case(text: str) -> str:
    """`text` under simple case folding: same length, and equal texts are those IGNORECASE takes for equal."""
    if text.isascii():
        return text.lower()
    lowered = text.replace(_DOTTED_CAPITAL_I, "i").lower()
    # Most texts hold none of these, and looking for each is far cheaper than translating.
    return lowered.translate(_SAME) if any(char in lowered for char in _OTHERS) else lowered


def match(lexicons: Mapping[str, Lexicon], text: str) -> tuple[Span, ...]:
    """The first hit of every lexicon in `text`, in the order of the lexicons.

    Within a lexicon the patterns are tried in order, and the first that occurs gives its leftmost occurrence.
    """
    found = (first(name, lexicon, text) for name, lexicon in lexicons.items())
    return tuple(span for span in found if span is not None)


def first(name: str, lexicon: Lexicon, text: str) -> Span | None:
    """The first hit of one lexicon in `text`, or None."""
    table = _fold_table(lexicon.fold)
    seen = text.translate(table) if table else text
    for pattern in lexicon.patterns:
        place = _find(pattern, seen, table)
        if place is not None:
            return Span(name, pattern.pattern, *place, text[place[0] : place[1]])
    return None


def _find(pattern: Pattern, text: str, table: dict[int, str]) -> tuple[int, int] | None:
    if pattern.mode == "regex":
        found = compile_regex(pattern.pattern).search(text)
        return found.span() if found else None
    literal = pattern.pattern.translate(table) if table else pattern.pattern
    if pattern.mode == "contains_ci":
        return _find_lowered(literal.lower(), text)
    start = _folded(text).find(_folded_pattern(literal))
    return None if start < 0 else (start, start + len(literal))


@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return fold_case(text)


@lru_cache(maxsize=65536)
def _folded_pattern(literal: str) -> str:
    return fold_case(literal)


@lru_cache(maxsize=64)
def _lowered(text: str) -> str:
    return text.lower()


def _find_lowered(needle: str, text: str) -> tuple[int, int] | None:
    """As `needle in text.lower()`, with the place in `text`, whose characters may grow when lowered."""
    lowered = _lowered(text)
    start = lowered.find(needle)
    if start < 0:
        return None
    end = start + len(needle)
    if len(lowered) == len(text):
        return start, end
    origin = [index for index, char in enumerate(text) for _ in (char.lower() if char == _DOTTED_CAPITAL_I else char)]
    return origin[start], origin[end - 1] + 1


@cache
def _fold_table(fold: tuple[str, ...]) -> dict[int, str]:
    return {code: char for name in fold for code, char in _FOLDS[name].items()}


class Matcher:
    """The fused prefilter of the lexicons that are looked for in the turns of each role."""

    def __init__(self, lexicons: Mapping[str, Mapping[str, Lexicon]], *, prefilter: bool = True) -> None:
        """`lexicons` maps a role to what is looked for in its turns. Without `prefilter`, or RE2, all may hit."""
        self._fused: dict[str, re.Pattern[str]] = {}
        self._covered: dict[str, frozenset[str]] = {}
        for role, wanted in lexicons.items():
            fused = _fuse(list(wanted.values())) if prefilter else None
            if fused is not None:
                self._fused[role] = fused
                self._covered[role] = frozenset(wanted)

    def covers(self, role: str, name: str) -> bool:
        """Whether `may_hit` speaks for the lexicon `name` in the turns of `role`."""
        return name in self._covered.get(role, ())

    def may_hit(self, role: str, texts: Sequence[str]) -> list[int]:
        """The indices of the `texts` outside which no covered lexicon of `role` hits."""
        fused: Any = self._fused.get(role)  # RE2 reads UTF-8 bytes, whatever its stub says
        if fused is None:
            return list(range(len(texts)))
        parts = [text.encode() for text in texts]
        data = b"\n".join(parts)
        found = fused.search(data)
        places: list[int] = []
        if found is None:
            return places
        starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
        while found is not None:
            first_text, last_text = (bisect_right(starts, offset) - 1 for offset in found.span())
            places += range(first_text, min(last_text + 1, len(parts)))
            if last_text + 1 >= len(parts):
                break
            found = fused.search(data, starts[last_text + 1])
        return places


def _fuse(lexicons: Sequence[Lexicon]) -> re.Pattern[str] | None:
    """One expression that matches wherever one of the patterns may; None where that can't be promised."""
    parts: list[str] = []
    for lexicon in lexicons:
        if lexicon.fold:
            return None
        for pattern in lexicon.patterns:
            part = _widened_regex(pattern.pattern) if pattern.mode == "regex" else _widened_literal(pattern.pattern)
            if part is None:
                return None
            parts.append(part)
    if not parts:
        return None
    try:
        import re2
    except ImportError:
        return None
    options = re2.Options()
    options.max_mem = FUSED_MEMORY
    options.never_capture = True
    options.log_errors = False
    try:
        # Sorted, so that RE2 sees which begin alike and need be told apart only behind that.
        fused: re.Pattern[str] = re2.compile("|".join(sorted(set(parts))), options)
    except re2.error:  # too large when fused; every pattern alone was accepted
        return None
    return fused


def _widened_literal(literal: str) -> str | None:
    """An expression that matches, in UTF-8, at least everything that `literal` matches in either substring mode."""
    if "\u0307" in literal:  # half of what a dotted capital I becomes when lowered
        return None
    return "".join(map(_widened_char, literal))


@cache
def _widened_char(char: str) -> str:
    lower = char.lower()
    if lower.isascii() and lower.isalpha():
        return f"[{lower}{lower.upper()}{_ALSO.get(lower, '')}]"
    if char.isascii():
        return char if char.isalnum() else f"\\x{ord(char):02x}"
    cased = lower != char or char.upper() != char or ord(char) in _SAME or char in _SAME.values()
    return "(?s:.)" if cased else char


def _widened_regex(pattern: str) -> str | None:
    """`pattern` for joined texts: the ends of a text become the ends of a line. None where it pins them itself."""
    if "\\A" in pattern or "\\z" in pattern or "(?-" in pattern or "\\C" in pattern or "\\Q" in pattern:
        return None
    flags = pattern.split("(?")[1:]
    if any("-" in group.partition(")")[0].partition(":")[0] for group in flags):
        return None
    return f"(?m:{pattern})"
