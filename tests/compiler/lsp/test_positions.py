"""Columns are counted in the units the editor counts in, whatever characters stand before them."""

import pytest
from lsprotocol.types import Position

from rulewright.load import Source, load_text
from rulewright.lsp.cursor import MARK, CompletionContext, completion_contexts, cursor_at
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
def test_a_uri_that_is_not_a_file_has_no_path(uri: str) -> None:
    assert path_of(uri) is None


Path = tuple[str | int, ...]


@pytest.mark.parametrize(
    ("text", "path", "is_key"),
    [
        ("a: 1\nb|: 2\n", ("b",), True),
        ("a:\n  - x\n  - y|\n", ("a", 1), False),
        ("a: {b: [c, d|d]}\n", ("a", "b", 1), False),
    ],
)
def test_a_place_is_recognized_by_its_keys(text: str, path: Path, is_key: bool) -> None:
    cursor = cursor_at(load_text(text.replace("|", "", 1), "x.yaml").root, text.index("|"))
    assert cursor is not None
    assert (cursor.path, cursor.is_key) == (path, is_key)


@pytest.mark.parametrize("text", ["|", "a: 1\n|\n\n", "# comment |\na: 1\n"])
def test_a_position_between_values_has_no_path(text: str) -> None:
    assert cursor_at(load_text(text.replace("|", "", 1), "x.yaml").root, text.index("|")) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("id: a\nrou|", (MARK,)),
        ("|", (MARK,)),
        ("routing:\n  route: lexicon_only\n  rou|\nprompt: x\n", ("routing", MARK)),
        ("routing:\n  |\nprompt: x\n", ("routing", MARK)),
        ("tasks:\n  a:\n    inputs:\n      - pa|\n", ("tasks", "a", "inputs", 0, MARK)),
        ("routing: {route: x, |}\n", ("routing", MARK)),
        ("ro|ute: x\n", (MARK,)),
        ("routing: {rou|\n", ("routing", MARK)),
        ("above: 1\nrou|\nbroken: [\n", (MARK,)),
    ],
)
def test_a_key_that_is_being_typed_is_found(text: str, path: Path) -> None:
    assert path in [typing.cursor.path for typing in _typings(text) if typing.cursor.is_key]


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("routing:\n  route: |\n", ("routing", "route"), MARK),
        ("routing:\n  route: lex|\nid: a\n", ("routing", "route"), MARK),
        ("scorecard: two-ti|\n", ("scorecard",), f"two-{MARK}"),
        ("tags:\n  - a\n  - |\n", ("tags", 1), MARK),
        ("tags: [a, |]\n", ("tags", 1), MARK),
        ("tags: [a, |\n", ("tags", 1), MARK),
        ('when: "a == |\nid: b\n', ("when",), f"a == {MARK}"),
        ("when: 'a == |'\nid: b\n", ("when",), f"a == {MARK}"),
        ("when: >\n  a ==\n  |\nid: b\n", ("when",), f"a == {MARK}\n"),
    ],
)
def test_a_value_that_is_being_typed_is_found(text: str, path: Path, value: str) -> None:
    found = [(typing.cursor.path, typing.cursor.scalar.value) for typing in _typings(text) if not typing.cursor.is_key]
    assert (path, value) in found


@pytest.mark.parametrize(
    "text",
    ['{"a": {|}}', '{"a": {"b|"}}', '{"a": {"b": 1, "|"}}', '{"a": {|"b": 1}}', '{"a": {"b|', '{"a": {"]{": [1], "b|'],
)
def test_a_key_of_json_that_is_being_typed_is_found(text: str) -> None:
    assert [typing.cursor.path for typing in _typings(text, "x.json") if typing.cursor.is_key] == [("a", MARK)]


@pytest.mark.parametrize("text", ['{"a": "b|"}', '{"a": |}', '{"a": |, "c": 1}', '{"a": "b|', '{"a": |'])
def test_a_value_of_json_that_is_being_typed_is_found(text: str) -> None:
    assert [typing.cursor.path for typing in _typings(text, "x.json") if not typing.cursor.is_key] == [("a",)]


def test_a_file_in_which_nobody_types_is_not_read_again_and_again() -> None:
    assert list(completion_contexts("a: " + "x" * 500_000, "x.yaml", 3)) == []


def _typings(text: str, path: str = "x.yaml") -> list[CompletionContext]:
    return list(completion_contexts(text.replace("|", "", 1), path, text.index("|")))
