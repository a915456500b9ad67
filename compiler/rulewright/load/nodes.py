"""The nodes of a loaded file: mappings, sequences and scalars with their offsets.

Lines and columns are computed when a span is requested. Nodes have no subclasses, so hot paths test `type(node) is
Scalar`: `isinstance` takes ten times as long for a negative answer, because of the metaclass of these structs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeGuard, final

import msgspec

from rulewright.diagnostics import Span

Plain: TypeAlias = bool | int | float | str | None


@final
class Scalar(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A single value. `style`: `''` plain, `'` or `"` quoted, `|` literal, `>` folded, `j` a JSON string."""

    value: Plain
    start: int
    end: int
    style: str
    source: Source

    @property
    def span(self) -> Span:
        """The span of the whole scalar, including quotes and block indicators."""
        return self.source.span(self.start, self.end)

    @property
    def raw(self) -> str:
        """The scalar's source text, including quotes: `0.80` where the value is 0.8."""
        return self.source.text[self.start : self.end]

    @property
    def text(self) -> str:
        """The value as text."""
        return str(self.value)

    @property
    def as_float(self) -> float:
        """The value, which is a number. Raises ValueError for a text that is none."""
        return float(self.text)


@final
class Sequence(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A list."""

    items: tuple[Node, ...]
    start: int
    end: int
    source: Source

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Entry(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One key of a mapping with its value; `key.value` is always text."""

    key: Scalar
    value: Node

    @property
    def name(self) -> str:
        """The key's text."""
        return self.key.text


@final
class Mapping(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Keys with values, in file order; of a duplicate key the first counts."""

    index: dict[str, Entry]
    start: int
    end: int
    source: Source

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every key with its value, in file order."""
        return tuple(self.index.values())

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, in file order."""
        return tuple(self.index)

    def get(self, key: str) -> Node | None:
        """Return the value of `key`, or None when the key is absent (an explicit null is a `Scalar`)."""
        entry = self.index.get(key)
        return None if entry is None else entry.value

    def key_span(self, key: str) -> Span:
        """Return the span of `key`, or of the whole mapping when the key is absent."""
        entry = self.index.get(key)
        return self.span if entry is None else entry.key.span

    def __contains__(self, key: str) -> bool:
        return key in self.index


Node: TypeAlias = Mapping | Sequence | Scalar


def plain(node: Node | None) -> Any:
    """Return the node as plain dicts, lists and values. The loader bounds nesting, so this may recurse."""
    if type(node) is Scalar:
        return node.value
    if type(node) is Mapping:
        return {key: plain(entry.value) for key, entry in node.index.items()}
    if type(node) is Sequence:
        return [plain(item) for item in node.items]
    return None


def walk(node: Node | None) -> Iterator[Node]:
    """Iterate over `node` and its descendants without keys, in file order; nodes shared by aliases come once."""
    seen: set[int] = set()
    pending = [] if node is None else [node]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if type(current) is Mapping:
            pending += [entry.value for entry in reversed(current.index.values())]
        elif type(current) is Sequence:
            pending += reversed(current.items)


def repeated(root: Node | None) -> list[Node]:
    """Return the descendants of a node that aliases repeat; of nested ones the outermost."""
    seen: set[int] = set()
    found: list[Node] = []
    pending = [] if root is None else [root]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            found.append(current)
            continue
        seen.add(id(current))
        if type(current) is Mapping:
            pending += [entry.value for entry in current.index.values()]
        elif type(current) is Sequence:
            pending += current.items
    return found


def is_text(node: Node | None) -> TypeGuard[Scalar]:
    """Whether a node is a text."""
    return type(node) is Scalar and isinstance(node.value, str)


def scalars_below(*nodes: Node | None) -> Iterator[Scalar]:
    """Iterate over the scalars among the nodes and their descendants, in file order."""
    return (each for node in nodes for each in walk(node) if type(each) is Scalar)


PLAIN: Final = re.compile(r"[^.\[\]\"\s]+")


def path_at(root: Node | None, offset: int) -> str:
    """Return the path of the innermost key or value at `offset` of the root's file; empty where there is none."""
    path, node = "", root
    while node is not None:
        path, node = _step(path, node, offset)
    return path


def _step(path: str, node: Node, offset: int) -> tuple[str, Node | None]:
    """One step towards `offset`: the extended path, and the value to continue with, if any."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            if _holds(entry.key, offset):
                return _key(path, entry.name), None
            if _holds(entry.value, offset):
                return _key(path, entry.name), entry.value
    elif isinstance(node, Sequence):
        for i, item in enumerate(node.items):
            if _holds(item, offset):
                return f"{path}[{i}]", item
    return path, None


def _holds(node: Node, offset: int) -> bool:
    return node.start <= offset < node.end or node.start == offset


def _key(path: str, name: str) -> str:
    """The path of a key; one with dots, brackets, quotes or spaces is quoted, so that paths are unambiguous."""
    if not PLAIN.fullmatch(name):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{escaped}"]'
    return f"{path}.{name}" if path else name


_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The text of one file, without its byte order mark.

    Offsets count code points from 0. Lines end at `\\n`, `\\r\\n` or `\\r` only: libyaml also breaks lines at NEL, LS
    and PS, which no editor does, so its own line numbers are never used.
    """

    path: str
    text: str = field(repr=False)
    bom: bool = False  # the file began with a byte order mark; a rewritten file keeps it
    _starts: list[int] = field(default_factory=list, init=False, repr=False)

    @property
    def starts(self) -> list[int]:
        """The offsets of line starts, ascending; the first is 0."""
        if not self._starts:
            text = self.text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in self.text else self.text
            self._starts.append(0)
            self._starts.extend(accumulate(map((1).__add__, map(len, text.split("\n")))))
            del self._starts[-1]
        return self._starts

    @property
    def newline(self) -> str:
        """The line break of the file, that of its first line."""
        first = _NEWLINE.search(self.text)
        return first.group() if first else "\n"

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of `offset`; offsets outside the text are clamped."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column; positions outside the text are clamped."""
        if line > len(self.starts):
            return len(self.text)
        return min(self.starts[max(line, 1) - 1] + max(column, 1) - 1, len(self.text))

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset `start` up to but not including offset `end`."""
        line, column = self.position(start)
        end_line, end_column = self.position(max(start, end))
        return Span(self.path, line, column, end_line, end_column)

    def between(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def line_text(self, line: int) -> str:
        """Return the text of a 1-based line without its line break; empty for a line outside the text."""
        if not 1 <= line <= len(self.starts):
            return ""
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")
