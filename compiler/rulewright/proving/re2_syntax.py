"""Reads RE2 expressions as languages. Which characters a class holds is asked of RE2 itself."""

import re
from array import array
from functools import lru_cache
from typing import Final

from rulewright.proving.languages import (
    BOUNDARY,
    EMPTY,
    END,
    START,
    Language,
    Ranges,
    examples,
    has_text,
    holding,
    intersection,
    literal,
    one_of,
    repeated,
    sequence,
    union,
)
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.functions.strings import compile_pattern

LONGEST_PROVED: Final = 2000  # characters; the search of a longer expression for its own example is quadratic
_MOST_COUNT: Final = 100  # repetitions that are written out
_EVERY: Final = (range(0xD800), range(0xE000, 0x110000))
_GROUP: Final = re.compile(r"\((?:\?(?:P?<\w+>|([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])))?")
_REPEAT: Final = re.compile(r"(?:([*+?])|\{(\d+)(,?)(\d*)\})\??")
_CLASS: Final = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[pP](?:\{\^?\w+\}|\w)|0[0-7]{0,2}|[1-7][0-7]{1,2}|.)", re.DOTALL
)
# A class of ASCII may hold other characters: a negated or named one, and one with the number of a character.
_BEYOND: Final = re.compile(r"\^|\\[DWSpPx0-7]")
_ASCII: Final = "".join(map(chr, range(128)))
_CASED: Final = r"[\p{Lu}\p{Ll}\p{Lt}\p{Nl}\p{So}\x{345}]+"
_ASSERTIONS: Final = {"^": START, "$": END, r"\A": START, r"\z": END, r"\b": BOUNDARY}
_REFUSED: Final = (r"\Q", r"\E", r"\C", r"\B")  # \B also holds between the bytes of a character


class UnreadableError(Exception):
    """The expression has a part that is not read as a language."""


def samples(expression: str) -> list[str]:
    """A few texts, most of which the expression matches; none for an invalid expression."""
    try:
        found = language_of(expression, is_rough=True)
        return [] if found is None else examples(found)
    except RecursionError:
        return []


@lru_cache(maxsize=512)
def language_of(expression: str, *, is_rough: bool = False) -> Language | None:
    """The texts that the expression matches as a whole; None for an invalid expression, and for one with parts that
    are not read: lines (`(?m)`), quoted parts (`\\Q`), bytes, `\\B`, and many repetitions. A rough language is that
    without regard to these parts."""
    try:
        compile_pattern(expression)
        parser = _Parser(expression, is_rough)
        found = parser.alternatives("")
    except (UnreadableError, RuntimeFailure, RecursionError):
        return None
    return found if parser.at == len(expression) else None


def is_without_match(expression: str) -> bool:
    """Whether it is proved that the expression matches nothing that people write: no text without the long s and the
    sign of kelvin, which `(?i)\\w` matches. Nothing is proved of very long and very deep expressions."""
    language = None if len(expression) > LONGEST_PROVED else language_of(expression)
    if language is None or not (likely := samples(expression)):
        return False
    if compile_pattern(expression).search(likely[0]):  # a proof takes longer
        return False
    written = repeated(one_of([(0, 0x17F), (0x180, 0x212A), (0x212B, 0x110000)]))
    return has_text(intersection([holding(language), written])) is False


class _Parser:
    """Reads an expression from left to right; `flags` are those of the group that is read."""

    def __init__(self, expression: str, is_rough: bool) -> None:
        self.expression = expression
        self.is_rough = is_rough
        self.at = 0

    def refuse(self) -> None:
        if not self.is_rough:
            raise UnreadableError

    def taken(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.expression, self.at)
        self.at = self.at if found is None else found.end()
        return found

    def alternatives(self, flags: str) -> Language:
        """Everything up to the end of the group."""
        found: list[Language] = []
        parts: list[Language] = []
        while (here := self.expression[self.at : self.at + 1]) not in ("", ")"):
            if here == "|":
                self.at += 1
                found.append(sequence(parts))
                parts = []
            elif here == "(":
                inside, flags = self.group(flags)
                parts.append(self.with_repeats(inside))
            else:
                parts.append(self.with_repeats(self.atom(here, flags)))
        return union([*found, sequence(parts)])

    def group(self, flags: str) -> tuple[Language, str]:
        """A group, and the flags that hold after it."""
        opened = self.taken(_GROUP)
        if opened is None:
            raise UnreadableError
        changed = "".join(sorted({*flags, *(opened[1] or "")} - {*(opened[2] or "")}))
        if "m" in changed:
            self.refuse()
        if opened[3] == ")":
            if self.taken(_REPEAT):  # repeats what is before the flags
                raise UnreadableError
            return EMPTY, changed
        inside = self.alternatives(changed)
        self.at += 1
        return inside, flags

    def atom(self, here: str, flags: str) -> Language:
        if here in "^$":
            self.at += 1
            return Language("at", _ASSERTIONS[here])
        if here in ".[\\":
            found = self.taken(_CLASS if here == "[" else _ESCAPE) if here != "." else self.taken(re.compile(r"\."))
            if found is None:
                raise UnreadableError
            if found[0] in _REFUSED:
                self.refuse()
                return EMPTY
            is_assertion = found[0] in _ASSERTIONS
            return Language("at", _ASSERTIONS[found[0]]) if is_assertion else one_of(_characters(found[0], flags))
        self.at += 1
        return one_of(_characters(re.escape(here), flags)) if "i" in flags else literal(here)

    def with_repeats(self, language: Language) -> Language:
        while repeat := self.taken(_REPEAT):
            language = self.times(language, repeat)
        return language

    def times(self, language: Language, repeat: re.Match[str]) -> Language:
        if repeat[1]:
            several = repeated(language)
            return {"*": several, "+": sequence([language, several])}.get(repeat[1], union([EMPTY, language]))
        least = int(repeat[2])
        most = least if not repeat[3] else int(repeat[4]) if repeat[4] else None
        if max(least, most or 0) > _MOST_COUNT:
            self.refuse()
            most = None
        rest = repeated(language) if most is None else EMPTY
        for _ in range((most or least) - least):
            rest = union([EMPTY, sequence([language, rest])])
        return sequence([*[language] * least, rest])


@lru_cache(maxsize=256)
def _characters(source: str, flags: str) -> Ranges:
    """The characters that an expression for one character matches."""
    kept = "".join(each for each in flags if each in "is")
    is_wide = source == "." or (len(source) > 1 and not source.isascii()) or _BEYOND.search(source)
    searched = _every() if is_wide else source + _ASCII + (_cased() if "i" in flags else "")
    found = compile_pattern(f"(?{kept}:{source})+" if kept else f"(?:{source})+").finditer(searched)
    runs = [searched[each.start() : each.end()] for each in found]
    if is_wide:
        return tuple([(ord(run[0]), ord(run[-1]) + 1) for run in runs])
    return tuple([(ord(each), ord(each) + 1) for run in runs for each in run])


@lru_cache(maxsize=1)
def _cased() -> str:
    """All characters that have another case."""
    return "".join(each[0] for each in compile_pattern(_CASED).finditer(_every()))


@lru_cache(maxsize=1)
def _every() -> str:
    return b"".join(array("I", codes).tobytes() for codes in _EVERY).decode("utf-32")  # five times as fast as `chr`
