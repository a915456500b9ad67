"""Any text is an expression or a list of mistakes at places inside it; what it says is kept by printing it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds

from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import DYN, SCORE, STRING, ListType
from rulewright.expression.unparse import unparse

EXAMPLES = rounds(100, 20_000)
TOKENS = r"""
a b.c names score true null 1 1u 0x1F 1.5 .5 1e3 'x' "y" r'\d' b'z' '''w''' ( ) [ ] { } , : ; ? ?. . ! - + * / % && ||
== != < <= > >= in and or not && has(a.b) size( .all(x, .exists(x, .filter(x, .map(x, .matches( a ? b : c # // in not(
.?d [?0] {a: 1} [1, 2] cel.bind( @ $ ` \ é 😀 99999999999999999999 1e999
"""
WORDS = [*TOKENS.split(), "\t", "\n", "\ud800"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=40)
ENVIRONMENT = Environment(variables={"a": DYN, "names": ListType(STRING), "score": SCORE})


def check_mistakes(failure: ExpressionError, text: str) -> None:
    """Every mistake has words on one line and a place in the text."""
    assert failure.errors
    lines = text.count("\n") + 1
    for mistake in failure.errors:
        assert 0 <= mistake.start <= mistake.end <= len(text)
        assert 1 <= mistake.line <= lines
        assert mistake.column >= 1
        assert mistake.message


@pytest.mark.parametrize("dialect", list(Dialect), ids=str)
@given(text=TEXTS)
@settings(max_examples=EXAMPLES)
def test_any_text_parses_or_is_explained(text: str, dialect: Dialect) -> None:
    try:
        tree = parse(text, dialect)
    except ExpressionError as failure:
        check_mistakes(failure, text)
        return
    try:
        printed = unparse(tree, dialect)
    except ValueError:  # a name that is an operator in the dialect, which no text can stand for
        return
    assert parse(printed, dialect) == tree


@given(text=TEXTS)
@settings(max_examples=EXAMPLES)
def test_any_text_is_built_or_explained(text: str) -> None:
    try:
        build(text, ENVIRONMENT)
    except ExpressionError as failure:
        check_mistakes(failure, text)
