"""The cursor's position in a document, also while the typed text is not a valid document."""

import re
import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from rulewright.check.document import models_of
from rulewright.documents.check import CheckDocument
from rulewright.documents.workflow import read_workflow
from rulewright.expression.environment import Environment
from rulewright.load import Loaded, Mapping, Node, Scalar, load_text
from rulewright.lower.expression_checks import environment_of
from rulewright.lower.expressions import prompt_environment
from rulewright.lower.scopes import scoped_expressions
from rulewright.lsp.workspace import DocumentContext

MARK: Final = "rulewright_cursor"  # stands for the word at the cursor: a name in YAML, JSON and expressions alike
MAX_LENGTH: Final = 200_000  # characters; parsing a larger file several times would be noticeable

_LETTERS: Final = f"{string.ascii_letters}{string.digits}_"
_BLOCK: Final = re.compile(r"\A|^(?=[^\s#])", re.MULTILINE)  # where a top-level key begins
_JSON_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|([\[\]{}])')
_LINE_END: Final = re.compile(r"[\r\n]|\Z")
# Texts to insert at the cursor; all texts of the first group in which one parses give a reading.
_YAML: Final = ((f"{MARK}: ", MARK), (f'{MARK}"', f"{MARK}'"))
_JSON: Final = (
    (MARK,),
    (f'{MARK}": null', f'{MARK}": null,', f'{MARK}"', f'{MARK}",'),
    (f'"{MARK}": null', f'"{MARK}": null,', f', "{MARK}": null', f'"{MARK}"', f'"{MARK}",'),
)
_CLOSERS: Final = ("", "]", "}", "]}", "}]", "}}")


class Cursor(Struct, frozen=True):
    """A scalar of a document: its path of keys and indexes, and whether it is the key itself."""

    path: tuple[str | int, ...]
    scalar: Scalar
    is_key: bool


class CompletionContext(Struct, frozen=True):
    """A reading of a text in which `MARK` stands for the word at the cursor: from `start` to `end` in the text."""

    loaded: Loaded
    cursor: Cursor
    start: int
    end: int


def cursor_at(root: Node | None, offset: int) -> Cursor | None:
    """Return the key or value at an offset, or None."""
    path: tuple[str | int, ...] = ()
    node = root
    while node is not None and not isinstance(node, Scalar):
        below: tuple[str | int, Node] | None = None
        if isinstance(node, Mapping):
            for entry in node.entries:
                if entry.key.start <= offset <= entry.key.end:
                    return Cursor((*path, entry.name), entry.key, is_key=True)
                if _holds(entry.value, offset):
                    below = (entry.name, entry.value)
        else:
            below = next(((number, item) for number, item in enumerate(node.items) if _holds(item, offset)), None)
        if below is None:
            return None
        path, node = (*path, below[0]), below[1]
    return None if node is None or not _holds(node, offset) else Cursor(path, node, is_key=False)


def completion_contexts(text: str, path: str, offset: int) -> Iterator[CompletionContext]:
    """The readings of an incomplete text: with the mark as a key or a value, if need be without the text after it."""
    if len(text) > MAX_LENGTH or MARK in text:
        return
    start = len(text[:offset].rstrip(_LETTERS))
    end = len(text) - len(text[offset:].lstrip(_LETTERS))
    is_json = path.endswith(".json")
    for rest in (text[end:], *_text_after(text, start, end, is_json=is_json)):
        for group in _JSON if is_json else _YAML:
            has_reading = False
            for insert in group:
                loaded = load_text(text[:start] + insert + rest, path)
                cursor = cursor_at(loaded.root, start + insert.index(MARK))
                if cursor is not None and MARK in cursor.scalar.text:
                    has_reading = True
                    yield CompletionContext(loaded, cursor, start, end)
            if has_reading:
                return


def _text_after(text: str, start: int, end: int, *, is_json: bool) -> Iterator[str]:
    """Replacements for a text after the cursor that does not parse: without the quote that an editor added; the rest of
    the line or nothing, with closed brackets."""
    if is_json:
        yield text[end:].removeprefix('"')
        yield _closing(text[:start])
        return
    line_end = _LINE_END.search(text, end).start()  # type: ignore[union-attr]  # the end of the text is one
    block = max(match.start() for match in _BLOCK.finditer(text, 0, start + 1))
    is_open = any(bracket in text[block:start] for bracket in "[{")
    for line in dict.fromkeys((text[end:line_end], "")):
        yield from (f"{line}{closer}\n" for closer in (_CLOSERS if is_open else _CLOSERS[:1]))


def _closing(head: str) -> str:
    """The brackets that close those left open in the beginning of a JSON text."""
    closing: list[str] = []
    for bracket in filter(None, _JSON_BRACKET.findall(head)):  # a string gives an empty match
        if bracket in "[{":
            closing.append("]" if bracket == "[" else "}")
        elif closing and bracket == closing[-1]:
            closing.pop()
    return "".join(reversed(closing))


def _holds(node: Node, offset: int) -> bool:
    return node.start <= offset <= node.end


_PROMPTS: Final = {("prompt",), ("phases", "confirm", "prompt"), ("phases", "sweep", "prompt")}
_VALUE: Final = re.compile(r"\{\{-?(.*?)(?:\||-?\}\}|\Z)", re.DOTALL)  # a filter is not a part of the expression


class EmbeddedExpression(Struct, frozen=True):
    """An expression inside a scalar, from the scalar's character `start` on."""

    text: str
    start: int
    environment: Environment


def expression_at(
    kind: str, root: Node | None, cursor: Cursor, index: int, context: DocumentContext
) -> EmbeddedExpression | None:
    """Return the expression that the character `index` of a value belongs to, or None.

    `context` gives the vocabulary and the project's overlays for workflow tasks.
    """
    text = cursor.scalar.text
    if kind == "check" and cursor.path in _PROMPTS:
        for value in _VALUE.finditer(text):
            if value.start(1) <= index <= value.end(1):
                return EmbeddedExpression(value[1], value.start(1), prompt_environment(context.vocabulary))
    elif isinstance(root, Mapping):
        for document in _documents(kind, root, context):
            for scalar, environment in _scalars_with_environment(document, context):
                if scalar.start == cursor.scalar.start:
                    return EmbeddedExpression(text, 0, environment)
    return None


def _scalars_with_environment(document: Any, context: DocumentContext) -> Iterator[tuple[Scalar, Environment]]:
    if isinstance(document, CheckDocument) and context.project is not None:
        environment = environment_of(document, [check.id for check in context.project.checks])
        yield from ((scalar, environment) for scalar in document.verdict_conditions)
    yield from scoped_expressions(document)


def _documents(kind: str, root: Mapping, context: DocumentContext) -> Sequence[object]:
    if kind == "workflow":
        return read_workflow(root, Path(root.source.path).stem, context.overlays).tasks
    return models_of(kind, root, context.vocabulary)
