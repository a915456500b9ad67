"""The LALR(1) tables that Lark computes from the grammar, kept as data so that starting up costs no grammar work.

`python -m rulewright.expression.tables` writes them again after a change of the grammar; a test holds the two together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict

import rulewright_grammar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lark import Lark
    from lark.lexer import Lexer


class Tables(TypedDict):
    """What the parser runs on; everything is in the order of the grammar, so the same grammar gives the same bytes.

    `rules` are (left side, alias or "", number of symbols). `states` map a terminal to the state it is shifted into, or
    to -1 - r where rule r is reduced, and a left side to the state that follows it; the end of the text is shifted.
    `words` and `signs` are the terminals of fixed text, `patterns` the others, and `blank` is what separates them.
    """

    start: int
    rules: list[tuple[str, str, int]]
    states: list[dict[str, int]]
    words: dict[str, str]
    signs: dict[str, str]
    patterns: dict[str, str]
    blank: str


def load() -> Tables:
    """The shipped tables."""
    tables: Tables = rulewright_grammar.grammar_tables()
    return tables


def lark_parser(lexer: type[Lexer]) -> Lark:
    """Lark's own parser of the grammar, fed by `lexer`."""
    import lark

    return lark.Lark(rulewright_grammar.grammar_text(), parser="lalr", lexer=lexer, keep_all_tokens=True, strict=False)


def compute() -> Tables:
    """The tables of the grammar text, computed by Lark."""
    import lark
    from lark.lexer import Lexer, LexerState
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        def __init__(self, _conf: object) -> None:
            pass

        def lex(self, _state: LexerState, _parser: object) -> Iterator[lark.Token]:
            return iter(())

    made = lark_parser(NoLexer)
    inner = made.parser.parser
    table = inner._parse_table
    rules: dict[object, int] = {rule: index for index, rule in enumerate(made.rules)}
    order = _in_order_of_reach(table.states, table.start_states["start"], Shift)
    states: list[dict[str, int]] = []
    for state in order:
        row = {
            str(symbol): order[target] if action is Shift else -1 - rules[target]
            for symbol, (action, target) in table.states[state].items()
        }
        states.append(dict(sorted(row.items())))
    end = order[table.end_states["start"]]
    states[end]["$END"] = end
    fixed = {t.name: str(t.pattern.value) for t in made.terminals if t.pattern.type == "str"}
    patterns = {t.name: t.pattern.to_regexp() for t in made.terminals if t.name not in fixed}
    return Tables(
        start=order[table.start_states["start"]],
        rules=[(str(rule.origin.name), rule.alias or "", len(rule.expansion)) for rule in made.rules],
        states=states,
        words={text: name for name, text in fixed.items() if text.isalpha()},
        signs={text: name for name, text in fixed.items() if not text.isalpha()},
        blank=patterns.pop("BLANK"),
        patterns=patterns,
    )


def _in_order_of_reach(
    states: Mapping[int, Mapping[str, tuple[Any, Any]]], start: int, shift: object
) -> dict[int, int]:
    """New numbers for the states, by walking from `start`: Lark's own may differ from run to run."""
    order = {start: 0}
    queue = [start]
    for state in queue:
        for _, (action, target) in sorted(states[state].items(), key=lambda item: str(item[0])):
            if action is shift and target not in order:
                order[target] = len(order)
                queue.append(target)
    return order


def dumps(tables: Tables) -> str:
    """The tables as JSON, one state a line, so that a change of the grammar reads well in a diff."""
    parts = [f'"{key}": {json.dumps(value)}' for key, value in tables.items() if key not in ("rules", "states")]
    for key in ("rules", "states"):
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in tables[key])
        parts.append(f'"{key}": [\n{lines}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the tables beside the grammar."""
    with open(rulewright_grammar.TABLES, "w", encoding="utf-8") as file:
        file.write(dumps(compute()))


if __name__ == "__main__":
    main()
