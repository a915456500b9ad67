"""Numbers and limits in an author's prose: `at most three times`, `less than 20 cents`."""

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
_DIGIT: Final = "|".join(_UNITS.split()[1:10])
NUMBER: Final = rf"(?:\d[\d,]{{0,20}}(?:\.\d+)?|(?:{_FRACTION})(?= of)|(?:{_WORD})(?:-(?:{_DIGIT}))?)\b"
ONE: Final = re.compile(rf"\b(?P<number>{NUMBER})[ -]?(?P<unit>%|[a-z]+)?", re.IGNORECASE)
# How limits are worded: words with the operator of each, and their place (`W`) beside the number (`N`).
LIMITS: Final[tuple[tuple[dict[str, str], str], ...]] = (
    (
        {
            **dict.fromkeys(("at most", "no more than", "not more than", "up to", "within the next", "within"), "<="),
            **dict.fromkeys(("the next", "a maximum of"), "<="),
            **dict.fromkeys(("less than", "fewer than", "under", "below"), "<"),
            **dict.fromkeys(("at least", "no fewer than", "not fewer than", "no less than", "not less than"), ">="),
            **dict.fromkeys(("more than", "above"), ">"),
        },
        r"\b(?<!no )(?<!not )W N",
    ),
    ({"at most": "<="}, r"\b(?<!than )(?<!most )N(?: (?!(?:and|but|or)\b)[a-z]+){1,4} W\b"),
    (
        {
            **dict.fromkeys(("more", "older", "over", "above", "up"), ">="),
            **dict.fromkeys(("less", "fewer", "younger", "under", "below"), "<="),
        },
        rf"\b(?!(?:once|twice) and)N (?:and|or) W\b(?! (?:than\b|to\b|[$£€¥]|{NUMBER}))",
    ),  # `once and above all` names no limit, and in `more than 3 or less than 9` another limit begins
    ({"between": ""}, r"\bW N and"),
    ({"between": ""}, rf"\bW {NUMBER} and N"),
)
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
    lowered = words.lower()
    for operators, form in LIMITS:
        if not any(each in lowered for each in operators):  # much faster than the expression
            continue
        for found in _compiled(form, "|".join(operators)).finditer(words):
            if found["unit"] == "of" and ONE.match(words, found.end() + 1):  # `three of five` is a share
                continue
            yield Limit(number_of(found["number"]), _unit(words, found), operators[found["how"].lower()], found[0])
    if "never twice" in lowered:
        yield Limit(1, "", "<=", words[(at := lowered.index("never twice")) : at + len("never twice")])


@cache
def _compiled(form: str, wording: str) -> re.Pattern[str]:
    number = rf"(?:[$£€¥] ?)?(?P<number>{NUMBER})(?:[ ]?(?P<unit>%|[a-z]+)(?:(?<=\bo)['\u2019]clock)?)?"
    return re.compile(form.replace("N", number).replace("W", f"(?P<how>{wording})"), re.IGNORECASE)


def numbers_in(words: str) -> list[tuple[float, str]]:
    """All numbers that words name, with the word after each."""
    return [(number_of(found["number"]), _unit(words, found)) for found in ONE.finditer(words)]


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


def number_of(text: str) -> float:
    """The value of a number in words or digits that `NUMBER` matches."""
    if text.lower() in FRACTIONS:
        return FRACTIONS[text.lower()]
    digits = text.replace(",", "")
    return float(digits) if digits[:1].isdigit() else float(sum(NUMBERS[each] for each in text.lower().split("-")))
