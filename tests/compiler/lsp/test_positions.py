"""Columns are counted in the units the editor counts in, whatever characters stand before them."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position

from rulewright.load import Source
from rulewright.lsp.positions import offset_at, path_of, position_at, range_of, uri_of

TEXT = "name: 'é 😀 漢字 👩‍👩‍👧'\r\nnext: x\rlast: 𝒳y"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_offset_comes_back(encoding: str) -> None:
    source = Source("a.yaml", TEXT)
    inside_a_break = TEXT.index("\r\n") + 1
    for offset in set(range(len(TEXT) + 1)) - {inside_a_break}:
        assert offset_at(source, position_at(source, offset, encoding), encoding) == offset


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 14), ("utf-16", 11), ("utf-32", 10)])
def test_a_character_beyond_the_basic_plane_is_as_wide_as_the_encoding_says(encoding: str, column: int) -> None:
    source = Source("a.yaml", TEXT)
    assert position_at(source, TEXT.index("😀") + 1, encoding) == Position(0, column)


def test_lines_end_where_editors_end_them() -> None:
    source = Source("a.yaml", "a\u2028b\x0cc\nd")
    assert position_at(source, 6) == Position(1, 0)


def test_a_place_beyond_a_line_is_its_end() -> None:
    source = Source("a.yaml", "ab\ncd\n")
    assert offset_at(source, Position(0, 99)) == 2
    assert offset_at(source, Position(99, 0)) == 6


def test_a_place_inside_a_character_is_its_start() -> None:
    assert offset_at(Source("a.yaml", "😀x"), Position(0, 1)) == 0


def test_a_span_without_its_source_is_taken_as_it_is() -> None:
    source = Source("a.yaml", "a: b\n")
    assert range_of(source.span(3, 4), None).start == Position(0, 3)


def test_paths_and_uris_are_each_others_reverse() -> None:
    path = "/tmp/ä folder/50% #1.yaml"
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "http://example.org/a.yaml", "", "file://[", "nonsense"])
def test_what_is_no_file_has_no_path(uri: str) -> None:
    assert path_of(uri) is None
