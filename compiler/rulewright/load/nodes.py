"""What a file holds before anybody knows what it means: mappings, sequences and scalars with their places.

Nodes keep offsets; lines and columns are computed when somebody asks for a span.
Nodes have no subclasses: where it is asked most often, `type(node) is Scalar` says what `isinstance` says, which takes
ten times as long to say no, because the metaclass of these structs has a say in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, final

import msgspec

from rulewright.diagnostics import Span
from rulewright.load.source import Source

Plain: TypeAlias = bool | int | float | str | None


@final
class Scalar(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A single value: `style`: `''` plain, `'` or `"` quoted, `|` literal, `>` folded, `j` a JSON string."""

    value: Plain
    start: int
    end: int
    style: str
    source: Source

    @property
    def span(self) -> Span:
        """Where the whole scalar stands, quotes and block indicators included."""
        return self.source.span(self.start, self.end)

    @property
    def raw(self) -> str:
        """The scalar as the author wrote it, quotes included: `0.80` where the value is 0.8."""
        return self.source.text[self.start : self.end]


@final
class Sequence(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A list."""

    items: tuple[Node, ...]
    start: int
    end: int
    source: Source

    @property
    def span(self) -> Span:
        """Where the whole list stands."""
        return self.source.span(self.start, self.end)

    def __iter__(self) -> Iterator[Node]:
        """The items in order."""
        return iter(self.items)

    def __len__(self) -> int:
        """How many items there are."""
        return len(self.items)


class Entry(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One key of a mapping with its value; `key.value` is always text."""

    key: Scalar
    value: Node

    @property
    def name(self) -> str:
        """The key's text."""
        return str(self.key.value)


@final
class Mapping(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Keys with values, in the order of the file; of a key given twice the first counts."""

    index: dict[str, Entry]
    start: int
    end: int
    source: Source

    @property
    def span(self) -> Span:
        """Where the whole mapping stands."""
        return self.source.span(self.start, self.end)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every key with its value, in the order of the file."""
        return tuple(self.index.values())

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, in the order of the file."""
        return tuple(self.index)

    def get(self, key: str) -> Node | None:
        """The value of `key`, or None when the key is absent (an explicit null is a `Scalar`)."""
        entry = self.index.get(key)
        return None if entry is None else entry.value

    def key_span(self, key: str) -> Span:
        """Where `key` stands; the whole mapping when there is no such key."""
        entry = self.index.get(key)
        return self.span if entry is None else entry.key.span

    def __contains__(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self.index


Node: TypeAlias = Mapping | Sequence | Scalar


def plain(node: Node | None) -> Any:
    """The node as dicts, lists and values, without places. Nesting is bounded by the loader, so this may recurse."""
    if type(node) is Scalar:
        return node.value
    if type(node) is Mapping:
        return {key: plain(entry.value) for key, entry in node.index.items()}
    if type(node) is Sequence:
        return [plain(item) for item in node.items]
    return None


def walk(node: Node | None) -> Iterator[Node]:
    """Every node below and including `node`, keys left out, in the order of the file; what aliases share comes once."""
    seen: set[int] = set()
    waiting = [] if node is None else [node]
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if type(current) is Mapping:
            waiting += [entry.value for entry in reversed(current.index.values())]
        elif type(current) is Sequence:
            waiting += reversed(current.items)
