"""Fixes of workflows: a key that is missing is written where it belongs, in the style of its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import Edit, Fix
from rulewright.documents.base import descend
from rulewright.load import Mapping

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument


def add_key(node: Mapping, key: str, value: str) -> Fix | None:
    """The fix that writes `key: value` before the mapping's first key; None where the mapping is empty."""
    if not node.entries:
        return None
    first = node.entries[0].key
    source = node.source
    span = source.span(first.start, first.start)
    if first.style == "j":
        text = f'"{key}": {value}, '
    elif source.text[node.start] == "{":
        text = f"{key}: {value}, "
    else:
        text = f"{key}: {value}\n{' ' * (span.column - 1)}"
    return Fix(f"write `{key}: {value}`", (Edit(span, text),), safe=False)


def add_overlay(task: TaskDocument, name: str, settings: str) -> Fix | None:
    """The fix that enables an overlay in the task; None where the task has no overlays of its own, or speaks of this
    one already."""
    overlays = descend(task.node, "overlays")
    if not isinstance(overlays, Mapping) or name in overlays or (overlays.entries and overlays.entries[0].key.style):
        return None
    return add_key(overlays, name, f"{{enabled: true, {settings}}}")
