"""The values of literals: numbers within their range, strings and bytes with their escapes replaced."""

import math
import re

from rulewright_runtime.values import INT_MAX, INT_MIN, UINT_MAX, UInt

ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    '"': '"', "'": "'", "\\": "\\", "?": "?", "`": "`",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]?))")
_DIGITS = 20  # of the longest uint; a longer text is out of range and not parsed


class LiteralError(ValueError):
    """An invalid literal; `lexical` if the text isn't even a literal token, as with an unknown escape."""

    def __init__(self, message: str, help: str | None = None, *, lexical: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.lexical = lexical


def integer(text: str) -> int:
    """The int64 of a decimal or `0x` literal, with or without a sign. Raises LiteralError out of range."""
    value = _whole(text)
    if value is None or not INT_MIN <= value <= INT_MAX:
        help = "an int is between -9223372036854775808 and 9223372036854775807; a uint (`u`) goes up to twice that"
        raise LiteralError(f"`{_short(text)}` is out of range for an int", help)
    return value


def unsigned(text: str) -> UInt:
    """The uint64 of a literal that ends in `u`. Raises LiteralError out of range."""
    value = _whole(text[:-1])
    if value is None or value > UINT_MAX:
        raise LiteralError(
            f"`{_short(text)}` is out of range for a uint", "a uint is between 0 and 18446744073709551615"
        )
    return UInt(value)


def _whole(text: str) -> int | None:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
    digits, base = (digits[2:], 16) if digits[:2] == "0x" else (digits, 10)
    digits = digits.lstrip("0") or "0"
    return sign * int(digits, base) if len(digits) <= _DIGITS else None


def double(text: str) -> float:
    """The nearest double. Raises LiteralError for a number that is too large."""
    value = float(text)
    if math.isinf(value):
        raise LiteralError(f"`{_short(text)}` is out of range for a double", "a double is within ±1.8e308")
    return value


def string(text: str) -> str:
    """The content of a string literal, prefix and quotes included in `text`."""
    prefix, body = _content(text)
    if "\\" not in body or "r" in prefix:
        return body
    return _ESCAPE.sub(_character, body)


def bytes_(text: str) -> bytes:
    """The content of a bytes literal: characters in UTF-8, `\\x` and octal escapes as the bytes they name.

    `\\u` and `\\U` are for strings alone (CEL spec, string and bytes values).
    """
    prefix, body = _content(text)
    if "\\" not in body or "r" in prefix:
        return body.encode()
    parts: list[bytes] = []
    last = 0
    for match in _ESCAPE.finditer(body):
        parts.append(body[last : match.start()].encode())
        parts.append(_octets(match))
        last = match.end()
    parts.append(body[last:].encode())
    return b"".join(parts)


def _content(text: str) -> tuple[str, str]:
    r"""The prefix in lower case, and the text between the quotes; line breaks become `\n` (cel-go, `unescape`)."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = 0
    while text[start] not in "\"'":
        start += 1
    width = 3 if text[start : start + 3] in ('"""', "'''") and len(text) - start >= 6 else 1
    return text[:start].lower(), text[start + width : len(text) - width]


def _character(match: re.Match[str]) -> str:
    two, four, eight, octal, one = match.groups()
    if one is not None:
        if one not in ESCAPES:
            raise _unknown_escape(match)
        return ESCAPES[one]
    code = int(octal, 8) if octal else int(two or four or eight, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError(f"`{match[0]}` isn't a Unicode character")
    return chr(code)


def _octets(match: re.Match[str]) -> bytes:
    two, four, eight, octal, _one = match.groups()
    if four or eight:
        help = r"write the character itself, or its bytes, as in `\xc3\xa9`"
        raise LiteralError(f"`{match[0]}` is not allowed in bytes", help)
    return bytes([int(two, 16) if two else int(octal, 8)]) if two or octal else _character(match).encode()


def _unknown_escape(match: re.Match[str]) -> LiteralError:
    escape = match[1 - 1] + match.string[match.end() : match.end() + 1] if match[0] == "\\" else match[0]
    help = r"write `\\` for a backslash, or put `r` before the string, as in r'\d+'"
    if escape[1:2] in ("x", "X"):
        help = r"`\x` takes two hexadecimal digits, as in `\x41`"
    elif escape[1:2] in ("u", "U"):
        help = r"`\u` takes four hexadecimal digits and `\U` eight, as in `\u00e9`"
    elif escape[1:2].isdigit():
        help = r"an octal escape has three digits up to `\377`, as in `\101`"
    return LiteralError(f"`{escape}` isn't an escape", help, lexical=True)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:30]}…"
