"""Converts positions to those of the protocol: 0-based lines and columns, columns in the negotiated encoding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from lsprotocol.types import Position, Range
from pygls.uris import from_fs_path, to_fs_path

from rulewright.diagnostics import Span
from rulewright.load import Source

UTF16: Final = "utf-16"  # supported by every editor
WIDTHS: Final[dict[str, Callable[[str], int]]] = {
    "utf-8": lambda text: len(text.encode()),
    UTF16: lambda text: len(text) + sum(char > "\uffff" for char in text),
    "utf-32": len,
}


def position_at(source: Source, offset: int, encoding: str = UTF16) -> Position:
    """Return the position of an offset."""
    return _position(source, *source.position(offset), encoding)


def range_at(source: Source, start: int, end: int, encoding: str = UTF16) -> Range:
    """Return the range between two offsets."""
    return Range(position_at(source, start, encoding), position_at(source, end, encoding))


def range_of(span: Span, source: Source | None, encoding: str = UTF16) -> Range:
    """Return the range of a span; without its source every character counts as one unit."""
    return Range(
        _position(source, span.line, span.column, encoding), _position(source, span.end_line, span.end_column, encoding)
    )


def offset_at(source: Source, position: Position, encoding: str = UTF16) -> int:
    """Return the offset of a position; one after the line's end is clamped, one inside a character gives its start."""
    line = source.line_text(position.line + 1)
    width = WIDTHS[encoding]
    low, high = 0, len(line)
    while low < high:  # the longest beginning of the line that is no wider
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(line[:middle]) <= position.character else (low, middle - 1)
    return source.offset(position.line + 1, low + 1)


def path_of(uri: str) -> str | None:
    """Return the path of a file URI, or None for any other URI."""
    try:
        file_path = to_fs_path(uri)
    except ValueError:  # not a URI
        return None
    return str(Path(file_path)) if file_path and Path(file_path).is_absolute() else None


def uri_of(path: str) -> str:
    """Return the URI of a path."""
    return str(from_fs_path(path))


def _position(source: Source | None, line: int, column: int, encoding: str) -> Position:
    prefix = None if source is None else source.line_text(line)[: column - 1]
    return Position(line - 1, column - 1 if prefix is None else WIDTHS[encoding](prefix))
