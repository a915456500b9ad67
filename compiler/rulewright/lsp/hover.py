"""Hover texts: a key's description, an expression's type, the target of a name, a rule's page."""

import re
from bisect import bisect_right
from typing import Final

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position, Range

from rulewright.documents.keys import allowed
from rulewright.documents.vocabulary import Vocabulary
from rulewright.load import Loaded, Scalar, place
from rulewright.lsp.cursor import Cursor, cursor_at, expression_at
from rulewright.lsp.expression_help import describe_at
from rulewright.lsp.positions import offset_at, range_at, range_of
from rulewright.lsp.references import target
from rulewright.lsp.workspace import DocumentContext
from rulewright.manual import explain
from rulewright_runtime.english import ticked

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
    text = _of_target(kind, cursor, context)
    for path in (cursor.path, cursor.path[:-1]):
        text = text or about_key(kind, path, context.vocabulary)
    return _hover(text, range_of(cursor.scalar.span, source, encoding))


def about_key(kind: str, path: tuple[str | int, ...], vocabulary: Vocabulary) -> str:
    """Return the schema's description of the key at a path, in Markdown, with the words of a vocabulary; empty without
    one."""
    parts = allowed(kind, path, vocabulary)
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
    """Return the index of a character of the scalar by its offset in the file; None where it is uncertain."""
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
