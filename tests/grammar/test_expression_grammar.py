"""The grammar of expressions and the tables that are shipped with it say the same."""

import json
import logging
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark.grammar import Rule
from lark.lexer import TerminalDef
from tests.expected_files import holds
from tests.rounds import rounds

import rulewright_grammar
from rulewright.errors import ExpressionError
from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.lexer import ExpressionLexer, ExpressionText
from rulewright.expression.parser import parse, parse_unfinished
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.unparse import unparse

SNIPPETS = [
    "a", "x.y", "f(", "(", ")", "[", "]", "{", "}", ",", ":", "?", ".", "+", "-", "!", "not ", " and ", " or ", "&&",
    "||", " in ", "==", "<", "*", "1", "2.5", "3u", "'s'", "b'b'", "true", "null", "`q`", "T{", ".all(x, ", "{?", "[?",
]  # fmt: skip


@cache
def fresh() -> lark.Lark:
    """The parser that Lark makes of the grammar's text, which builds Lark's own trees."""
    text = rulewright_grammar.grammar_text()
    return lark.Lark(text, parser="lalr", lexer=ExpressionLexer, keep_all_tokens=True)


SHIFT = 0  # the action by which memo_serialize encodes a shift; the next state follows


def tables() -> dict[str, object]:
    """The tables that Lark computes from the grammar, as plain data: the same grammar gives the same bytes."""
    data, memo = fresh().memo_serialize([TerminalDef, Rule])
    del data["options"]["lexer"], data["parser"]["lexer_conf"]["lexer_type"]
    table = data["parser"]["parser"]
    names, (start,), (end,) = table["tokens"], table["start_states"].values(), table["end_states"].values()
    rows = {
        state: {names[symbol]: action for symbol, action in row.items()} for state, row in table.pop("states").items()
    }
    order = in_order_of_reach(rows, start)
    table["tokens"] = {name: name for name in sorted(names.values())}
    table["start_states"], table["end_states"] = {"start": order[start]}, {"start": order[end]}
    return {"data": data, "memo": memo, "states": {new: renumbered(rows[old], order) for old, new in order.items()}}


def in_order_of_reach(rows: dict[int, dict[str, Any]], start: int) -> dict[int, int]:
    """New state numbers in the order of a walk from `start`, since Lark's own differ from run to run."""
    order = {start: 0}
    queue = [start]
    for state in queue:
        for _, (action, target) in sorted(rows[state].items()):
            if action == SHIFT and target not in order:
                order[target] = len(order)
                queue.append(target)
    return order


def renumbered(row: dict[str, Any], order: dict[int, int]) -> dict[str, object]:
    return {name: [act, order[to] if act == SHIFT else to] for name, (act, to) in sorted(row.items())}


