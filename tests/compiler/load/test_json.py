"""JSON files: the same nodes, stricter mistakes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import shared_data

from rulewright.load import Mapping, Scalar, Sequence, load_text, plain, walk

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_what_json_writes_is_read_back(value: Any, ascii_only: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    loaded = load_text(text, "f.json")
    assert loaded.diagnostics == ()
    assert json.dumps(plain(loaded.root)) == json.dumps(value)


@given(VALUES)
def test_every_value_is_where_its_span_says(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    for node in walk(load_text(text, "f.json").root):
        source = node.source
        start = source.offset(node.span.line, node.span.column)
        end = source.offset(node.span.end_line, node.span.end_column)
        assert json.dumps(json.loads(source.text[start:end])) == json.dumps(plain(node))


def test_keys_and_values_know_their_places() -> None:
    root = load_text('{"a": [1,\n  {"b": "x"}]}', "f.json").root
    assert isinstance(root, Mapping)
    items = root.get("a")
    assert isinstance(items, Sequence)
    inner = items.items[1]
    assert isinstance(inner, Mapping)
    assert (inner.key_span("b").line, inner.key_span("b").column) == (2, 4)
    value = inner.get("b")
    assert isinstance(value, Scalar)
    assert value.span.column == 9


MISTAKES = [
    ('{"a": 1, "a": 2}', "duplicate-key", 1, 10, "`a` is given twice"),
    ("[NaN]", "json-syntax", 1, 2, "found `NaN`"),
    ("[-Infinity]", "json-syntax", 1, 2, "found `-Infinity`"),
    ("[1e999]", "number-out-of-range", 1, 2, "`1e999`"),
    ('["a \\ud800"]', "lone-surrogate", 1, 5, "`\\ud800`"),
    ('["\\\\ud800 \\ud83d\\ude00 \\udc00"]', "lone-surrogate", 1, 24, "`\\udc00`"),
    ("[1,]", "json-syntax", 1, 3, "trailing comma before `]`"),
    ('{"a": 1,}', "json-syntax", 1, 8, "trailing comma before `}`"),
    ("{a: 1}", "json-syntax", 1, 2, "double quotes"),
    ("{'a': 1}", "json-syntax", 1, 2, "double quotes"),
    ('{"a" 1}', "json-syntax", 1, 6, "expected `:`"),
    ("[1 2]", "json-syntax", 1, 4, "expected `,` or `]`"),
    ("[01]", "json-syntax", 1, 2, "found `01`"),
    ("[True]", "json-syntax", 1, 2, "found `True`"),
    ("[truely]", "json-syntax", 1, 2, "found `truely`"),
    ('["a\nb"]', "json-syntax", 1, 4, "a line break"),
    ('["\\q"]', "json-syntax", 1, 3, "unknown escape `\\q`"),
    ('["abc', "json-syntax", 1, 2, "never closed"),
    ("[\0]", "json-syntax", 1, 2, "U+0000"),
    ("{} {}", "json-syntax", 1, 4, "the file to end"),
    ("", "json-syntax", 1, 1, "the file ends here"),
    ("[", "json-syntax", 1, 2, "the file ends here"),
    ("{} // x", "json-syntax", 1, 4, "JSON has no comments"),
]


@pytest.mark.parametrize(("text", "code", "line", "column", "piece"), MISTAKES)
def test_each_mistake_gives_one_diagnostic_at_its_place(
    text: str, code: str, line: int, column: int, piece: str
) -> None:
    (found,) = load_text(text, "f.json").diagnostics
    assert (found.code, found.span.line, found.span.column) == (code, line, column)
    assert piece in found.message


def test_comments_are_read_where_a_caller_allows_them() -> None:
    text = '// why\n{"a": 1, // one\n "url": "http://x"}\n'
    assert plain(load_text(text, "f.json", comments=True).root) == {"a": 1, "url": "http://x"}
    assert load_text("/* no */ {}", "f.json", comments=True).root is None


def test_the_published_scenarios_load_as_json_loads_them() -> None:
    for path in sorted(shared_data.folder("invisiblebench").glob("scenarios/**/*.json")):
        content = path.read_bytes()
        loaded = load_text(content, str(path))
        assert loaded.diagnostics == ()
        assert plain(loaded.root) == json.loads(content)


@given(st.text(alphabet='{}[],:"\\ntrufalse0123456789.eE+- \n', max_size=40))
def test_it_accepts_what_json_accepts_and_nothing_else(text: str) -> None:
    def refuse(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("duplicate")
        return dict(pairs)

    def constant(name: str) -> None:
        raise ValueError(name)

    try:
        wanted = json.loads(text, object_pairs_hook=refuse, parse_constant=constant)
        valid = "Infinity" not in json.dumps(wanted)
        json.dumps(wanted, ensure_ascii=False).encode()
    except ValueError:
        valid = False
    assert valid is (not load_text(text, "f.json").diagnostics)
