"""Messages of characters that start no token, and of strings that are never closed."""

from __future__ import annotations

import re

from rulewright.errors import Reason
from rulewright.spelling import Guess

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
    ("`", None, "the backtick isn't closed", "a field in backticks may contain letters, digits, blanks and `_ . - /`"),
    *((quote, None, f"`{quote}` isn't a quotation mark here", "strings stand in `'` or `\"`") for quote in "“”‘’„«»"),
)
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
        return start + 1, None, f"the blank U+{ord(character):04X} is not allowed between tokens", "write a plain space"
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
