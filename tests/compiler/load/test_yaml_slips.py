"""A text that can't be read is told of where the slip was made, not where the reader stumbles."""

from __future__ import annotations

import pytest

from rulewright.load import load_text

HEAD = "gates:\n  safe:\n    of: a\n    stops: b\n"
SLIPS = [
    ('a: "one\nb: two\nc: "three"\n', 1, "the quotes are never closed"),
    ("a: 'one\nb: 'two'\n", 1, "the quotes are never closed"),
    ('text: |\n  "quoted\nb: "two" three\n', 3, ""),
    ('a: "one\n  two"\nb: [1\n', 3, "expected `,` or `]` here"),
    ("a: [1, 2\nb: 3\n", 1, "expected `,` or `]` here"),
    ("a: 1\nb: c: 1, d: 2}\n", 2, "the braces are never opened"),
    ("a: {b: 1,\n  c: 2\nd: 3\n", 2, "expected `,` or `}` here"),
    ("names:\n  - one\n  -two\n  - three\nb: 1\n", 3, "a blank is missing behind `-`"),
    ("a:\n  -path: x\n   key: y\n", 2, "a blank is missing behind `-`"),
    (" a: 1\nb: 2\n", 1, "`a` is indented wrongly"),
    ("gates:\n  safe:\n   of: a\n    stops: b\n", 3, "`of` is indented wrongly"),
    ("gates:\n  safe:\n      of: a\n    stops: b\n    left: c\n", 3, "`of` is indented wrongly"),
    (HEAD.replace("    stops", "     stops"), 4, "`stops` is indented wrongly"),
    ('version "1"\nname: x\n', 1, "expected `key: value`"),
    ("rates:\n  service\n    rate: 1\n", 2, "expected `key:` above the keys of a mapping"),
    ("rates:\n  service\n\n    rate: 1\n", 2, "expected `key:` above the keys of a mapping"),
]


@pytest.mark.parametrize(("text", "line", "message"), SLIPS)
def test_a_slip_is_told_at_its_own_line(text: str, line: int, message: str) -> None:
    loaded = load_text(text, "f.yaml")
    (found,) = loaded.diagnostics
    assert loaded.root is None
    assert found.span.line == line
    assert message in found.message


@pytest.mark.parametrize("text", ['a: "one\n  two"\nb: 1\n', "a: 'it''s\n  long'\n", "a:\n  - -1\n", "a: -x\n"])
def test_what_can_be_read_is_no_slip(text: str) -> None:
    assert load_text(text, "f.yaml").diagnostics == ()
