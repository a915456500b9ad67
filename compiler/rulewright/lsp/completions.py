"""Completions and hovers: what can stand at the cursor, and what the text there means."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, Final

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    Hover,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    TextEdit,
)

from rulewright.documents.base import descend, text
from rulewright.documents.keys import allowed
from rulewright.documents.library import parameters_of
from rulewright.load import Loaded, Mapping, Scalar, Source, place, unsaved
from rulewright.load import place as place_in
from rulewright.lsp.cursor import MARK, CompletionContext, Cursor, completion_contexts, cursor_at, expression_at
from rulewright.lsp.expression_help import Sort, describe_at, suggestions_at
from rulewright.lsp.positions import offset_at, range_at, range_of
from rulewright.lsp.references import target, targets
from rulewright.lsp.workspace import DocumentContext
from rulewright.manual import explain, pages
from rulewright_runtime.english import ticked

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
    cursor, text_written = reading.cursor, str(reading.cursor.scalar.value)
    place = range_at(source, reading.start, reading.end, encoding)
    if cursor.is_key:
        if text_written == MARK:  # else the mark is part of another key, as in `key:` without a blank
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
            about = about_key(kind, (*path, name)) if declared is None else text(declared, name, "description")
            yield _item(name, CompletionItemKind.Property, edit, about, detail=detail)


def _key(name: str, reading: CompletionContext, source: Source) -> str:
    """A key's text at the cursor, with those of its quotes, colon and blank that the text lacks."""
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


COMMENT: Final = re.compile(r"#[ \t]*rulewright:[ \t]*allow[ \t]+(?P<codes>[^#\r\n]*)")
_CODE: Final = re.compile(r"[a-z0-9-]+")


def hover(loaded: Loaded, position: Position, context: DocumentContext, encoding: str) -> Hover | None:
    """Return the hover at a position, or None."""
    source = loaded.source
    offset = offset_at(source, position, encoding)
    if (result := _code(loaded, position.line + 1, offset, encoding)) is not None:
        return result
    kind = context.kind(loaded.root)
    cursor = cursor_at(loaded.root, offset)
    if kind is None or cursor is None:
        return None
    if not cursor.is_key and (result := _in_expression(kind, cursor, offset, context, loaded, encoding)) is not None:
        return result
    # For a name of the author's own or a list item, show the description of the key above.
    text = _of_target(kind, cursor, context) or about_key(kind, cursor.path) or about_key(kind, cursor.path[:-1])
    return _hover(text, range_of(cursor.scalar.span, source, encoding))


def about_key(kind: str, path: tuple[str | int, ...]) -> str:
    """Return the schema's description of the key at a path, in Markdown; empty without one."""
    parts = allowed(kind, path)
    description = next((part["description"] for part in parts if "description" in part), "")
    if not description:
        return ""
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    lines = [f"**{name}**: {description}"]
    words = [str(word) for part in parts for word in part.get("enum", ())]
    if words:
        lines.append(f"one of {ticked(words)}")
    routes = next((part["x-routes"] for part in parts if "x-routes" in part), ())
    if routes:
        lines.append(f"for {ticked(routes)}")
    use = next((part["x-use"] for part in parts if "x-use" in part), "")
    reader = next((part["x-read-by"] for part in parts if "x-read-by" in part), "")
    if use == "documentation":
        lines.append("*documentation: nothing reads it*")
    elif reader:
        lines.append(f"*read by: {reader}*")
    return "\n\n".join(lines)


def _code(loaded: Loaded, line: int, offset: int, encoding: str) -> Hover | None:
    """The manual page of a code that a comment allows."""
    start = loaded.source.offset(line, 1)
    comment = COMMENT.search(loaded.source.line_text(line))
    if comment is None:
        return None
    for code in _CODE.finditer(comment["codes"].partition(" because")[0]):
        start_of_code = start + comment.start("codes") + code.start()
        page = explain(code[0])
        if page and start_of_code <= offset <= start_of_code + len(code[0]):
            return _hover(
                f"**{code[0]}**\n\n{page}",
                range_at(loaded.source, start_of_code, start_of_code + len(code[0]), encoding),
            )
    return None


def _in_expression(
    kind: str, cursor: Cursor, offset: int, context: DocumentContext, loaded: Loaded, encoding: str
) -> Hover | None:
    index = index_at(cursor.scalar, offset)
    if index is None:
        return None
    expression = expression_at(kind, loaded.root, cursor, index, context)
    if expression is None:
        return None
    description = describe_at(expression.text, expression.environment, index - expression.start)
    if description is None:
        return None
    span = place(cursor.scalar, expression.start + description.start, expression.start + description.end)
    return _hover(description.text, range_of(span, loaded.source, encoding))


def index_at(scalar: Scalar, offset: int) -> int | None:
    """Return the index of a character of the scalar by its offset in the file; None where there is no certain one."""
    if not isinstance(scalar.value, str):
        return None

    def start(index: int) -> int:
        span = place(scalar, index, index)
        return scalar.source.offset(span.line, span.column)

    last = bisect_right(range(len(scalar.value) + 1), offset, key=start) - 1
    return last if last >= 0 and (last < len(scalar.value) or start(last) == offset) else None


def _of_target(kind: str, cursor: Cursor, context: DocumentContext) -> str:
    named = target(kind, cursor, context)
    if named is None:
        return ""
    about = f": {named.about}" if named.about else ""
    location = f"\n\n*{named.place.source.path}*" if named.place is not None else ""
    return f"{named.sort} `{named.name}`{about}{location}"


def _hover(text: str, place: Range) -> Hover | None:
    return Hover(MarkupContent(MarkupKind.Markdown, text), place) if text else None
