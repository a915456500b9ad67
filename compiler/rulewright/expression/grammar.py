"""Lark's parser of expressions, from the LALR(1) tables that are shipped with the grammar.

Lark computes the tables from `expression.lark`, `memo_serialize` turns them into plain data, and `Lark.load` reads this
data. `make expected` writes the tables after a change of the grammar.
"""

from __future__ import annotations

from functools import cache

from lark import Lark

import rulewright_grammar
from rulewright.expression.ast_builder import AstBuilder
from rulewright.expression.lexer import ExpressionLexer
from rulewright_runtime.values import Value


@cache
def expression_parser(macros: bool = True) -> Lark:
    """The parser, which returns syntax trees; without `macros` a macro is an ordinary call."""
    tables: dict[str, Value] = rulewright_grammar.grammar_tables()
    data = tables["data"]
    data["options"] |= {"lexer": ExpressionLexer, "transformer": AstBuilder(macros)}
    data["parser"]["lexer_conf"]["lexer_type"] = ExpressionLexer
    data["parser"]["parser"]["states"] = _numbered(tables["states"])
    return Lark.load({"data": data, "memo": _numbered(tables["memo"])})


def _numbered(rows: dict[str, Value]) -> dict[int, Value]:
    """The rows by number, which is a string in JSON."""
    return {int(number): row for number, row in rows.items()}
