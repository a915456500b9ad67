"""The limits that descriptions name."""

from time import process_time

from rulewright.documents.prose_limits import limits_in


def test_a_long_list_of_numbers_is_searched_for_limits_in_linear_time() -> None:
    began = process_time()
    assert [limit.text for limit in limits_in("1," * 6_000 + " at most 1,500 words")] == ["at most 1,500 words"]
    assert process_time() - began < 2
