"""YAML files: values of the 1.2 core schema, exact places, one diagnostic for each mistake."""

import math
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import shared_data

from rulewright.load import Mapping, Scalar, Sequence, load_file, load_text, plain

VALUES: dict[str, Any] = {
    "yes": "yes", "on": "on", "N": "N", "1:30": "1:30", "2026-06-10": "2026-06-10", "1_000": "1_000", "0b1": "0b1",
    "true": True, "False": False, "tRue": "tRue", "~": None, "Null": None, "nULL": "nULL", "010": 10, "0o17": 15,
    "0x1F": 31, "-0x1F": "-0x1F", "+12": 12, "1e3": 1000.0, "1.": 1.0, ".5": 0.5, "-1.5E-2": -0.015, ".": ".",
    "--": "--", "1.2.3": "1.2.3", "١": "١", "'1'": "1", '"true"': "true", "!!str 5": "5", "!!float 5": 5.0, "! 5": "5",
    "!!int 7": 7, "<<": "<<", "a\u0085b": "a\u0085b",
}  # fmt: skip


@pytest.mark.parametrize(("written", "value"), VALUES.items())
def test_scalars_follow_the_core_schema(written: str, value: object) -> None:
    loaded = load_text(f"k: {written}\n", "f.yaml")
    assert loaded.diagnostics == ()
    assert isinstance(loaded.root, Mapping)
    node = loaded.root.get("k")
    assert isinstance(node, Scalar)
    assert (node.value, type(node.value)) == (value, type(value))


def test_infinity_and_nan_have_their_own_spelling() -> None:
    values = plain(load_text("[.inf, -.Inf, .nan, inf, nan]", "f.yaml").root)
    assert values[:2] == [math.inf, -math.inf]
    assert math.isnan(values[2])
    assert values[3:] == ["inf", "nan"]


def test_keys_and_values_know_their_places() -> None:
    loaded = load_text("\ufeffa: 1\nb:\n- x\n- {c: 'd'}\n".encode(), "f.yaml")
    root = loaded.root
    assert isinstance(root, Mapping)
    assert loaded.source.bom
    assert (root.key_span("b").line, root.key_span("b").column) == (2, 1)
    items = root.get("b")
    assert isinstance(items, Sequence)
    inner = items.items[1]
    assert isinstance(inner, Mapping)
    value = inner.get("c")
    assert isinstance(value, Scalar)
    assert (value.span.line, value.span.column, value.span.end_column) == (4, 7, 10)
    assert value.raw == "'d'"


def test_a_scalar_with_properties_starts_behind_them() -> None:
    root = load_text("k: &a !!str  # why\n  v\nl: *a\n", "f.yaml").root
    assert isinstance(root, Mapping)
    node = root.get("k")
    assert isinstance(node, Scalar)
    assert node.raw == "v"
    assert root.get("l") is node


def test_block_collections_end_with_their_last_value() -> None:
    root = load_text("a:\n  b: 1\n\n# far away\nc: 2\n", "f.yaml").root
    assert isinstance(root, Mapping)
    inner = root.get("a")
    assert inner is not None
    assert (inner.span.end_line, inner.span.end_column) == (2, 7)


# Text; code; line and column where it is shown; a piece of the message.
MISTAKES = [
    ("a: 1\na: 2\n", "duplicate-key", 2, 1, "`a` is given twice"),
    ("a: &x [*x]\n", "recursive-alias", 1, 8, "`*x` refers to the value"),
    ("a: *x\n", "unknown-alias", 1, 4, "no anchor `&x`"),
    ("a: &x {b: 1}\nc:\n  <<: *x\n", "merge-key", 3, 3, "merge keys"),
    ("a: !!python/name:os.system x\n", "custom-tag", 1, 4, "`!!python/name:os.system`"),
    ("a: !env {b: 1}\n", "custom-tag", 1, 4, "`!env`"),
    ("a: !x!env b\n", "custom-tag", 1, 4, "`!x!env`"),
    ("a: !!int x\n", "custom-tag", 1, 10, "is not what the tag `!!int` says"),
    ("1: a\n", "key-is-not-text", 1, 1, "`1` is a number"),
    ("? [a]\n: b\n", "key-is-not-text", 1, 3, "`[a]` is a list"),
    ("a: 1\n---\nb: 1\n", "several-documents", 2, 1, "second document"),
    ("a:\n\t- b\n", "tab-indentation", 2, 1, "a tab can't indent"),
    ("a: \x07\n", "control-character", 1, 4, "U+0007"),
    ('é: "\\ud800"\n', "lone-surrogate", 1, 5, "`\\ud800`"),
    ("a: \ud800\n", "lone-surrogate", 1, 4, "U+D800"),
    ("a: 1e999\n", "number-out-of-range", 1, 4, "`1e999` is too large"),
    ("a: 0x" + "f" * 2000, "number-out-of-range", 1, 4, "is too large"),
    ("a: b: c\n", "yaml-syntax", 1, 5, "`: ` is not allowed"),
    ("a: 'x\nb: 1\n", "yaml-syntax", 1, 4, "never closed"),
    ("a: [x, 'don't know', y]\n", "yaml-syntax", 1, 12, "the quotes end at this apostrophe"),
    ("a:\n  - one\n  - 'don't know'\n", "yaml-syntax", 3, 9, "the quotes end at this apostrophe"),
    ("a: [1, 2\nb: 3\n", "yaml-syntax", 1, 9, "expected `,` or `]`"),
    ("a: {b:, c: 1}\n", "yaml-syntax", 1, 6, "after this `:` a space or a value is missing"),
    ("a: {b:[1]}\n", "yaml-syntax", 1, 6, "after this `:` a space or a value is missing"),
    ("a: @x\n", "yaml-syntax", 1, 4, "`@` can't start a value"),
    ("a: 1\nfoo\nb: 2\n", "yaml-syntax", 2, 1, "expected `key: value`"),
    ("a: 1\nfoo\n  c: 3\nb: 2\n", "yaml-syntax", 2, 1, "expected `key:` above the keys"),
    ('a: "\\q"\n', "yaml-syntax", 1, 5, "unknown escape"),
    ("%A b\n" * 30, "yaml-syntax", 21, 1, "start with `%`"),
]


