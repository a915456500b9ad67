"""What may be written at the cursor: keys with their descriptions, words a key allows, names, parts of expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    TextEdit,
)

from rulewright.documents.base import descend, text
from rulewright.documents.keys import allowed
from rulewright.documents.library import parameters_of
from rulewright.load import Mapping, Source, unsaved
from rulewright.load import place as place_in
from rulewright.lsp.cursor import MARK, CompletionContext, completion_contexts
from rulewright.lsp.embedded_expressions import expression_at
from rulewright.lsp.expression_help import Sort, words_at
from rulewright.lsp.hover import about_key
from rulewright.lsp.positions import offset_at, range_at
from rulewright.lsp.references import targets
from rulewright.manual import pages

if TYPE_CHECKING:
    from rulewright.lsp.document_context import DocumentContext

_ALLOWING: Final = re.compile(r"#[ \t]*rulewright:[ \t]*allow[ \t]+(?:[a-z0-9-]+[ \t]*,[ \t]*)*([a-z0-9-]*)\Z")
# What YAML might not read as the text that it is, without quotes.
_NOT_PLAIN: Final = re.compile(r"[\s:#\[\]{},&*!|>'\"%@`]|\A[-?0-9.+~]|\A\Z|\A(?i:true|false|null)\Z")
_KINDS: Final[dict[Sort, CompletionItemKind]] = {
    "constant": CompletionItemKind.EnumMember,
    "field": CompletionItemKind.Field,
    "function": CompletionItemKind.Function,
    "variable": CompletionItemKind.Variable,
}


def completions(source: Source, position: Position, around: DocumentContext, encoding: str) -> list[CompletionItem]:
    """What may be written at a place, the likeliest first."""
    offset = offset_at(source, position, encoding)
    line = source.text[source.offset(position.line + 1, 1) : offset]
    if allowing := _ALLOWING.search(line):
        place = range_at(source, offset - len(allowing[1]), offset, encoding)
        return [_item(code, CompletionItemKind.Value, TextEdit(place, code), page) for code, page in pages().items()]
    found: dict[str, CompletionItem] = {}
    for typing in completion_contexts(source.text, source.path, offset):
        kind = around.kind(typing.loaded.root)
        with unsaved({source.path: typing.loaded.source.text}):
            items = list(_items(kind, typing, source, around, encoding)) if kind else []
        for item in items:
            item.sort_text = f"{len(found):05}"
            found.setdefault(item.label, item)
    return list(found.values())


def _items(
    kind: str, typing: CompletionContext, source: Source, around: DocumentContext, encoding: str
) -> Iterator[CompletionItem]:
    cursor, written = typing.cursor, str(typing.cursor.scalar.value)
    place = range_at(source, typing.start, typing.end, encoding)
    if cursor.is_key:
        if written == MARK:  # else it is joined to something, as in `key:` without its blank
            yield from _keys(kind, typing, source, place, around)
        return
    expression = expression_at(kind, typing.loaded.root, cursor, written.index(MARK), around)
    if expression is None:
        yield from _values(kind, typing, source, around, encoding)
        return
    for word in words_at(expression.text, expression.environment):
        yield _item(word.text, _KINDS[word.sort], TextEdit(place, word.text), detail=word.detail)


def _values(
    kind: str, typing: CompletionContext, source: Source, around: DocumentContext, encoding: str
) -> Iterator[CompletionItem]:
    """The names and words that a key allows. A word such as `two-tier` is replaced as a whole, not from its dash on."""
    cursor = typing.cursor
    first = place_in(cursor.scalar, 0, 0)
    start = source.offset(first.line, first.column)
    start = start if first.line == source.position(typing.start)[0] else typing.start
    place, write = range_at(source, start, typing.end, encoding), _writer(source, start)
    for each in targets(kind, cursor, around):
        edit = TextEdit(place, write(each.name))
        yield _item(each.name, CompletionItemKind.Reference, edit, each.about, detail=each.sort)
    for part in allowed(kind, cursor.path, around.vocabulary):
        for word in part.get("enum", [part["const"]] if "const" in part else []):
            yield _item(str(word), CompletionItemKind.EnumMember, TextEdit(place, write(word)))
        for word in ("true", "false") if part.get("type") == "boolean" else ():
            yield _item(word, CompletionItemKind.Value, TextEdit(place, word))


def _writer(source: Source, at: int) -> Callable[[object], str]:
    """How a value is written at an offset: with the quotes that it needs and that are not there."""
    if source.text[:at].endswith(('"', "'")):
        return str
    if source.path.endswith(".json"):
        return json.dumps
    return lambda value: json.dumps(value) if isinstance(value, str) and _NOT_PLAIN.search(value) else str(value)


def _keys(
    kind: str, typing: CompletionContext, source: Source, place: Range, around: DocumentContext
) -> Iterator[CompletionItem]:
    """The keys that a mapping may have and has not: those it needs first, none that its route leaves unread."""
    path = typing.cursor.path[:-1]
    mapping = descend(typing.loaded.root, *path)
    written = set(mapping.keys) if isinstance(mapping, Mapping) else set()
    parts = allowed(kind, path, around.vocabulary)
    needed = {name for part in parts for name in (*part.get("required", ()), *part.get("else", {}).get("required", ()))}
    known: dict[str, dict[str, Any]] = {}
    for part in parts:
        known |= {name: below for name, below in part.get("properties", {}).items() if name not in known}
        known |= {name: {} for name in part.get("propertyNames", {}).get("enum", ()) if name not in known}
    declared = parameters_of(descend(typing.loaded.root, *path[:-1])) if path[-1:] == ("params",) else None
    known |= {key: {} for key in declared.keys} if declared is not None else {}
    route = text(typing.loaded.root, "routing", "route")
    for name in sorted(known, key=lambda name: name not in needed):
        routes = known[name].get("x-routes", ())
        if name not in written and (not routes or not route or route in routes):
            edit = TextEdit(place, _key(name, typing, source))
            detail = "required" if name in needed else None
            about = about_key(kind, (*path, name)) if declared is None else text(declared, name, "description")
            yield _item(name, CompletionItemKind.Property, edit, about, detail=detail)


def _key(name: str, typing: CompletionContext, source: Source) -> str:
    """A key as it is written there, with what is not there yet of its quotes, its colon and the blank behind it."""
    before, after = source.text[: typing.start], source.text[typing.end :].lstrip(" \t")
    if not source.path.endswith(".json"):
        return name if after.startswith(":") else f"{name}: "
    key = name if before.endswith('"') else f'"{name}"'
    return key if after.startswith(('"', ":")) else f"{key}: "


def _item(
    label: str, kind: CompletionItemKind, edit: TextEdit, about: str = "", *, detail: str | None = None
) -> CompletionItem:
    documentation = MarkupContent(MarkupKind.Markdown, about) if about else None
    return CompletionItem(label, kind=kind, detail=detail, documentation=documentation, text_edit=edit)
