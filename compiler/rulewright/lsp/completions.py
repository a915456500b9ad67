"""Completions at the cursor: keys with their descriptions, allowed values, names, and parts of expressions."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from lsprotocol.types import CompletionItem, CompletionItemKind, MarkupContent, MarkupKind, Position, Range, TextEdit

from rulewright.documents.base import descend, text
from rulewright.documents.keys import allowed
from rulewright.documents.library import parameters_of
from rulewright.load import Mapping, Source, unsaved
from rulewright.load import place as place_in
from rulewright.lsp.cursor import MARK, CompletionContext, completion_contexts, expression_at
from rulewright.lsp.expression_help import Sort, suggestions_at
from rulewright.lsp.hover import about_key
from rulewright.lsp.positions import offset_at, range_at
from rulewright.lsp.references import targets
from rulewright.lsp.workspace import DocumentContext
from rulewright.manual import pages

_ALLOW_COMMENT: Final = re.compile(r"#[ \t]*rulewright:[ \t]*allow[ \t]+(?:[a-z0-9-]+[ \t]*,[ \t]*)*([a-z0-9-]*)\Z")
# Text that YAML might not read as text without quotes.
_NOT_PLAIN: Final = re.compile(r"[\s:#\[\]{},&*!|>'\"%@`]|\A[-?0-9.+~]|\A\Z|\A(?i:true|false|null)\Z")
_KINDS: Final[dict[Sort, CompletionItemKind]] = {
    "constant": CompletionItemKind.EnumMember,
    "field": CompletionItemKind.Field,
    "function": CompletionItemKind.Function,
    "variable": CompletionItemKind.Variable,
}


def completions(source: Source, position: Position, context: DocumentContext, encoding: str) -> list[CompletionItem]:
    """Return the completions at a position, the likeliest first."""
    offset = offset_at(source, position, encoding)
    line = source.text[source.offset(position.line + 1, 1) : offset]
    if allow_comment := _ALLOW_COMMENT.search(line):
        span = range_at(source, offset - len(allow_comment[1]), offset, encoding)
        return [_item(code, CompletionItemKind.Value, TextEdit(span, code), page) for code, page in pages().items()]
    items_by_label: dict[str, CompletionItem] = {}
    for reading in completion_contexts(source.text, source.path, offset):
        kind = context.kind(reading.loaded.root)
        with unsaved({source.path: reading.loaded.source.text}):
            items = list(_items(kind, reading, source, context, encoding)) if kind else []
        for item in items:
            item.sort_text = f"{len(items_by_label):05}"
            items_by_label.setdefault(item.label, item)
    return list(items_by_label.values())


def _items(
    kind: str, reading: CompletionContext, source: Source, context: DocumentContext, encoding: str
) -> Iterator[CompletionItem]:
    cursor, text_written = reading.cursor, reading.cursor.scalar.text
    place = range_at(source, reading.start, reading.end, encoding)
    if cursor.is_key:
        if text_written == MARK:  # else the mark is part of another key, as in `key:` without a space
            yield from _keys(kind, reading, source, place, context)
        return
    expression = expression_at(kind, reading.loaded.root, cursor, text_written.index(MARK), context)
    if expression is None:
        yield from _values(kind, reading, source, context, encoding)
        return
    for word in suggestions_at(expression.text, expression.environment):
        place = range_at(source, reading.start - word.before, reading.end, encoding)
        yield _item(word.text, _KINDS[word.sort], TextEdit(place, word.text), detail=word.detail)


def _values(
    kind: str, reading: CompletionContext, source: Source, context: DocumentContext, encoding: str
) -> Iterator[CompletionItem]:
    """The names and values that a key allows; a word such as `two-tier` is replaced as a whole."""
    cursor = reading.cursor
    first = place_in(cursor.scalar, 0, 0)
    start = source.offset(first.line, first.column)
    start = start if first.line == source.position(reading.start)[0] else reading.start
    place, write = range_at(source, start, reading.end, encoding), _writer(source, start)
    for each in targets(kind, cursor, context):
        edit = TextEdit(place, write(each.name))
        yield _item(each.name, CompletionItemKind.Reference, edit, each.about, detail=each.sort)
    for part in allowed(kind, cursor.path, context.vocabulary):
        for word in part.get("enum", [part["const"]] if "const" in part else []):
            yield _item(str(word), CompletionItemKind.EnumMember, TextEdit(place, write(word)))
        for word in ("true", "false") if part.get("type") == "boolean" else ():
            yield _item(word, CompletionItemKind.Value, TextEdit(place, word))


def _writer(source: Source, offset: int) -> Callable[[object], str]:
    """Return the function that writes a value at an offset, with the quotes that it needs and the text lacks."""
    if source.text[:offset].endswith(('"', "'")):
        return str
    if source.path.endswith(".json"):
        return json.dumps
    return lambda value: json.dumps(value) if isinstance(value, str) and _NOT_PLAIN.search(value) else str(value)


def _keys(
    kind: str, reading: CompletionContext, source: Source, place: Range, context: DocumentContext
) -> Iterator[CompletionItem]:
    """The keys that a mapping may have and lacks: required ones first, without those that its route does not read."""
    path = reading.cursor.path[:-1]
    mapping = descend(reading.loaded.root, *path)
    written = set(mapping.keys) if isinstance(mapping, Mapping) else set()
    parts = allowed(kind, path, context.vocabulary)
    whole = [part for part in parts if "properties" in part]  # not one of several keys
    needed = {name for part in whole for each in (part, part.get("then", {})) for name in each.get("required", ())}
    properties: dict[str, dict[str, Any]] = {}
    for part in parts:
        properties |= {name: schema for name, schema in part.get("properties", {}).items() if name not in properties}
        properties |= {name: {} for name in part.get("propertyNames", {}).get("enum", ()) if name not in properties}
    declared = parameters_of(descend(reading.loaded.root, *path[:-1])) if path[-1:] == ("params",) else None
    properties |= {key: {} for key in declared.keys} if declared is not None else {}
    route = text(reading.loaded.root, "routing", "route")
    for name in sorted(properties, key=lambda name: name not in needed):
        routes = properties[name].get("x-routes", ())
        if name not in written and (not routes or not route or route in routes):
            edit = TextEdit(place, _key(name, reading, source))
            detail = "required" if name in needed else None
            about = (
                about_key(kind, (*path, name), context.vocabulary)
                if declared is None
                else text(declared, name, "description")
            )
            yield _item(name, CompletionItemKind.Property, edit, about, detail=detail)


def _key(name: str, reading: CompletionContext, source: Source) -> str:
    """A key's text at the cursor, with those of its quotes, colon and space that the text lacks."""
    before, after = source.text[: reading.start], source.text[reading.end :].lstrip(" \t")
    if not source.path.endswith(".json"):
        return name if after.startswith(":") else f"{name}: "
    key = name if before.endswith('"') else f'"{name}"'
    return key if after.startswith(('"', ":")) else f"{key}: "


def _item(
    label: str, kind: CompletionItemKind, edit: TextEdit, about: str = "", *, detail: str | None = None
) -> CompletionItem:
    documentation = MarkupContent(MarkupKind.Markdown, about) if about else None
    return CompletionItem(label, kind=kind, detail=detail, documentation=documentation, text_edit=edit)
