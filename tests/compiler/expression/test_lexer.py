"""Tokens and literals: what a text is made of, and which literals mean nothing."""

import pytest

from rulewright.errors import ExpressionError
from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.lexer import ExpressionLexer, ExpressionText
from rulewright.expression.parser import parse
from rulewright.expression.recovery import expression_parser
from rulewright.expression.syntax_tree import Dialect, Literal
from rulewright_runtime.values import UInt

LARK = expression_parser()


def kinds(text: str, dialect: Dialect = Dialect.PROFILE) -> str:
    """The kinds of the tokens of `text`, without the end."""
    mistakes = Mistakes(text)
    found = ExpressionLexer(LARK.lexer_conf).tokens(ExpressionText(text, dialect, mistakes, 250))
    assert not mistakes.by_start
    return " ".join(token.type for token in found[:-1])


def value(text: str) -> object:
    """The value of a literal."""
    node = parse(text)
    assert isinstance(node, Literal)
    return node.value


def mistake(text: str) -> tuple[int, int, str]:
    """Line, column and message of the first mistake."""
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    first = caught.value.errors[0]
    return first.line, first.column, first.message


@pytest.mark.parametrize(
    ("text", "profile", "strict"),
    [
        ("a and b", "IDENT AND IDENT", "IDENT IDENT IDENT"),
        ("not(x)", "NOT LPAR IDENT RPAR", "IDENT LPAR IDENT RPAR"),
        ("notx", "IDENT", "IDENT"),
        ("x.not", "IDENT DOT IDENT", "IDENT DOT IDENT"),
        ("x.?or", "IDENT DOT QUESTION IDENT", "IDENT DOT QUESTION IDENT"),
        ("x.and(y)", "IDENT DOT IDENT LPAR IDENT RPAR", "IDENT DOT IDENT LPAR IDENT RPAR"),
        ("{and: 1}", "LBRACE IDENT COLON INT RBRACE", "LBRACE IDENT COLON INT RBRACE"),
        ("{?not :1}", "LBRACE QUESTION IDENT COLON INT RBRACE", "LBRACE QUESTION IDENT COLON INT RBRACE"),
        ("a ? not b : c", "IDENT QUESTION NOT IDENT COLON IDENT", "IDENT QUESTION IDENT IDENT COLON IDENT"),
    ],
)
def test_word_operators_are_whole_words_of_the_profile(text: str, profile: str, strict: str) -> None:
    assert kinds(text, Dialect.PROFILE) == profile
    assert kinds(text, Dialect.STRICT) == strict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1", "INT"),
        ("- 1", "INT"),
        ("a -1", "IDENT MINUS INT"),
        ("a - -1", "IDENT MINUS INT"),
        ("--1", "MINUS MINUS INT"),
        ("(-1)", "LPAR INT RPAR"),
        ("a in -1.5", "IDENT IN DOUBLE"),
        ("-1u", "MINUS UINT"),
        ("1.e5", "INT DOT IDENT"),
        ("1..5", "INT DOT DOUBLE"),
        ("b", "IDENT"),
        ("a// b\n+c", "IDENT PLUS IDENT"),
    ],
)
def test_a_sign_belongs_to_the_number_unless_there_is_something_to_subtract_from(text: str, expected: str) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0xfF", 255),
        ("-0x10", -16),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775807", 2**63 - 1),
        ("0000000000000000000000000001", 1),
        ("18446744073709551615u", UInt(2**64 - 1)),
        ("0x1U", UInt(1)),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("1e-2", 0.01),
        ("- // sign\n 2", -2),
        ("true", True),
        ("null", None),
        (r"'\a\b\f\n\r\t\v\"\'\\\?\`'", "\a\b\f\n\r\t\v\"'\\?`"),
        (r"'\x41\X42\103\u00e9\U0001F600'", "ABCé😀"),
        (r"r'\d\'", "\\d\\"),
        ("'''it's\n\"it\"'''", 'it\'s\n"it"'),
        ('R"""a\\"""', "a\\"),
        ('""', ""),
        ("''''a'''", "'a"),
        (r"b'\xff\377é\101'", b"\xff\xff\xc3\xa9A"),
        (r"br'\x'", b"\\x"),
        ("B'''\n'''", b"\n"),
        ("'''a\r\nb\rc\\r'''", "a\nb\nc\r"),
        ("r'''\r\n'''", "\n"),
    ],
)
def test_literals_mean_what_cel_says(text: str, expected: object) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9223372036854775808", (1, 1, "`9223372036854775808` is out of range for an int")),
        ("-9223372036854775809", (1, 1, "`-9223372036854775809` is out of range for an int")),
        ("a == 18446744073709551616u", (1, 6, "`18446744073709551616u` is out of range for a uint")),
        ("1e999", (1, 1, "`1e999` is out of range for a double")),
        (r"a + '\z'", (1, 5, r"`\z` isn't an escape")),
        (r"'\x4'", (1, 1, r"`\x` isn't an escape")),
        (r"'\400'", (1, 1, r"`\4` isn't an escape")),
        (r"b'\z'", (1, 2, r"`\z` isn't an escape")),
        (r"'''\z'''", (1, 3, r"`\z` isn't an escape")),
        (r"'\ud800'", (1, 1, r"`\ud800` isn't a Unicode character")),
        (r"'\U00110000'", (1, 1, r"`\U00110000` isn't a Unicode character")),
        (r"b'\u00e9'", (1, 1, r"`\u00e9` is not allowed in bytes")),
        ("'\ud800'", (1, 2, "unpaired surrogate")),
        ("a ==\n  'abc", (2, 3, "the string is never closed")),
        ("'a\nb'", (1, 1, "the string is never closed")),
        ("1 = 2", (1, 3, "`=` isn't an operator")),
        ("é", (1, 1, "`é` has no meaning here")),
        ("a\u00a0b", (1, 2, "the space U+00A0 is not allowed between tokens")),
        ("a # b", (1, 3, "`#` has no meaning here")),
        ("`a", (1, 1, "the backtick isn't closed")),
        ("``", (1, 1, "the backtick isn't closed")),
    ],
)
def test_a_literal_that_means_nothing_is_a_mistake_at_its_place(text: str, expected: tuple[int, int, str]) -> None:
    assert mistake(text) == expected


def test_every_bad_literal_of_a_text_is_reported() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(r"'\z' == x && 99999999999999999999 > 1 || b # c")
    assert [error.column for error in caught.value.errors] == [1, 14, 44]


def test_a_number_remembers_its_spelling_without_blanks() -> None:
    node = parse("- 0.80")
    assert isinstance(node, Literal)
    assert (node.value, node.text) == (-0.8, "-0.80")


def test_columns_count_code_points() -> None:
    assert mistake("'😀é' == =")[1] == 9
