"""What may be written at the cursor: keys with their descriptions, words a key allows, names, parts of expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    MarkupContent,
    MarkupKind,
    Range,
    TextEdit,
)

from rulewright.documents.base import descend, text
from rulewright.keys import allowed
from rulewright.load import Mapping, Source, unsaved
from rulewright.lsp.hover import about_key
from rulewright.lsp.places import expression_at
from rulewright.lsp.positions import offset_at, range_at
from rulewright.lsp.references import targets
from rulewright.lsp.spots import MARK, typings
from rulewright.lsp.syntax import words_at
from rulewright.manual import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol.types import Position

    from rulewright.lsp.around import Around
    from rulewright.lsp.spots import Typing
    from rulewright.lsp.syntax import Sort

_ALLOWING: Final = re.compile(r"#[ \t]*rulewright:[ \t]*allow[ \t]+(?:[a-z0-9-]+[ \t]*,[ \t]*)*([a-z0-9-]*)\Z")
_NEEDS_QUOTES: Final = re.compile(r"[\s:#\[\]{},&*!|>'\"%@`]|^[-?]|^$")
_KINDS: Final[dict[Sort, CompletionItemKind]] = {
    "constant": CompletionItemKind.EnumMember,
    "field": CompletionItemKind.Field,
    "function": CompletionItemKind.Function,
    "variable": CompletionItemKind.Variable,
}


def completions(source: Source, position: Position, around: Around, encoding: str) -> list[CompletionItem]:
    """What may be written at a place, the likeliest first."""
    offset = offset_at(source, position, encoding)
    line = source.text[source.offset(position.line + 1, 1) : offset]
    if allowing := _ALLOWING.search(line):
        place = range_at(source, offset - len(allowing[1]), offset, encoding)
        return [_item(code, CompletionItemKind.Value, place, page) for code, page in pages().items()]
    found: dict[str, CompletionItem] = {}
    for typing in typings(source.text, source.path, offset):
        kind = around.kind(typing.loaded.root)
        with unsaved({source.path: typing.loaded.source.text}):
            items = list(_items(kind, typing, source, around, encoding)) if kind else []
        for item in items:
            item.sort_text = f"{len(found):05}"
            found.setdefault(item.label, item)
    return list(found.values())


def _items(kind: str, typing: Typing, source: Source, around: Around, encoding: str) -> Iterator[CompletionItem]:
    spot = typing.spot
    place = range_at(source, typing.start, typing.end, encoding)
    written = str(spot.scalar.value)
    if spot.is_key:
        if written == MARK:  # else it is joined to something, as in `key:` without its blank
            yield from _keys(kind, typing, source, place)
        return
    index = written.index(MARK)
    expression = expression_at(kind, typing.loaded.root, spot, index, around.overlays)
    if expression is not None:
        for word in words_at(expression.text, expression.environment):
            yield _item(word.text, _KINDS[word.sort], place, detail=word.detail)
        return
    # A word such as `two-tier` is one value: what stands before the cursor is replaced with it.
    whole = range_at(source, max(typing.start - index, spot.scalar.start), typing.end, encoding)
    quoted = bool(spot.scalar.style)
    for each in targets(kind, spot, around):
        yield _item(each.name, CompletionItemKind.Reference, whole, each.about, detail=each.sort, quoted=quoted)
    for part in allowed(kind, spot.path):
        for word in part.get("enum", [part["const"]] if "const" in part else []):
            yield _item(str(word), CompletionItemKind.EnumMember, whole, quoted=quoted)
        if part.get("type") == "boolean":
            yield from (_item(word, CompletionItemKind.Value, whole) for word in ("true", "false"))


def _keys(kind: str, typing: Typing, source: Source, place: Range) -> Iterator[CompletionItem]:
    """The keys that a mapping may have and has not: those it needs first, none that its route leaves unread."""
    path = typing.spot.path[:-1]
    mapping = descend(typing.loaded.root, *path)
    written = set(mapping.keys) if isinstance(mapping, Mapping) else set()
    parts = allowed(kind, path)
    needed = {name for part in parts for name in part.get("required", ())}
    known: dict[str, dict[str, Any]] = {}
    for part in parts:
        known |= {name: below for name, below in part.get("properties", {}).items() if name not in known}
        known |= {name: {} for name in part.get("propertyNames", {}).get("enum", ()) if name not in known}
    route = text(typing.loaded.root, "routing", "route")
    for name in sorted(known, key=lambda name: name not in needed):
        routes = known[name].get("x-routes", ())
        if name not in written and (not routes or not route or route in routes):
            yield _key(name, about_key(kind, (*path, name)), name in needed, typing, source, place)


def _key(name: str, about: str, needed: bool, typing: Typing, source: Source, place: Range) -> CompletionItem:
    is_json = source.path.endswith(".json")
    before, after = source.text[: typing.start], source.text[typing.end :].lstrip(" \t")
    if is_json:
        new = name if before.endswith('"') else f'"{name}"'
        new += "" if after.startswith(('"', ":")) else ": "
    else:
        new = name if after.startswith(":") else f"{name}: "
    item = _item(name, CompletionItemKind.Property, place, about, detail="required" if needed else None)
    item.text_edit = TextEdit(place, new)
    return item


def _item(
    label: str,
    kind: CompletionItemKind,
    place: Range,
    about: str = "",
    *,
    detail: str | None = None,
    quoted: bool = False,
) -> CompletionItem:
    new = f'"{label}"' if _NEEDS_QUOTES.search(label) and not quoted else label
    documentation = MarkupContent(MarkupKind.Markdown, about) if about else None
    return CompletionItem(label, kind=kind, detail=detail, documentation=documentation, text_edit=TextEdit(place, new))
