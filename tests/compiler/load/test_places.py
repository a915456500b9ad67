"""Every ordinary character of a loaded string stands in the file exactly where `place` says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds

from rulewright.load import Mapping, Node, Scalar, Sequence, load_text, place

EXAMPLES = rounds(60, 20_000)


def value_of(text: str, path: str = "f.yaml", key: str = "k") -> Scalar:
    """The scalar under `key`."""
    loaded = load_text(text, path)
    assert loaded.diagnostics == ()
    assert isinstance(loaded.root, Mapping)
    node = loaded.root.get(key)
    assert isinstance(node, Scalar)
    return node


def shown(scalar: Scalar, word: str) -> str:
    """What stands in the file where `word` stands in the value."""
    assert isinstance(scalar.value, str)
    at = scalar.value.index(word)
    span = place(scalar, at, at + len(word))
    source = scalar.source
    return source.text[source.offset(span.line, span.column) : source.offset(span.end_line, span.end_column)]


STYLES = {
    "plain": "k: one two\n",
    "plain on two lines": "k: one\n  two\n",
    "plain with an empty line": "k: one\n\n\n  two\n",
    "single quotes": "k: 'it''s one two'\n",
    "single quotes on two lines": "k: 'one  \n\n   two'\n",
    "double quotes": 'k: "\\x41\\u00e9\\U0001F600\\t\\"\\\\\\n one two"\n',
    "an escaped line break": 'k: "one \\\n    two"\n',
    "an escaped line break and an empty line": 'k: "one \\\n\n    two"\n',
    "literal": "k: |\n  one\n   two\n",
    "literal, kept": "k: |+\n  one\n\n  two\n\n\n",
    "literal, stripped, with comment": "k: |-  # why\n  one\n  two\n",
    "literal with an indicator": "k: |2\n    one\n  two\n",
    "literal after empty lines": "k: |\n\n \n  one\n  two",
    "folded": "k: >\n  one\n  two\n",
    "folded with indented lines": "k: >-\n  a\n\n    one\n    two\n  b\n\n\n  c\n",
    "in a flow mapping": "{j: [1], k: one\n two}\n",
    "carriage returns": "k: |\r\n  one\r\n  two\r\n",
    "old carriage returns": "k: >\r  one\r  two\r",
    "with a tag and an anchor": "k: &a !!str\n  one two\n",
    "behind a next line character": "k: a\u0085b\u2028 one two\n",
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_words_are_found_in_every_style(text: str) -> None:
    scalar = value_of(text)
    assert shown(scalar, "one") == "one"
    assert shown(scalar, "two") == "two"


def test_an_escape_is_shown_whole() -> None:
    assert shown(value_of('k: "a\\u00e9b"\n'), "é") == "\\u00e9"
    assert shown(value_of("k: 'it''s'\n"), "'") == "''"
    assert shown(value_of('{"k": "a\\ud83d\\ude00b"}', "f.json"), "😀") == "\\ud83d\\ude00"


def test_the_end_of_a_value_is_a_place_too() -> None:
    scalar = value_of("k: 'abc'\n")
    assert place(scalar, 3, 3).column == 8
    assert place(value_of("k: ''\n"), 0, 0).column == 5


def test_a_place_outside_the_value_is_the_scalar() -> None:
    scalar = value_of("k: 'abc'\n")
    assert place(scalar, 2, 9) == scalar.span


def test_a_number_is_traced_as_it_is_written() -> None:
    assert place(value_of("k: 0.80\n"), 2, 4).column == 6


def strings(node: Node | None) -> list[Scalar]:
    """Every string below a node, keys included."""
    if isinstance(node, Scalar):
        return [node] if isinstance(node.value, str) else []
    if isinstance(node, Sequence):
        return [scalar for item in node for scalar in strings(item)]
    if isinstance(node, Mapping):
        return [scalar for entry in node.entries for scalar in (entry.key, *strings(entry.value))]
    return []


def check_every_character(scalar: Scalar) -> None:
    """Characters that no escape can hide must be found at their place, in order."""
    assert isinstance(scalar.value, str)
    last = 0
    for i, char in enumerate(scalar.value):
        span = place(scalar, i, i + 1)
        start = scalar.source.offset(span.line, span.column)
        end = scalar.source.offset(span.end_line, span.end_column)
        written = scalar.source.text[start:end]
        assert start >= last
        last = end
        if char in " \n":
            assert written in (char, "\n", "\r\n", "\r", "\\n", "\\ ", "\\x20"), (char, written)
        elif not written.startswith("\\"):
            assert written in (char, char * 2), (char, written)


INNER = st.text(alphabet="abé😀 \t\n\n'\"\\:#-,[]{}|>x4nue0\u0085\u2028", max_size=30)
LINES = st.lists(st.text(alphabet="ab é😀\t#:-", max_size=6), max_size=6)
HEADERS = st.builds(
    lambda style, sign, digit, first: style + (sign + digit if first else digit + sign),
    st.sampled_from("|>"),
    st.sampled_from(["", "+", "-"]),
    st.sampled_from(["", "1", "2", "3"]),
    st.booleans(),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Texts that are often valid YAML, with strings in every style."""
    parts = []
    for i in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["plain", "single", "double", "block", "flow"]))
        inner = draw(INNER)
        indented = inner.replace("\n", "\n  ")
        if kind == "plain":
            value = indented
        elif kind == "single":
            value = "'" + indented.replace("'", "''") + "'"
        elif kind == "double":
            value = '"' + indented.replace('"', '\\"') + '"'
        elif kind == "flow":
            value = "[a, '" + indented.replace("'", "''") + "', {k: \"x" + indented.replace('"', "") + '"}]'
        else:
            indent = " " * draw(st.integers(1, 4))
            value = (
                draw(HEADERS)
                + "\n"
                + "\n".join(indent + line for line in draw(LINES))
                + draw(st.sampled_from(["", "\n", "\n\n"]))
            )
        parts.append(f"k{i}: {value}\n")
    text = "".join(parts)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))


@settings(max_examples=EXAMPLES)
@given(documents())
def test_every_character_of_every_style_is_traced(text: str) -> None:
    for scalar in strings(load_text(text, "f.yaml").root):
        check_every_character(scalar)


@settings(max_examples=EXAMPLES)
@given(st.text(alphabet='{}[],:"\\ab1eu0d89cn \n\ud7ff', max_size=40))
def test_every_character_of_json_is_traced(text: str) -> None:
    for scalar in strings(load_text('{"k": "' + text.replace('"', "") + '"}', "f.json").root):
        check_every_character(scalar)
