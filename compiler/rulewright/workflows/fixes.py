"""Fixes of workflows: a key that is missing is written where it belongs, in the style of its neighbours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Edit, Fix
from rulewright.documents.base import descend
from rulewright.load import Mapping

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument
    from rulewright.load import Scalar

_DASH: Final = re.compile(r"[ \t]*-[ \t]+")
_REST: Final = re.compile(r"[ \t]*(#.*)?")
_COMMA_AFTER: Final = re.compile(r"\s*,[ \t]*")
_COMMA_BEFORE: Final = re.compile(r"\s*,\s*$")


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


def drop_item(item: Scalar, message: str) -> Fix | None:
    """The safe fix that takes an item out of its list: its whole line in a block, else the item and one comma; None
    where it does not stand like that. The list must hold another item."""
    text = item.source.text
    line, end = text.rfind("\n", 0, item.start) + 1, text.find("\n", item.end)
    end = len(text) if end < 0 else end
    if _DASH.fullmatch(text, line, item.start) and _REST.fullmatch(text, item.end, end):
        span = item.source.span(line, min(end + 1, len(text)))
    elif after := _COMMA_AFTER.match(text, item.end):
        span = item.source.span(item.start, after.end())
    elif before := _COMMA_BEFORE.search(text[: item.start]):
        span = item.source.span(before.start(), item.end)
    else:
        return None
    return Fix(message, (Edit(span, ""),), safe=True)
