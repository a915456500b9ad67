"""The pages of functions: every function has one, and it is made of the language reference."""

import pytest

from rulewright.cli import main
from rulewright.expression.declarations import profile_functions
from rulewright.function_pages import function_names, function_page

MACROS = {"all", "exists", "exists_one", "filter", "map", "sortBy", "has", "cel.bind", "optMap"}


def test_every_function_and_macro_has_a_page_with_signatures_and_examples() -> None:
    assert function_names() >= MACROS | {name for name in profile_functions() if name.replace(".", "").isidentifier()}
    for name in function_names():
        page = function_page(name)
        assert page is not None
        assert page.signatures, name
        assert page.examples, name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "contains_none",
            "    contains_none(string, list(string)) -> bool\n\nWhether `text` contains none of the phrases",
        ),
        ("contains", "    string.contains(string) -> bool\n\nExamples:\n\n    'hello'.contains('ell')  // => true\n"),
        ("exists", "    xs.exists(x, p)\n    xs.exists(i, x, p)\n\nWhether `p` holds for some element; false for"),
        ("personal_data", "    personal_data(string) -> list(string)\n\nThe email addresses, telephone numbers, bank"),
        ("sets.intersects", "    sets.intersects(list(T), list(T)) -> bool\n\nExamples:\n"),
    ],
)
def test_explain_prints_the_page_of_a_function(name: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out.startswith(expected)


def test_explain_guesses_functions_and_diagnostics(capsys: pytest.CaptureFixture[str]) -> None:
    guesses = {"containsany": "contains_any", "unknwn-key": "unknown-key", "no-refusal": "library/no-refusal"}
    for written, meant in guesses.items():
        assert main(["explain", written]) == 3
        expected = f"error: unknown rule, function, key or term `{written}`; did you mean `{meant}`?\n"
        assert capsys.readouterr().err == expected
