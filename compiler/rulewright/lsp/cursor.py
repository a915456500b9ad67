"""The cursor's position in a document, also while the typed text is not a valid document."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rulewright.load import Loaded, Mapping, Node, Scalar, load_text

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


@dataclass(frozen=True, slots=True)
class Cursor:
    """A scalar of a document: its path of keys and indexes, and whether it is the key itself."""

    path: tuple[str | int, ...]
    scalar: Scalar
    is_key: bool


@dataclass(frozen=True, slots=True)
class CompletionContext:
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
                if cursor is not None and MARK in str(cursor.scalar.value):
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
