"""Splits the text of an expression into Lark's tokens, with the word operators of the profile."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from lark import Token
from lark.lexer import Lexer

from rulewright.diagnostics import Guess
from rulewright.errors import Reason
from rulewright.expression import literals
from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.syntax_errors import CLOSERS, END, NUMBERS, OPENERS, end_of, start_of
from rulewright.expression.syntax_tree import Dialect, Literal, LiteralValue, TextSpan
from rulewright_runtime.values import UInt

if TYPE_CHECKING:
    from lark.common import LexerConf

_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}
_PLACEHOLDERS: Final[dict[str, LiteralValue]] = {"STRING": "", "BYTES": b"", "INT": 0, "UINT": UInt(0), "DOUBLE": 0.0}
OPERAND_ENDS: Final = frozenset(
    ("IDENT", "QUOTED", "INT", "UINT", "DOUBLE", "STRING", "BYTES", "TRUE", "FALSE", "NULL", "RPAR", "RSQB", "RBRACE")
)
_PROFILE_WORDS: Final = {"and": "AND", "or": "OR", "not": "NOT"}
_TRIPLE: Final = ('"""', "'''")
_LINE_END: Final = re.compile(r"[\n\r]")
_READ: Final[dict[str, Callable[[str], LiteralValue]]] = {
    "STRING": literals.string,
    "BYTES": literals.bytes_,
    "INT": literals.integer,
    "UINT": literals.unsigned,
    "DOUBLE": literals.double,
}
_LITERALS: Final = frozenset((*_WORDS, *_READ))


class ExpressionText:
    """The input of the parser: a text, its dialect, the collected mistakes and the allowed depth of brackets. The lexer
    adds the tokens, including the end."""

    __slots__ = ("depth", "dialect", "mistakes", "text", "tokens")

    def __init__(self, text: str, dialect: Dialect, mistakes: Mistakes, depth: int) -> None:
        self.text = text
        self.dialect = dialect
        self.mistakes = mistakes
        self.depth = depth
        self.tokens: list[Token] = []


class ExpressionLexer(Lexer):
    """The lexer that Lark calls, built from the grammar's terminals."""

    def __init__(self, conf: LexerConf) -> None:
        patterns = {terminal.name: terminal.pattern for terminal in conf.terminals}
        fixed = {str(pattern.value): name for name, pattern in patterns.items() if pattern.type == "str"}
        blank = patterns["BLANK"].to_regexp()
        named = {kind: patterns[kind].to_regexp() for kind in ("STRING", "IDENT", "DOUBLE", "UINT", "INT", "QUOTED")}
        named["STRING"] = f"[bB]?{named['STRING']}"  # bytes, too: with one pattern for both, start-up is a third faster
        groups = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in named.items())
        self._signs = {text: kind for text, kind in fixed.items() if not text.isalpha()}
        self._words = {text: kind for text, kind in fixed.items() if text.isalpha() and text not in _PROFILE_WORDS}
        signs = "|".join(re.escape(sign) for sign in sorted(self._signs, key=len, reverse=True))
        self._token = re.compile(rf"(?:{blank})*+(?:{groups}|(?P<SIGN>{signs})|(?P<END>\Z)|(?P<BAD>[\s\S]))")
        self._colon_next = re.compile(rf"(?:{blank})*+:")

    def lex(self, data: ExpressionText) -> Iterator[Token]:  # type: ignore[override]  # Lark's interface for input of any type
        """Yield the tokens except the end, which Lark adds. Raises ExpressionError if brackets nest too deeply."""
        data.tokens = self.tokens(data)
        _refuse_deep_brackets(data)
        return iter(data.tokens[:-1])

    def tokens(self, source: ExpressionText) -> list[Token]:
        """The tokens of a text, the end last. Characters that are not part of a token are added to the source's
        mistakes. The value of a literal's token is its node.

        An invalid literal still gives a token, so that the rest of the text can be checked.
        """
        text, tokens = source.text, list[Token]()
        profile = source.dialect is Dialect.PROFILE
        position = 0
        while True:
            match = self._token.match(text, position)
            assert match is not None  # the last alternatives match anything
            kind = match.lastgroup
            assert kind is not None
            start, position = match.span(kind)
            if kind == "END":
                tokens.append(token(END, "", start, start))
                return tokens
            if kind == "BAD":
                position = self._skip(text, start, tokens, source.mistakes)
                continue
            written = match[kind]
            if kind == "SIGN":
                kind = self._signs[written]
            elif kind == "IDENT":
                if written in self._words:
                    kind = self._words[written]
                elif profile and written in _PROFILE_WORDS and not self._is_name(text, position, tokens):
                    kind = _PROFILE_WORDS[written]
            elif kind in _READ:
                kind, written, start = _literal_parts(kind, written, start, tokens)
            current = token(kind, written, start, position)
            if kind in _LITERALS:
                current.value = _literal(current, source.mistakes)
            tokens.append(current)

    def _is_name(self, text: str, end: int, before: list[Token]) -> bool:
        """Whether the word that ends at `end` is a name, although it is spelt as an operator of the profile: after a
        dot, as a map key or as a message field."""
        marked = len(before) > 1 and before[-1].type == "QUESTION"
        last = before[-2 if marked else -1].type if before else ""
        if last == "DOT":
            return True
        return last in ("LBRACE", "COMMA") and self._colon_next.match(text, end) is not None

    def _skip(self, text: str, start: int, tokens: list[Token], mistakes: Mistakes) -> int:
        """Report the character at `start` and return its end; a sign that means an operator becomes its token."""
        if text[start] in "\"'":
            return _skip_unclosed(text, start, tokens, mistakes)
        end, sign, message, help = explain_character(text, start)
        mistakes.add(message, start, end, help)
        if (quoted := _TYPOGRAPHIC.match(text, start)) is not None:
            end = quoted.end()
            tokens.append(_string(quoted[1], start, end))
        if sign is not None:
            tokens.append(token(self._signs[sign], sign, start, end))
        return end