def dumps(tables: dict[str, Any]) -> str:
    """The tables as JSON, with one line for each rule and state, so that diffs are readable."""
    parts = [f'"data": {json.dumps(tables["data"])}']
    for key in ("memo", "states"):
        rows = [f'"{number}": {json.dumps(row, separators=(",", ":"))}' for number, row in tables[key].items()]
        parts.append(f'"{key}": {{\n' + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def test_the_shipped_tables_are_those_of_the_grammar() -> None:
    holds(dumps(tables()), Path(rulewright_grammar.TABLES))


def test_a_bytes_literal_is_a_string_literal_with_a_prefix() -> None:
    patterns = {terminal.name: terminal.pattern.to_regexp() for terminal in fresh().terminals}
    assert patterns["BYTES"] == "[bB]" + patterns["STRING"], "the lexer reads both with one pattern"


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    def conflicts(grammar: str) -> list[str]:
        caplog.clear()
        with caplog.at_level(logging.DEBUG, lark.logger.name):
            lark.Lark(grammar, parser="lalr", debug=True)
        return [record.getMessage() for record in caplog.records if "conflict" in record.getMessage()]

    assert conflicts('start: start "+" start | "a"')
    assert not conflicts(rulewright_grammar.grammar_text())


def test_no_rule_is_empty() -> None:
    assert all(rule.expansion for rule in fresh().rules), "an empty rule would be reduced before its time"


def test_every_rule_has_somebody_who_builds_its_node() -> None:
    from rulewright.expression.ast_builder import AstBuilder

    for rule in fresh().rules:
        assert callable(getattr(AstBuilder, rule.alias or rule.options.template_source or str(rule.origin.name)))
        assert rule.alias or len(rule.expansion) == 1, "a rule of several symbols has an alias"


def loaded_after(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a program."""
    shown = f"import sys\n{program}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", shown], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_lark_is_loaded_with_the_first_expression() -> None:
    start = "from rulewright.expression.parser import parse; from rulewright.expression.build import build"
    assert "lark" not in loaded_after(start)
    assert "lark" in loaded_after(f"{start}\nparse('a == 1')")


def read(parser: lark.Lark, text: str) -> Any:
    """What the parser makes of a text; raises UnexpectedToken."""
    tree: Any = parser.parse(ExpressionText(text, Dialect.PROFILE, Mistakes(text), 250))
    return tree


def shape(node: Any) -> Any:
    """Aliased rules and tokens, without the rules that pass their one symbol on."""
    if isinstance(node, lark.Token):
        return (node.type, node.start_pos)
    kids = [shape(kid) for kid in node.children]
    return kids[0] if len(kids) == 1 and node.data in passing() else (str(node.data), *kids)


@cache
def passing() -> set[str]:
    return {str(rule.origin.name) for rule in fresh().rules if not rule.alias} | {"part_of"}


def as_shipped() -> lark.Lark:
    """The parser of the shipped tables, which builds Lark's own trees."""
    tables = rulewright_grammar.grammar_tables()
    data = tables["data"]
    data["options"] |= {"lexer": ExpressionLexer}
    data["parser"]["lexer_conf"]["lexer_type"] = ExpressionLexer
    data["parser"]["parser"]["states"] = {int(number): row for number, row in tables["states"].items()}
    return lark.Lark.load({"data": data, "memo": {int(number): row for number, row in tables["memo"].items()}})


SHIPPED = as_shipped()
TEXTS = [
    "a", "1 + 2 * 3 - 4", "a && b && c || d", "not a == b and !c", "-x - -1", "a ? b : c ? d : e", "x.y.z(1, 2)[0].`q`",
    "[1, ?a.?b, ]", "{'k': v, ?w: x[?0]}", "a.b.T{f: 1, ?g: [,]}", ".f(.x)", "xs.all(x, x in [1u, 2.0, b'']) == null",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_shipped_tables_parse_as_the_grammar_does(text: str) -> None:
    assert shape(read(SHIPPED, text)) == shape(read(fresh(), text))


def accepts(parser: lark.Lark, text: str) -> bool:
    try:
        read(parser, text)
    except (lark.exceptions.UnexpectedInput, ExpressionError):
        return False
    return True


@settings(max_examples=rounds(60, 3_000))
@given(st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join))
def test_a_text_that_lark_refuses_is_a_mistake_and_no_other(text: str) -> None:
    mistakes = Mistakes(text)
    lexer = ExpressionLexer(fresh().lexer_conf)
    lexer.tokens(ExpressionText(text, Dialect.PROFILE, mistakes, 250))
    if mistakes.by_start:
        return
    accepted = accepts(fresh(), text)
    assert accepts(SHIPPED, text) is accepted
    if not accepted:
        with pytest.raises(ExpressionError):
            parse(text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_beginning_of_an_expression_is_completed(text: str) -> None:
    source = ExpressionText(text, Dialect.PROFILE, Mistakes(text), 250)
    for token in ExpressionLexer(fresh().lexer_conf).tokens(source)[:-1]:
        parse_unfinished(text[: token.end_pos])


def test_what_is_missing_is_made_up() -> None:
    def completed(text: str) -> str:
        return unparse(parse_unfinished(text))

    assert completed("f(a, [1, {'x': (b ? c") == "f(a, [1, {'x': b ? c : _}])"
    assert completed("xs.exists(x, x.") == "xs.exists(x, x._)"
    assert completed("a == ')' &&") == "a == ')' && _"
    with pytest.raises(ExpressionError):
        parse_unfinished("a b")


def test_every_schema_is_found_by_its_name() -> None:
    for name in rulewright_grammar.schema_names():
        assert isinstance(rulewright_grammar.schema(name), dict)
    with pytest.raises(KeyError):
        rulewright_grammar.schema("../expression")
