"""The limits that descriptions name."""

from time import process_time

import pytest

from rulewright.documents.prose_limits import limits_in


def test_a_long_list_of_numbers_is_searched_for_limits_in_linear_time() -> None:
    began = process_time()
    assert [limit.text for limit in limits_in("1," * 6_000 + " at most 1,500 words")] == ["at most 1,500 words"]
    assert process_time() - began < 2


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ("more than 3 and less than 70 words", [">3", "<70"]),
        ("younger than 16 or older than 65", []),
        ("under $18 or over $65", ["<18"]),
        ("no less than 5 and not fewer than 7", [">=5", ">=7"]),
        ("3 and up to 7 sentences", ["<=7"]),
        ("greets once and up front", []),
        ("once or more, and 16 and up", [">=1", ">=16"]),
    ],
)
def test_a_limit_does_not_end_with_the_first_word_of_the_next(words: str, limits: list[str]) -> None:
    assert [f"{limit.operator}{limit.number:g}" for limit in limits_in(words)] == limits