@pytest.mark.parametrize(("text", "code", "line", "column", "piece"), MISTAKES)
def test_each_mistake_gives_one_diagnostic_at_its_place(
    text: str, code: str, line: int, column: int, piece: str
) -> None:
    (found,) = load_text(text, "f.yaml").diagnostics
    assert (found.code, found.span.line, found.span.column) == (code, line, column)
    assert piece in found.message
    assert "\n" not in found.message


def test_a_duplicate_shows_the_first_place_and_keeps_its_value() -> None:
    loaded = load_text("a: 1\nb: 2\na: 3\n", "f.yaml")
    assert plain(loaded.root) == {"a": 1, "b": 2}
    assert [(n.span.line, n.message) for n in loaded.diagnostics[0].notes] == [(1, "first given here")]


def test_one_run_shows_every_mistake() -> None:
    loaded = load_text("a: *x\nb: !y 1\nb: 2\n3: 4\n", "f.yaml")
    assert [d.code for d in loaded.diagnostics] == ["unknown-alias", "custom-tag", "duplicate-key", "key-is-not-text"]
    assert loaded.root is None


BYTES = [
    (b"a: caf\xe9\n", "not-utf-8", 1, 7),
    ("a: b".encode("utf-16"), "not-utf-8", 1, 1),
    ("a: b".encode("utf-32"), "not-utf-8", 1, 1),
    (b"\xef\xbb\xbfa: \xff", "not-utf-8", 1, 4),
]


@pytest.mark.parametrize(("content", "code", "line", "column"), BYTES)
def test_only_utf_8_is_read(content: bytes, code: str, line: int, column: int) -> None:
    (found,) = load_text(content, "f.yaml").diagnostics
    assert (found.code, found.span.line, found.span.column) == (code, line, column)


def test_a_missing_file_is_a_diagnostic() -> None:
    (found,) = load_file("no/such/file.yaml").diagnostics
    assert (found.code, found.message) == ("unreadable-file", "can't read this file: no such file or directory")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_a_diagnostic_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (found,) = load_file(tmp_path / "pipe.yaml").diagnostics
    assert (found.code, found.message) == (
        "unreadable-file",
        "can't read this file: it is a pipe; save its content in a file",
    )


def test_an_empty_file_is_not_a_loader_error() -> None:
    for text in ("", "# nothing\n", "\ufeff"):
        loaded = load_text(text, "f.yaml")
        assert (loaded.root, loaded.diagnostics) == (None, ())


def test_the_published_checks_load_as_the_safe_loader_loads_them() -> None:
    for path in sorted(shared_data.folder("invisiblebench").glob("checks/*.yaml")):
        loaded = load_file(path)
        assert loaded.diagnostics == ()
        assert plain(loaded.root) == yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)


HEAD = "gates:\n  safe:\n    of: a\n    stops: b\n"
SLIPS = [
    ('a: "one\nb: two\nc: "three"\n', 1, "the quotes are never closed"),
    ("a: 'one\nb: 'two'\n", 1, "the quotes are never closed"),
    ('text: |\n  "quoted\nb: "two" three\n', 3, ""),
    ('a: "one\n  two"\nb: [1\n', 3, "expected `,` or `]` here"),
    ("a: [1, 2\nb: 3\n", 1, "expected `,` or `]` here"),
    ("a: 1\nb: c: 1, d: 2}\n", 2, "the braces are never opened"),
    ("a: {b: 1,\n  c: 2\nd: 3\n", 2, "expected `,` or `}` here"),
    ("names:\n  - one\n  -two\n  - three\nb: 1\n", 3, "a space is missing after `-`"),
    ("a:\n  -path: x\n   key: y\n", 2, "a space is missing after `-`"),
    (" a: 1\nb: 2\n", 1, "`a` is indented wrongly"),
    ("gates:\n  safe:\n   of: a\n    stops: b\n", 3, "`of` is indented wrongly"),
    ("gates:\n  safe:\n      of: a\n    stops: b\n    left: c\n", 3, "`of` is indented wrongly"),
    (HEAD.replace("    stops", "     stops"), 4, "`stops` is indented wrongly"),
    ('version "1"\nname: x\n', 1, "expected `key: value`"),
    ("rates:\n  service\n    rate: 1\n", 2, "expected `key:` above the keys of a mapping"),
    ("routing:\n  route:trace\n  machine: danger\n", 2, "expected `key: value`"),
    ("rates:\n  service\n\n    rate: 1\n", 2, "expected `key:` above the keys of a mapping"),
]


@pytest.mark.parametrize(("text", "line", "message"), SLIPS)
def test_a_slip_is_reported_at_its_own_line(text: str, line: int, message: str) -> None:
    loaded = load_text(text, "f.yaml")
    (found,) = loaded.diagnostics
    assert loaded.root is None
    assert found.span.line == line
    assert message in found.message


@pytest.mark.parametrize("text", ['a: "one\n  two"\nb: 1\n', "a: 'it''s\n  long'\n", "a:\n  - -1\n", "a: -x\n"])
def test_readable_yaml_gives_no_syntax_error(text: str) -> None:
    assert load_text(text, "f.yaml").diagnostics == ()
