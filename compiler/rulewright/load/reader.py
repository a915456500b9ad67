"""The door of the loader: bytes in, a root node and diagnostics out, and no exception for what a file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rulewright.diagnostics import Diagnostic
    from rulewright.load.nodes import Node
    from rulewright.load.source import Source

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file as it was read. `root` is None when it is empty or broken; diagnostics of a broken file say why."""

    root: Node | None
    source: Source
    diagnostics: tuple[Diagnostic, ...]


def load_text(text: str | bytes, path: str, *, comments: bool = False) -> Loaded:
    """Read `text` as the file `path`: JSON when the path ends in `.json`, YAML otherwise.

    With `comments`, JSON may hold `//` comments.
    """
    raise NotImplementedError


def load_file(path: Path | str, *, comments: bool = False) -> Loaded:
    """Read a file; one that can't be read gives a diagnostic as well."""
    raise NotImplementedError
