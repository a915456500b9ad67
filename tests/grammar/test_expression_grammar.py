"""The grammar of expressions and the tables that are shipped with it say the same."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark.lexer import Lexer, LexerState

import rulewright_grammar
from rulewright.errors import ExpressionError
from rulewright.expression import lexer, parser, tables
from rulewright.expression.actions import ACTIONS, Builder
from rulewright.expression.syntax_errors import Mistakes
from rulewright.expression.token import Token

SNIPPETS = [
    "a", "x.y", "f(", "(", ")", "[", "]", "{", "}", ",", ":", "?", ".", "+", "-", "!", "not ", " and ", " or ", "&&",
    "||", " in ", "==", "<", "*", "1", "2.5", "3u", "'s'", "b'b'", "true", "null", "`q`", "T{", ".all(x, ", "{?", "[?",
]  # fmt: skip


class OurLexer(Lexer):
    """Hands our tokens to Lark."""

    __future_interface__ = 2  # Lark's name for lexers that take its state and not the text

    def __init__(self, _conf: object) -> None:
        """Nothing to set up."""

    def lex(self, state: LexerState, _parser: object) -> Iterator[lark.Token]:
        """The tokens but the last one, which Lark adds itself."""
        mistakes = Mistakes(state.text.text)
        found = lexer.tokens(state.text.text, lexer.Dialect.PROFILE, mistakes)
        for token in found[:-1]:
            yield lark.Token(token.kind, f"{token.start}", token.start)


LARK = tables.lark_parser(OurLexer)


def test_the_shipped_tables_are_those_of_the_grammar() -> None:
    with open(rulewright_grammar.TABLES, encoding="utf-8") as file:
        assert file.read() == tables.dumps(tables.compute()), "run `python -m rulewright.expression.tables`"


def test_a_bytes_literal_is_a_string_literal_with_a_prefix() -> None:
    patterns = tables.load()["patterns"]
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
    assert all(rule.expansion for rule in LARK.rules), "an empty rule would be reduced before its time"


def test_parsing_imports_no_lark() -> None:
    program = (
        "import sys; from rulewright.expression.parser import parse; parse('a == 1'); sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def _accepts(parse: Any, text: str) -> bool:
    try:
        parse(text)
    except (lark.exceptions.UnexpectedInput, ExpressionError):
        return False
    return True


def _tree_of_lark(node: Any) -> Any:
    """Aliased rules and tokens, without the rules that pass their one symbol on."""
    if isinstance(node, lark.Token):
        return (node.type, int(node))
    kids = [_tree_of_lark(kid) for kid in node.children]
    return kids[0] if node.data not in ACTIONS and len(kids) == 1 else (str(node.data), *kids)


def _tree_of_ours(text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    def shape(alias: str) -> Any:
        return lambda _builder, kids, _start, _end: (alias, *map(leaf, kids))

    def leaf(kid: Any) -> Any:
        return (kid.kind, kid.start) if isinstance(kid, Token) else kid

    rules = tuple((left, shape(alias) if alias else None, length) for left, alias, length in tables.load()["rules"])
    monkeypatch.setattr(parser, "_RULES", rules)
    mistakes = Mistakes(text)
    found = lexer.tokens(text, lexer.Dialect.PROFILE, mistakes)
    return leaf(parser._Run(found, Builder(mistakes, macros=False), lexer.Dialect.PROFILE).run())


TEXTS = [
    "a", "1 + 2 * 3 - 4", "a && b && c || d", "not a == b and !c", "-x - -1", "a ? b : c ? d : e", "x.y.z(1, 2)[0].`q`",
    "[1, ?a.?b, ]", "{'k': v, ?w: x[?0]}", "a.b.T{f: 1, ?g: [,]}", ".f(.x)", "xs.all(x, x in [1u, 2.0, b'']) == null",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_our_loop_builds_what_larks_parser_builds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _tree_of_ours(text, monkeypatch) == _tree_of_lark(LARK.parse(text))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join))
def test_our_loop_accepts_what_larks_parser_accepts(text: str) -> None:
    def ours(text: str) -> None:
        mistakes = Mistakes(text)
        found = lexer.tokens(text, lexer.Dialect.PROFILE, mistakes)
        parser._Run(found, Builder(mistakes, macros=False), lexer.Dialect.PROFILE).run()
        if mistakes.found:
            raise mistakes.error()

    mistakes = Mistakes(text)
    lexer.tokens(text, lexer.Dialect.PROFILE, mistakes)
    if not mistakes.found:
        assert _accepts(ours, text) == _accepts(LARK.parse, text)


def test_every_schema_is_found_by_its_name() -> None:
    for name in rulewright_grammar.schema_names():
        assert isinstance(rulewright_grammar.schema(name), dict)
    with pytest.raises(KeyError):
        rulewright_grammar.schema("../expression")
