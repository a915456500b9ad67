"""Personal data in a text: email addresses, phone numbers, bank accounts and payment cards, with verified check digits.

ibans           ISO 13616: the country's length, and the remainder 1 modulo 97 (ISO 7064)
card_numbers    ISO/IEC 7812: 13 to 19 digits, the first 2 to 6, with Luhn's check digit
emails          RFC 5321 and 6531: letters of any script, domains as letters or as `xn--`
phone_numbers   E.164: 7 to 15 digits, written with `+`, brackets or separators; no dates, no plain numbers

Digits, letters, dashes and spaces of other scripts and fonts count as their ASCII forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final

from rulewright_runtime.functions.table import Table, typed
from rulewright_runtime.functions.texts import Span, Spans, find_spans, listed
from rulewright_runtime.matching.folding import fold

_SPACED: Final = r"\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Devanagari}"  # scripts with spaces between words
_DENSE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}"
_EMAIL: Final = (
    rf"(?i)(?:[\p{{Latin}}{_SPACED}0-9][\p{{Latin}}{_SPACED}\pM0-9._%+\-]*|[{_DENSE}]+)"
    r"@(?:[\pL0-9](?:[\pL\pM0-9\-]*[\pL\pM0-9])?\.)+"
    rf"(?:xn--[a-z0-9\-]+|[a-z]{{2,24}}\b|[{_SPACED}]{{2,24}}|[{_DENSE}]{{2,3}})"
)
_IBAN: Final = r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{2,4}){3,8}(?: ?[A-Z0-9]{1,3})?\b"
_CARD: Final = r"\b[2-6][0-9]{3}(?:[ \-]?[0-9]){9,15}\b"
_PHONE: Final = (
    r"\+[0-9]{1,3}\)?(?:[ .\-]?\(0\))?[ .\-/]?\(?[0-9]{1,5}\)?(?: / )?(?:[ .\-/]?\(?[0-9]{2,5}\)?){1,5}\b"
    r"|(?:\(?\b0[0-9]{2,5}\)? / |\(?\b0[0-9]{1,5}\)?|\(?\b[0-9]{3}\)?)(?:[ .\-/]?\(?[0-9]{2,5}\)?){1,6}\b"
)
_DATE: Final = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}")
_PLAIN: Final = re.compile(r"[\d.]+")  # an amount, a version, an IP address
_DASHES: Final = frozenset({"dashes"})
_SPACES: Final = str.maketrans(dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "))
_IBAN_LENGTHS: Final[Mapping[str, int]] = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24,
    "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24,
    "XK": 20,
}  # fmt: skip


def _is_iban(written: str) -> bool:
    code = written.replace(" ", "")
    if _IBAN_LENGTHS.get(code[:2]) != len(code):
        return False
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


def _is_card(written: str) -> bool:
    digits = [int(char) for char in reversed(written) if char.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[1::2]]
    return 13 <= len(digits) <= 19 and (sum(digits[::2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _iban_spans(text: str) -> Iterator[Span]:
    """Yield the spans of IBANs. The pattern may include capital letters that follow; the country's length cuts them."""
    for start, end in find_spans(_IBAN, text):
        left, stop = _IBAN_LENGTHS.get(text[start : start + 2], 0), start
        while left and stop < end:
            left -= text[stop] != " "
            stop += 1
        if not left and _is_iban(text[start:stop]):
            yield start, stop


def _card_spans(text: str) -> Iterator[Span]:
    return (span for span in find_spans(_CARD, text) if _is_card(text[slice(*span)]))


def _phone_spans(text: str) -> Iterator[Span]:
    dates = (match.span() for match in _DATE.finditer(text))
    excluded = bytearray(len(text))
    for start, end in chain(_iban_spans(text), _card_spans(text), dates):
        excluded[start:end] = b"\1" * (end - start)
    for start, end in find_spans(_PHONE, text):
        is_long = 7 <= sum(map(str.isdigit, text[start:end])) <= 15
        if is_long and not any(excluded[start:end]) and not _PLAIN.fullmatch(text, start, end):
            yield start, end


def _in_plain_form(spans: Spans, text: str) -> Iterator[Span]:
    """Yield the spans in the text with its digits, letters, dashes and spaces in their ASCII forms, on the text."""
    if text.isascii():
        yield from spans(text)
        return
    folded = fold(text, _DASHES, case=False)
    yield from (folded.span(*span) for span in spans(folded.text.translate(_SPACES)))


_IN_PLAIN_TEXT: Final[Mapping[str, Spans]] = {
    "emails": partial(find_spans, _EMAIL),
    "phone_numbers": _phone_spans,
    "ibans": _iban_spans,
    "card_numbers": _card_spans,
}
_EACH: Final[Mapping[str, Spans]] = {name: partial(_in_plain_form, spans) for name, spans in _IN_PLAIN_TEXT.items()}
SPANS: Final[Mapping[str, Spans]] = {
    **_EACH,
    "personal_data": lambda text: chain.from_iterable(spans(text) for spans in _EACH.values()),
}
TABLE: Final[Table] = typed({name: (listed(spans), str) for name, spans in SPANS.items()})