def token(kind: str, text: str, start: int, end: int) -> Token:
    """A Lark token; offsets count code points."""
    return Token(kind, text, start, None, None, None, None, end)


def _literal_parts(kind: str, written: str, start: int, tokens: list[Token]) -> tuple[str, str, int]:
    """Kind, text and start of a literal: `b` makes a string bytes, and a number includes the sign before it."""
    if kind == "STRING" and written[0] in "bB":
        return "BYTES", written, start
    if kind in ("INT", "DOUBLE") and tokens and tokens[-1].type == "MINUS" and _is_sign(tokens):
        return kind, f"-{written}", start_of(tokens.pop())
    return kind, written, start


def _is_sign(before: list[Token]) -> bool:
    """Whether the `-` at the end of `before` is the sign of the next number: alone, and not a subtraction."""
    if len(before) == 1:
        return True
    if before[-2].type in OPERAND_ENDS:
        return False
    return before[-2].type != "MINUS" or (len(before) > 2 and before[-3].type in OPERAND_ENDS)


def _literal(literal_token: Token, mistakes: Mistakes) -> Literal:
    """The node of a literal; of a number with the author's spelling."""
    start, end = start_of(literal_token), end_of(literal_token)
    span = TextSpan(start, end, start)
    if literal_token.type in _WORDS:
        return Literal(_WORDS[literal_token.type], span)
    try:
        value = _READ[literal_token.type](str(literal_token))
    except literals.LiteralError as error:
        at = _strict_error_position(mistakes.text, start) if error.lexical else start
        mistakes.add(error.message, at, end, error.help)
        value = _PLACEHOLDERS[literal_token.type]
    return Literal(value, span, str(literal_token) if literal_token.type in NUMBERS else None)


def _strict_error_position(text: str, start: int) -> int:
    """Where a strict lexer fails: it reads a prefix as a name, and the first two of three quotes as an empty string."""
    quote = start
    while text[quote] not in "\"'":
        quote += 1
    return quote + (2 if text[quote : quote + 3] in _TRIPLE else 0)


def _skip_unclosed(text: str, start: int, tokens: list[Token], mistakes: Mistakes) -> int:
    """Report the unclosed string at `start` and return its end: the end of the line or, if the quote is the last of
    three, of the text. A prefix or the two quotes before it are its token, else a placeholder is added."""
    touching = bool(tokens) and tokens[-1].end_pos == start
    triple = touching and tokens[-1].type in ("STRING", "BYTES") and text[start - 2 : start + 1] in _TRIPLE
    line_end = _LINE_END.search(text, start)
    end = len(text) if triple or line_end is None else line_end.start()
    message, help, reason = explain_unclosed(text[start] * 3 if triple else text[start])
    mistakes.add(message, start, end, help, reason)
    if not touching or tokens[-1].type not in ("STRING", "BYTES", "IDENT"):
        tokens.append(_string("", start, end))
    return end


def _string(text: str, start: int, end: int) -> Token:
    """The token of a string that is not written as one."""
    placeholder = token("STRING", "", start, end)
    placeholder.value = Literal(text, TextSpan(start, end, start))
    return placeholder


