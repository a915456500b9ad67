"""What the lexer hands to the parser: a terminal of the grammar with its place."""

from __future__ import annotations

from typing import Any, NamedTuple


class Token(NamedTuple):
    """A terminal of the grammar: `value` is a literal's value and any other token's text."""

    kind: str
    value: Any
    start: int
    end: int


END = "$END"  # Lark's name for the end of the text
OPERAND_ENDS = frozenset(
    ("IDENT", "QUOTED", "INT", "UINT", "DOUBLE", "STRING", "BYTES", "TRUE", "FALSE", "NULL", "RPAR", "RSQB", "RBRACE")
)
