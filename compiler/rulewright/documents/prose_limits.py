"""Numbers and limits in an author's prose: `at most three times`, `less than 20 cents`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

_UNITS: Final = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS: Final = {
    **{word: at for at, word in enumerate(_UNITS.split())},
    **{word: 10 * at for at, word in enumerate(_TENS.split(), 2)},
    "once": 1,
    "twice": 2,
}
FRACTIONS: Final = {"half": 0.5, "a third": 1 / 3, "two thirds": 2 / 3, "a quarter": 0.25, "three quarters": 0.75}
_FRACTION: Final = "|".join(sorted(FRACTIONS, key=len, reverse=True))
_WORD: Final = "|".join(sorted(NUMBERS, key=len, reverse=True))
NUMBER: Final = rf"(?:\d[\d,]*(?:\.\d+)?|(?:{_FRACTION})(?= of)|(?:{_WORD})(?:-(?:{_WORD}))?)\b"
ONE: Final = re.compile(rf"\b(?P<number>{NUMBER})[ -]?(?P<unit>%|[a-z]+)?", re.IGNORECASE)
LIMITS: Final = (
    (r"\b(?:at most|no more than|not more than|up to|within(?: the next)?|the next|a maximum of) N", "<="),
    (r"\b(?<!than )(?<!most )N(?: (?!(?:and|but|or)\b)[a-z]+){1,4} at most\b", "<="),
    (r"\b(?:(?:less|fewer) than|under|below) N", "<"),
    (r"\b(?:at least|no fewer than|no less than) N", ">="),
    (r"\b(?<!no )(?<!not )(?:more than|above) N", ">"),
    (r"\bbetween N and", ""),
    (rf"\bbetween {NUMBER} and N", ""),
)
# A word of every limit; a search for it is fast.
LIMITING: Final = re.compile(r"above|below|between|least|maximum|most|than|the next|under|up to|within", re.IGNORECASE)
# Units with their factor, by what they measure.
MEASURES: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys(("ms", "millis", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "latency"), ("time", 1)),
    **dict.fromkeys(("minute", "minutes", "mins"), ("time", 60)),
    **dict.fromkeys(("hour", "hours", "o"), ("time", 3600)),  # `at six o'clock`
    **dict.fromkeys(("day", "days"), ("time", 86400)),
    **dict.fromkeys(("week", "weeks"), ("time", 604800)),
    **dict.fromkeys(("month", "months"), ("time", 2629800)),
    **dict.fromkeys(("year", "years"), ("time", 31557600)),
    **dict.fromkeys(("dollar", "dollars", "usd", "cost", "euro", "euros"), ("money", 1)),
    **dict.fromkeys(("cent", "cents"), ("money", 0.01)),
    **dict.fromkeys(("%", "percent"), ("share", 0.01)),
    **dict.fromkeys(("word", "words"), ("words", 1)),
    **dict.fromkeys(("sentence", "sentences"), ("sentences", 1)),
    **dict.fromkeys(("character", "characters", "letters"), ("characters", 1)),
    "items": ("items", 1),
}

COUNTED: Final = frozenset({"words", "sentences", "characters"})


class Limit(Struct, frozen=True):
    """A limit that words name: `<=` for `at most`, and empty for `between`."""

    number: float
    unit: str
    operator: str
    text: str


def limits_in(words: str) -> Iterator[Limit]:
    """The limits that words name, in the order of their forms."""
    for form, operator in LIMITS if LIMITING.search(words) and ONE.search(words) else ():
        for found in _compiled(form).finditer(words):
            if found["unit"] == "of" and ONE.match(words, found.end() + 1):  # `three of five` is a share
                continue
            yield Limit(_number(found["number"]), _unit(words, found), operator, found[0])


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form.replace("N", rf"(?P<number>{NUMBER})(?:[ ]?(?P<unit>%|[a-z]+))?"), re.IGNORECASE)


def numbers_in(words: str) -> list[tuple[float, str]]:
    """All numbers that words name, with the word after each."""
    return [(_number(found["number"]), _unit(words, found)) for found in ONE.finditer(words)]


def _unit(words: str, found: re.Match[str]) -> str:
    """The word after a number; in `5 and 20 percent` the one after the second number."""
    more = ONE.match(words, found.end() + 1) if found[0].lower().endswith((" and", " or", " to")) else None
    return ((found if more is None else more)["unit"] or "").lower()


def unit_of(name: str) -> str:
    """What a word, or the words of a name, measure; empty if unknown."""
    return next(
        (MEASURES[word][0] + f" {MEASURES[word][1]}" for word in name.lower().split("_") if word in MEASURES), ""
    )


def may_measure(unit: str, measured: str) -> bool:
    """Whether a number with this unit may be meant by the word after a number in prose."""
    kind, other = unit_of(unit).split()[:1], measured.split()[:1]
    return not other or kind == other or (not kind and other == ["items"])


def units_agree(number: float, unit: str, value: float, measured: str) -> bool:
    """Whether a number in words, with the word after it, is the value with this unit."""
    kind, factor = MEASURES.get(unit, ("", 1.0))
    other, by = measured.rsplit(" ", 1) if measured else ("", "1")
    if kind != other and {kind, other} <= COUNTED:
        return False
    if kind and kind == other:
        return abs(number * factor - value * float(by)) <= 1e-9 * max(1.0, abs(value))
    if kind == "share":
        return any(abs(value - each) <= 1e-9 for each in (number, number * factor, 1 - number * factor))
    return value == number or (kind != "" and not other and value == number * factor)


def _number(text: str) -> float:
    if text.lower() in FRACTIONS:
        return FRACTIONS[text.lower()]
    digits = text.replace(",", "")
    return float(digits) if digits[:1].isdigit() else float(sum(NUMBERS[each] for each in text.lower().split("-")))
