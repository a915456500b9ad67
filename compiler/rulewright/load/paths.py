"""Paths from a document's root as keys and indexes: `turns[0].rubric[1].dimension`."""

from __future__ import annotations

import re
from typing import Final

from rulewright.load.nodes import Mapping, Node, Sequence

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
    """The path of a key; one with dots, brackets, quotes or blanks is quoted, so that paths are unambiguous."""
    if not PLAIN.fullmatch(name):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{escaped}"]'
    return f"{path}.{name}" if path else name
