"""Lines end at the three line breaks editors know, and offsets and places convert both ways."""

from hypothesis import given
from hypothesis import strategies as st

from rulewright.load import Source


def test_lines_end_at_newline_return_and_both() -> None:
    source = Source("f", "a\r\nb\rc\nd")
    assert [source.position(i) for i in (0, 3, 5, 7)] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert [source.line_text(i) for i in range(6)] == ["", "a", "b", "c", "d", ""]


def test_next_line_and_separators_end_no_line() -> None:
    assert Source("f", "a\u0085b\u2028c\u2029d\x0be\x0cf").position(10) == (1, 11)


def test_offsets_outside_the_text_move_to_its_end() -> None:
    source = Source("f", "ab\n")
    assert source.position(99) == (2, 1)
    assert source.position(-1) == (1, 1)
    assert source.offset(99, 1) == 3


@given(st.text(alphabet="a\r\n\u2028é", max_size=30))
def test_every_offset_survives_the_way_to_a_place_and_back(text: str) -> None:
    source = Source("f", text)
    for offset in range(len(text) + 1):
        assert source.offset(*source.position(offset)) == offset


@given(st.text(alphabet="a\r\n", max_size=12), st.integers(0, 12))
def test_a_large_file_counts_as_a_small_one_does(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    large = Source("f", text + "." * 100_001)
    assert large.position(offset) == Source("f", text + ".").position(offset)
