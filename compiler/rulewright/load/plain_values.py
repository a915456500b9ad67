"""Values of plain scalars by the core schema of YAML 1.2: `yes` is text, `1e3` a number, `0o17` fifteen."""

from __future__ import annotations

import math
import re

from rulewright.load.load_errors import MAX_DIGITS
from rulewright.load.nodes import Plain

# A plain scalar that starts with another character is text; the empty scalar is null.
STARTS = frozenset("0123456789+-.~nNtTfF") | {""}

_WORDS: dict[str, Plain] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMBERS = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")


def value_of(text: str) -> Plain:
    """Return the value of a plain scalar; raises OverflowError for a finite number out of range or too long."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBERS:
        return text
    if _INT.match(text):
        return number(text)
    if _FLOAT.match(text):
        return number(text)
    if _BASED.match(text):
        if len(text) > MAX_DIGITS:
            raise OverflowError(text)
        return int(text[2:], 8 if text[1] == "o" else 16)
    return text


def number(text: str) -> int | float:
    """Return the number of a decimal text: an int without point and exponent, else a float; raises OverflowError."""
    if len(text) > MAX_DIGITS:
        raise OverflowError(text)
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise OverflowError(text)
    return value
