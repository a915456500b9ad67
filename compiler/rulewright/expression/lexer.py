"""Splits the text of an expression into tokens; the word operators of the profile are told from names here."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Any

from rulewright.expression import literals
from rulewright.expression.syntax_errors import Mistakes, explain_character, explain_unclosed
from rulewright.expression.tables import load
from rulewright.expression.token import END, OPERAND_ENDS, Token
from rulewright_runtime.values import UInt

if TYPE_CHECKING:
    from collections.abc import Callable


class Dialect(enum.StrEnum):
    """Strict CEL, or CEL with the profile's word operators `and`, `or`, `not`."""

    STRICT = "strict"
    PROFILE = "profile"


LITERAL_WORDS = {"TRUE": True, "FALSE": False, "NULL": None}
PLACEHOLDERS: dict[str, Any] = {"STRING": "", "BYTES": b"", "INT": 0, "UINT": UInt(0), "DOUBLE": 0.0}

_tables = load()
_PATTERNS = {kind: _tables["patterns"][kind] for kind in ("STRING", "IDENT", "DOUBLE", "UINT", "INT", "QUOTED")}
_PATTERNS["STRING"] = f"[bB]?{_PATTERNS['STRING']}"  # bytes, too: compiled once, they start a third faster
_NAMED = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items())
_SIGNS = "|".join(re.escape(sign) for sign in sorted(_tables["signs"], key=len, reverse=True))
_TOKEN = re.compile(rf"(?:{_tables['blank']})*+(?:{_NAMED}|(?P<SIGN>{_SIGNS})|(?P<END>\Z)|(?P<BAD>[\s\S]))")
_TRIPLE = ('"""', "'''")
_LINE_END = re.compile(r"[\n\r]")
_COLON_NEXT = re.compile(rf"(?:{_tables['blank']})*+:")
_SIGN_KINDS = _tables["signs"]
_WORD_KINDS = {word: kind for word, kind in _tables["words"].items() if word != "not"}
_PROFILE_WORDS = {"and": "AND", "or": "OR", "not": "NOT"}
_READ: dict[str, Callable[[str], Any]] = {
    "STRING": literals.string,
    "BYTES": literals.bytes_,
    "INT": literals.integer,
    "UINT": literals.unsigned,
    "DOUBLE": literals.double,
}


def tokens(text: str, dialect: Dialect, mistakes: Mistakes) -> list[Token]:
    """The tokens of `text`, the last one being the end; what is no token is told to `mistakes` and left out.

    A literal that means nothing sound still gives its token, so that the rest of the text can be judged.
    """
    found: list[Token] = []
    profile = dialect is Dialect.PROFILE
    position = 0
    while True:
        match = _TOKEN.match(text, position)
        assert match is not None  # the last alternatives take anything
        kind = match.lastgroup
        assert kind is not None
        start, position = match.span(kind)
        value: Any = match[kind]
        if kind == "IDENT":
            if value in _WORD_KINDS:
                kind = _WORD_KINDS[value]
                value = LITERAL_WORDS.get(kind, value)
            elif profile and value in _PROFILE_WORDS and not _is_name(text, position, found):
                kind = _PROFILE_WORDS[value]
        elif kind == "SIGN":
            kind = _SIGN_KINDS[value]
        elif kind in _READ:
            if kind == "STRING" and value[0] in "bB":
                kind = "BYTES"
            if (kind == "INT" or kind == "DOUBLE") and found and found[-1].kind == "MINUS" and _is_sign(found):
                start = found.pop().start
                value = "-" + value
            value = _read(kind, value, start, position, mistakes)
        elif kind == "END":
            found.append(Token(END, "", position, position))
            return found
        elif kind == "BAD":
            position = _skip(text, start, found, mistakes)
            continue
        found.append(Token(kind, value, start, position))


def _is_name(text: str, end: int, before: list[Token]) -> bool:
    """Whether the word that ends at `end` is a name although the profile has an operator of that spelling: after a dot,
    as a map's key, as a message's field."""
    marked = len(before) > 1 and before[-1].kind == "QUESTION"
    last = before[-2 if marked else -1].kind if before else ""
    if last == "DOT":
        return True
    return last in ("LBRACE", "COMMA") and _COLON_NEXT.match(text, end) is not None


def _is_sign(before: list[Token]) -> bool:
    """Whether the `-` that ends `before` is the sign of the number after it: alone, with nothing to subtract from."""
    if len(before) == 1:
        return True
    if before[-2].kind in OPERAND_ENDS:
        return False
    return before[-2].kind != "MINUS" or (len(before) > 2 and before[-3].kind in OPERAND_ENDS)


def _read(kind: str, text: str, start: int, end: int, mistakes: Mistakes) -> Any:
    try:
        return _READ[kind](text)
    except literals.LiteralError as error:
        at = _where_lexing_fails(text, start) if error.lexical else start
        mistakes.add(error.message, at, end, error.help)
        return PLACEHOLDERS[kind]


def _where_lexing_fails(text: str, start: int) -> int:
    """Where a strict lexer gives up: to it a prefix is a name, and the first two of three quotes an empty string."""
    quote = 0
    while text[quote] not in "\"'":
        quote += 1
    return start + quote + (2 if text[quote : quote + 3] in _TRIPLE else 0)


def _skip(text: str, start: int, found: list[Token], mistakes: Mistakes) -> int:
    """Report the character at `start` and give the place to go on from; a sign meant for an operator becomes it."""
    if text[start] in "\"'":
        return _skip_unclosed(text, start, found, mistakes)
    end, sign, message, help = explain_character(text, start)
    mistakes.add(message, start, end, help)
    if sign is not None:
        found.append(Token(_SIGN_KINDS[sign], sign, start, end))
    return end


def _skip_unclosed(text: str, start: int, found: list[Token], mistakes: Mistakes) -> int:
    """Report the string at `start` that never ends; what is left of the line is taken to be in it, or, where the quote
    was the last of three, of the text. The prefix or the two quotes before it stand for the string."""
    touching = bool(found) and found[-1].end == start
    triple = touching and found[-1].kind in ("STRING", "BYTES") and text[start - 2 : start + 1] in _TRIPLE
    line_end = _LINE_END.search(text, start)
    end = len(text) if triple or line_end is None else line_end.start()
    message, help = explain_unclosed(text[start] * 3 if triple else text[start])
    mistakes.add(message, start, end, help)
    if not touching or found[-1].kind not in ("STRING", "BYTES", "IDENT"):
        found.append(Token("STRING", "", start, end))
    return end
