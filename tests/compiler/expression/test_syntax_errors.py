"""Every row of the table words its own examples, and every mistake that can be distinguished is reported."""

import pytest
from tests.compiler.expression.published import cel_cases

from rulewright.errors import ExpressionError, ExpressionMistake, Reason
from rulewright.expression import recovery as reading
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.parser import parse
from rulewright.expression.syntax_errors import (
    EXPLANATIONS,
    Explanation,
    Trouble,
    split_word_operator,
    unknown_name_help,
)
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import BOOL


def mistakes(text: str, dialect: Dialect = Dialect.PROFILE) -> tuple[ExpressionMistake, ...]:
    """Every mistake of `text`."""
    with pytest.raises(ExpressionError) as caught:
        parse(text, dialect)
    return caught.value.errors


ROWS = [pytest.param(row, text, id=f"{row.message}: {text}") for row in EXPLANATIONS for text in row.examples]


@pytest.mark.parametrize(("row", "text"), ROWS)
def test_an_example_is_worded_by_its_own_row(row: Explanation, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Explanation] = []

    def spy(trouble: Trouble) -> tuple[str, str | None, Reason]:
        seen.append(next(each for each in EXPLANATIONS if each.when(trouble)))
        return "", None, Reason.OTHER

    monkeypatch.setattr(reading, "explain", spy)
    reading.Recovery(text, Dialect.PROFILE, Mistakes(text), 250, macros=True).whole()
    assert seen[0] is row


def test_every_message_is_one_plain_line_in_the_authors_words() -> None:
    for mistake in (each for row in EXPLANATIONS for text in row.examples for each in mistakes(text)):
        for line in (mistake.message, mistake.help or ""):
            assert "\n" not in line
            assert not any(kind in line for kind in ("IDENT", "LPAR", "Token", "$END", "None"))
        assert not mistake.message[:1].isupper(), mistake


@pytest.mark.parametrize(
    ("text", "column", "message", "help"),
    [
        ("a andb", 3, "`andb` is one word", "did you mean `and b`?"),
        ("a inb", 3, "`inb` is one word", "did you mean `in b`?"),
        ("a not in b", 3, "`not in` isn't an operator", "write `!(a in …)`"),
        ("not in b", 5, "`in` has no value on its left, and `not in` isn't an operator", "write `!(x in …)`"),
        ("a AND b", 3, "`AND` isn't an operator", "did you mean `and`?"),
        ("a = b", 3, "`=` isn't an operator", "did you mean `==`?"),
        ("a === b", 5, "`===` isn't an operator", "did you mean `==`?"),
        ("a & b", 3, "`&` isn't an operator", "did you mean `&&`?"),
        ("a ≥ b", 3, "`≥` isn't an operator", "did you mean `>=`?"),
        ("a += 1", 4, "`+=` isn't an operator", "an expression gives a value and changes nothing"),
        ("a == “x”", 6, "`“` isn't a quotation mark here", "quote strings with `'` or `\"`"),
        ("a # why", 3, "`#` has no meaning here", "a comment begins with `//`"),
        ("(a && b", 1, "`(` is never closed", "`)` is missing"),
        ("a in [wrong', 'easy']", 12, "`'` closes nothing", "write `'` before the text that it ends, or remove it"),
        ('10"', 3, '`"` closes nothing', 'write `"` before the text that it ends, or remove it'),
        (
            "a.matches(r'b') and c == 'd",
            26,
            "the string is never closed",
            "end it with `'`; text of more than one line takes triple quotes",
        ),
        ("a ||\n  not f(b,\n", 8, "`(` is never closed", "a value and `)` are missing"),
        (
            "for",
            1,
            "`for` is a reserved word and can't be a name",
            "it may be a field after a dot, as in `x.for`",
        ),
    ],
)
def test_a_common_slip_gets_its_own_message(text: str, column: int, message: str, help: str) -> None:
    first = mistakes(text)[0]
    assert (first.column, first.message, first.help) == (column, message, help)


def test_a_word_of_the_profile_is_explained_in_strict_cel() -> None:
    first = mistakes("a and b", Dialect.STRICT)[0]
    assert first.message == "`and` is an operator of the profile, not of strict CEL"
    assert first.help == "write `&&`"
    assert mistakes("not b", Dialect.STRICT)[0].help == "did you mean `!`?"


def test_glued_words_can_be_taken_apart() -> None:
    assert split_word_operator("notx") == "not x"
    assert split_word_operator("notx", profile=False) == "!x"
    assert split_word_operator("andnotx", profile=False) == "&& !x"
    assert split_word_operator("score") is None
    assert split_word_operator("index") is None


@pytest.mark.parametrize(
    ("word", "help"),
    [
        ("notx", "did you mean `not x`?"),
        ("andnotx", "did you mean `and not x`?"),
        ("noty", None),
        ("True", "did you mean `true`?"),
        ("None", "did you mean `null`?"),
        ("score", None),
    ],
)
def test_an_unknown_name_may_have_been_meant_as_something_else(word: str, help: str | None) -> None:
    assert unknown_name_help(word, ["x"], profile=True) == help


def test_the_checker_asks_what_was_meant() -> None:
    environment = Environment(variables={"x": BOOL})
    with pytest.raises(ExpressionError) as caught:
        build("x and notx", environment)
    assert caught.value.errors[0].help == "did you mean `not x`?"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a + * b && f(, 1) || [1, , 2]", [5, 14, 26]),
        ("a == && b == ", [6, 14]),
        ("'\\z' + '\\q' + 99999999999999999999", [1, 8, 15]),
        ("a | b & c", [3, 7]),
        ("for + while", [1, 7]),
        ("a AND b OR c", [3, 9]),
        ("xs.map(1, x) + has(y)", [8, 20]),
        ("a == not b && c == not d", [6, 20]),
        ("self.true && other.in", [6, 20]),
        ("a b c d", [3]),
        ("a && (b", [6]),
        ("x == 'abc", [6]),
        ("# all of it", [1]),
    ],
)
def test_sound_mistakes_are_all_reported_and_nothing_else(text: str, columns: list[int]) -> None:
    assert [mistake.column for mistake in mistakes(text)] == columns


def test_at_most_thirty_mistakes_are_reported() -> None:
    assert len(mistakes("'\\z'+" * 100 + "1")) == 30


def test_lines_are_counted() -> None:
    first = mistakes("a &&\n  // more\n  b ||\n")[0]
    assert (first.line, first.column, first.start) == (4, 1, 22)


def test_the_first_mistake_of_each_published_case_is_where_cel_go_puts_it() -> None:
    cases = [case for case in cel_cases("static_open.json") if case["kind"] == "syntax"]
    assert cases
    for case in cases:
        first = mistakes(case["expr"], Dialect.STRICT)[0]
        expected = case["expect"]["errors"][0]
        assert (first.line, first.column) == (expected["line"], expected["col"]), case["id"]