def _refuse_deep_brackets(source: ExpressionText) -> None:
    depth = 0
    for each in source.tokens if len(source.tokens) > source.depth else ():
        depth += (each.type in OPENERS) - (each.type in CLOSERS)
        if depth > source.depth:
            message = f"brackets are nested more than {source.depth} deep"
            source.mistakes.add(message, start_of(each), end_of(each))
            raise source.mistakes.error()


_FOREIGN_SIGNS = (
    # the sign in the text, the sign it is read as, the message, the help
    (
        "=>",
        ">=",
        "`=>` isn't an operator",
        Guess(">=", "a macro takes its variable before a comma, as in `xs.exists(x, ...)`"),
    ),
    ("=<", "<=", "`=<` isn't an operator", Guess("<=")),
    ("=~", None, "`=~` isn't an operator", "write `text.matches(r'…')`"),
    ("=", "==", "`=` isn't an operator", Guess("==")),
    ("&", "&&", "`&` isn't an operator", Guess("&&")),
    ("|", "||", "`|` isn't an operator", Guess("||")),
    ("≤", "<=", "`≤` isn't an operator", Guess("<=")),
    ("≥", ">=", "`≥` isn't an operator", Guess(">=")),
    ("≠", "!=", "`≠` isn't an operator", Guess("!=")),
    ("×", "*", "`×` isn't an operator", Guess("*")),
    ("÷", "/", "`÷` isn't an operator", Guess("/")),
    ("−", "-", "`−` isn't an operator", Guess("-")),
    ("–", "-", "`–` isn't an operator", Guess("-")),
    (";", None, "`;` has no meaning here", "an expression is one value; join conditions with `&&`"),
    ("^", None, "`^` isn't an operator", "bit operators are not supported; `math.bitXor` is a function"),
    ("~", None, "`~` isn't an operator", "bit operators are not supported; `math.bitNot` is a function"),
    ("$", None, "`$` has no meaning here", "a name is made of letters, digits and `_`"),
    ("@", None, "`@` has no meaning here", "a name is made of letters, digits and `_`"),
    ("\\", None, "a backslash has no meaning outside a string", None),
    ("`", None, "the backtick isn't closed", "a field in backticks may contain letters, digits, spaces and `_ . - /`"),
    *((quote, None, f"`{quote}` isn't a quotation mark here", "quote strings with `'` or `\"`") for quote in "“”‘’„«»"),
)
_TYPOGRAPHIC = re.compile(r"[“”‘’„«»]([^“”‘’„«»\"'\n]*)[“”‘’«»]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")


def explain_character(text: str, start: int) -> tuple[int, str | None, str, str | None]:
    """Explain the character at `start`, which doesn't start a token: its end, the sign that was meant or None, the
    message and the help."""
    if text[start] == "=" and text[start - 2 : start] in ("==", "!="):
        sign = text[start - 2 : start]
        return start + 1, None, f"`{sign}=` isn't an operator", Guess(sign)
    if text[start] == "=" and text[start - 1 : start] in ("+", "-", "*", "/"):
        return (
            start + 1,
            None,
            f"`{text[start - 1]}=` isn't an operator",
            "an expression gives a value and changes nothing",
        )
    if text[start] == "#":
        line_end = text.find("\n", start)
        return len(text) if line_end < 0 else line_end, None, "`#` has no meaning here", "a comment begins with `//`"
    for written, meant, message, help in _FOREIGN_SIGNS:
        if text.startswith(written, start):
            return start + len(written), meant, message, help
    character = text[start]
    if character.isspace():
        return start + 1, None, f"the space U+{ord(character):04X} is not allowed between tokens", "write a plain space"
    if character.isprintable() and not character.isascii():
        match = _NON_ASCII.match(text, start)
        end = match.end() if match else start + 1
        return (
            end,
            None,
            f"`{text[start:end][:20]}` has no meaning here",
            "a name is made of the letters A to Z, digits and `_`",
        )
    return start + 1, None, f"the character U+{ord(character):04X} has no meaning here", None


def explain_unclosed(quote: str) -> tuple[str, str | None, Reason]:
    """The message, the help and the reason for a string that starts with `quote` and is not closed."""
    if len(quote) == 3:
        return "the text in triple quotes is never closed", "end it with the same three quotes", Reason.UNCLOSED
    help = f"end it with `{quote}`; text of more than one line takes triple quotes"
    return "the string is never closed", help, Reason.UNCLOSED_STRING
