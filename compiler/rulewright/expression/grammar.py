"""Lark's parser of expressions, from the LALR(1) tables that are shipped with the grammar.

Lark computes the tables from `expression.lark`, `memo_serialize` turns them into plain data, and `Lark.load` reads this
data. Run `python -m rulewright.expression.grammar` after a change of the grammar; a test compares tables and grammar.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

import rulewright_grammar
from rulewright.expression.ast_builder import AstBuilder
from rulewright.expression.lexer import ExpressionLexer
from rulewright_runtime.values import Value

_SHIFT: Final = 0  # the action by which memo_serialize encodes a shift; the next state follows


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


def tables() -> dict[str, object]:
    """The tables that Lark computes from the grammar, as plain data: the same grammar gives the same bytes."""
    text = rulewright_grammar.grammar_text()
    parser = Lark(text, parser="lalr", lexer=ExpressionLexer, keep_all_tokens=True)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    del data["options"]["lexer"], data["parser"]["lexer_conf"]["lexer_type"]
    table = data["parser"]["parser"]
    names, (start,), (end,) = table["tokens"], table["start_states"].values(), table["end_states"].values()
    rows = {
        state: {names[symbol]: action for symbol, action in row.items()} for state, row in table.pop("states").items()
    }
    order = _in_order_of_reach(rows, start)
    table["tokens"] = {name: name for name in sorted(names.values())}
    table["start_states"], table["end_states"] = {"start": order[start]}, {"start": order[end]}
    return {"data": data, "memo": memo, "states": {new: _renumbered(rows[old], order) for old, new in order.items()}}


def _in_order_of_reach(rows: dict[int, dict[str, Value]], start: int) -> dict[int, int]:
    """New state numbers in the order of a walk from `start`, since Lark's own differ from run to run."""
    order = {start: 0}
    queue = [start]
    for state in queue:
        for _, (action, target) in sorted(rows[state].items()):
            if action == _SHIFT and target not in order:
                order[target] = len(order)
                queue.append(target)
    return order


def _renumbered(row: dict[str, Value], order: dict[int, int]) -> dict[str, object]:
    return {name: [act, order[to] if act == _SHIFT else to] for name, (act, to) in sorted(row.items())}


def dumps(tables: dict[str, Value]) -> str:
    """The tables as JSON, with one line for each rule and state, so that diffs are readable."""
    parts = [f'"data": {json.dumps(tables["data"])}']
    for key in ("memo", "states"):
        rows = [f'"{number}": {json.dumps(row, separators=(",", ":"))}' for number, row in tables[key].items()]
        parts.append(f'"{key}": {{\n' + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the tables beside the grammar."""
    with open(rulewright_grammar.TABLES, "w", encoding="utf-8") as file:
        file.write(dumps(tables()))


if __name__ == "__main__":
    main()
