"""The path of a place: the innermost key or value that stands there."""

from collections.abc import Iterator

import pytest

from rulewright.load import Mapping, Node, Sequence, load_text
from rulewright.load.nodes import path_at

YAML = """\
# what it is
id: X-C1
tags: [grief, 'two words']
turns:
- user_message: |
    It is late.
    Good night.
  rubric:
    - {id: r1, levels: {"0": no, "1.5": yes}}
-
  - nested
empty:
"a b": 1
last: &shared {deep: true}
again: *shared
"""
JSON = '{"turns": [{"user_message": "Hi", "probes": [1, 2]}, []], "": {"a.b": [null]}, "c\\"d": 0}'


def every_key(node: Node, path: str) -> Iterator[tuple[int, str]]:
    """Where every key and item begins, with its path."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            below = f'{path}["{entry.name}"]' if set(entry.name) & set('. "') or not entry.name else None
            below = (f"{path}.{entry.name}" if path else entry.name) if below is None else below.replace('c"d', 'c\\"d')
            yield entry.key.start, below
            if entry.value.start > entry.key.start:  # an alias stands for what is written elsewhere
                yield from every_key(entry.value, below)
    elif isinstance(node, Sequence):
        for i, item in enumerate(node.items):
            if not isinstance(item, Mapping):
                yield item.start, f"{path}[{i}]"
            yield from every_key(item, f"{path}[{i}]")


@pytest.mark.parametrize(("name", "text"), [("x.yaml", YAML), ("x.json", JSON)])
def test_every_key_and_item_has_its_path(name: str, text: str) -> None:
    root = load_text(text, name).root
    assert root is not None
    for offset, path in every_key(root, ""):
        assert path_at(root, offset).startswith(path), (path, path_at(root, offset))


@pytest.mark.parametrize(
    ("there", "path"),
    [
        ("what it", ""),
        ("X-C1", "id"),
        ("grief", "tags[0]"),
        ("two", "tags[1]"),
        ("Good night", "turns[0].user_message"),
        ("r1", "turns[0].rubric[0].id"),
        ('"1.5"', 'turns[0].rubric[0].levels["1.5"]'),
        ("nested", "turns[1][0]"),
        ("empty", "empty"),
        ('"a b"', '["a b"]'),
        ("deep", "last.deep"),
        ("again", "again"),
    ],
)
def test_a_place_has_the_path_of_the_innermost_key(there: str, path: str) -> None:
    assert path_at(load_text(YAML, "x.yaml").root, YAML.index(there)) == path


def test_what_could_not_be_read_has_no_paths() -> None:
    assert path_at(load_text("a: b\n  c: d\n", "x.yaml").root, 3) == ""


def test_a_deep_place_is_found_step_by_step() -> None:
    text = '{"a":' * 60 + "[0, 1]" + "}" * 60
    assert path_at(load_text(text, "x.json").root, text.index("1")) == ".".join("a" * 60) + "[1]"
