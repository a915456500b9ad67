"""JSON becomes nodes: a tokenizer of our own, one loop, no recursion, every duplicate key and stray comma a mistake."""

from __future__ import annotations

import re
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]

from rulewright.diagnostics import Diagnostic, Note
from rulewright.load import load_errors as mistakes
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.nodes import Entry, Mapping, Node, Plain, Scalar, Sequence
from rulewright.load.plain_values import number
from rulewright.load.source import Source

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*)*")
_SIMPLE = re.compile(r'"([^"\\\x00-\x1f]*)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# What most of a file is made of, in one match each: a key with its colon, and a scalar with the comma behind it.
_KEY = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\r\n]*:[ \t\r\n]*')
_ITEM = re.compile(
    r'(?:"([^"\\\x00-\x1f]*)"|(-?(?:0|[1-9][0-9]{0,14}))(?![\w.+-])|(true|false|null)(?!\w))[ \t\r\n]*(,[ \t\r\n]*)?'
)
_LITERALS: dict[str, Plain] = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[-+.0-9][-+.0-9A-Za-z]*|.", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, Plain] = {"t": True, "f": False, "n": None}
_SPELLED = {"t": "true", "f": "false", "n": "null"}


def read(source: Source, *, comments: bool = False) -> tuple[Node | None, list[Diagnostic]]:
    """The root node of a JSON text with every mistake found; no root when the text can't be trusted."""
    reader = _JsonReader(source, comments)
    try:
        root = reader.read()
    except _Stop:
        return None, reader.found
    return (None if reader.broken else root), reader.found


def read_lines(source: Source) -> tuple[Node | None, list[Diagnostic]]:
    """The values of JSON lines as one list, with every mistake found."""
    reader = _JsonReader(source, comments=False)
    lines = source.text.split("\n")
    written = [at for at, line in enumerate(lines) if line.strip()]
    if not written:
        return None, []
    joined = [line + ("," if written[0] <= at < written[-1] and line.strip() else " ") for at, line in enumerate(lines)]
    reader.text = "".join(joined)[: len(source.text)] + "]"
    reader.stack.append(_JsonFrame(0, None))
    try:
        root = reader.read()
    except _Stop:
        return None, reader.found
    return (None if reader.broken else root), reader.found


class _Stop(Exception):  # noqa: N818 - it ends the reading, it is not an error of ours
    """Reading on is pointless; the diagnostic is already noted."""


class _JsonFrame:
    """A collection that is still open: an object has an `index`, a list `items`; `key` waits for its value."""

    __slots__ = ("index", "items", "key", "start")

    def __init__(self, start: int, index: dict[str, Entry] | None) -> None:
        self.start = start
        self.index = index
        self.items: list[Node] = []
        self.key: Scalar | None = None


class _JsonReader:
    """Keeps the open collections on a stack of its own."""

    def __init__(self, source: Source, comments: bool) -> None:
        self.source = source
        self.text = source.text
        self.skip = (_SPACE_AND_COMMENTS if comments else _SPACE).match
        self.comments = comments
        self.found: list[Diagnostic] = []
        self.broken = False
        self.values = 0
        self.stack: list[_JsonFrame] = []

    def read(self) -> Node:
        """The whole text: one value and nothing behind it."""
        at = self.space(0)
        while True:
            at = self.simple(at)
            node, at = self.value(at)
            if node is None:  # a collection was opened
                continue
            done, at = self.attach(node, at)
            if done is not None:
                if at < len(self.text):
                    self.stop(at, "expected the file to end here")
                return done

    def simple(self, at: int) -> int:
        """Read scalars and keys for as long as nothing is special; gives where something else has to look.

        That is before a value, so the last scalar of a collection and whatever is wrong are left to the others.
        """
        if not self.stack or self.comments:
            return at
        frame, text, source = self.stack[-1], self.text, self.source
        while (found := _ITEM.match(text, at)) is not None and found.group(4) is not None:
            string, digits, word = found.group(1, 2, 3)
            if string is not None:
                node = Scalar(string, at, at + len(string) + 2, "j", source)
            elif digits is not None:
                node = Scalar(int(digits), at, at + len(digits), "", source)
            else:
                node = Scalar(_LITERALS[word], at, at + len(word), "", source)
            after = found.end()
            if frame.index is None:
                if text[after : after + 1] == "]":
                    return at
                frame.items.append(node)
            else:
                named = _KEY.match(text, after)
                if named is None or named.group(1) in frame.index or frame.key is None:
                    return at
                if frame.key.value == named.group(1):
                    return at
                frame.index.setdefault(frame.key.value, Entry(frame.key, node))  # type: ignore[arg-type]
                name = named.group(1)
                frame.key = Scalar(name, after, after + len(name) + 2, "j", source)
                after = named.end()
            self.values += 1
            if self.values > mistakes.MAX_VALUES:
                return after
            at = after
        return at

    def value(self, at: int) -> tuple[Node | None, int]:
        """The value at `at`, and where it ends; None when it is a collection that has something in it."""
        self.values += 1
        if self.values > mistakes.MAX_VALUES:
            self.note(mistakes.too_many(self.source, at))
            raise _Stop
        char = self.text[at : at + 1]
        if char == '"':
            return self.string(at)
        if char == "{" or char == "[":
            return self.open(at, char)
        if char in _SPELLED and char and self.text.startswith(_SPELLED[char], at):
            end = at + len(_SPELLED[char])
            if not self.text[end : end + 1].isalnum():
                return Scalar(_WORDS[char], at, end, "", self.source), end
        if found := _NUMBER.match(self.text, at):
            end = found.end()
            if not (self.text[end : end + 1].isalnum() or self.text[end : end + 1] in (".", "_", "+", "-")):
                return self.numeral(found.group(), at, end), end
        self.no_value(at)
        raise _Stop

    def numeral(self, text: str, at: int, end: int) -> Scalar:
        """A number; one that no double holds is a mistake."""
        value: Plain = text
        try:
            value = number(text)
        except OverflowError:
            self.broken = True
            self.note(mistakes.out_of_range(self.source.span(at, end), text))
        return Scalar(value, at, end, "", self.source)

    def string(self, at: int) -> tuple[Scalar, int]:
        """The string that starts at `at`."""
        if found := _SIMPLE.match(self.text, at):
            return Scalar(found.group(1), at, found.end(), "j", self.source), found.end()
        try:
            value, end = scanstring(self.text, at + 1, True)
        except JSONDecodeError as failure:
            self.bad_string(at, failure)
            raise _Stop from None
        if _SURROGATE.search(value):
            self.broken = True
            self.lone_surrogate(at, end)
        return Scalar(value, at, end, "j", self.source), end

    def open(self, at: int, bracket: str) -> tuple[Node | None, int]:
        """A `{` or `[`: an empty collection is finished at once, another goes on the stack."""
        if len(self.stack) >= mistakes.MAX_DEPTH:
            self.note(mistakes.too_deep(self.source, at))
            raise _Stop
        inside = self.space(at + 1)
        if bracket == "{":
            if self.text[inside : inside + 1] == "}":
                return Mapping({}, at, inside + 1, self.source), inside + 1
            self.stack.append(_JsonFrame(at, {}))
            return None, self.key(inside)
        if self.text[inside : inside + 1] == "]":
            return Sequence((), at, inside + 1, self.source), inside + 1
        self.stack.append(_JsonFrame(at, None))
        return None, inside

    def key(self, at: int) -> int:
        """Read `"key":` for the innermost object; gives where its value starts."""
        frame = self.stack[-1]
        assert frame.index is not None
        if self.text[at : at + 1] != '"':
            found = _WORD.match(self.text, at)
            word = found.group() if found else ""
            help = f'write `"{shorten(word)}"`' if word.isidentifier() else None
            self.stop(at, "expected a key in double quotes", help=help)
        frame.key, at = self.string(at)
        name = str(frame.key.value)
        if name in frame.index:
            self.note(mistakes.duplicate_key(frame.key, frame.index[name].key))
        at = self.space(at)
        if self.text[at : at + 1] != ":":
            self.stop(at, "expected `:` after the key")
        return self.space(at + 1)

    def attach(self, node: Node, at: int) -> tuple[Node | None, int]:
        """Put a finished value into the innermost collection, closing what closes; the root when all is closed."""
        while True:
            at = self.space(at)
            if not self.stack:
                return node, at
            frame = self.stack[-1]
            if frame.index is None:
                frame.items.append(node)
            else:
                assert frame.key is not None
                frame.index.setdefault(str(frame.key.value), Entry(frame.key, node))
            char = self.text[at : at + 1]
            closing = "]" if frame.index is None else "}"
            if char == ",":
                after = self.space(at + 1)
                if self.text[after : after + 1] == closing:
                    self.stop(at, f"no comma may stand before `{closing}`", help="remove the comma")
                return None, after if frame.index is None else self.key(after)
            if char != closing:
                opened = Note(self.source.span(frame.start, frame.start + 1), "opened here")
                before = len(self.text[:at].rstrip())  # what is missing is missing there
                start = before if "\n" in self.text[before:at] else at
                self.stop(start, f"expected `,` or `{closing}` here", opened, width=at + 1 - start)
            self.stack.pop()
            at += 1
            if frame.index is None:
                node = Sequence(tuple(frame.items), frame.start, at, self.source)
            else:
                node = Mapping(frame.index, frame.start, at, self.source)

    def space(self, at: int) -> int:
        """Where the next token starts; a comment is a mistake where none is allowed."""
        found = self.skip(self.text, at)
        assert found is not None
        at = found.end()
        if self.text[at : at + 1] in ("/", "#") and self.text[at : at + 1]:
            help = "only `//` comments are allowed here" if self.comments else "remove it, or use YAML"
            self.stop(at, "JSON has no comments" if not self.comments else "this is not a comment", help=help)
        return at

    def no_value(self, at: int) -> None:
        """Explain why no value starts here."""
        found = _WORD.match(self.text, at)
        word = shorten(found.group()) if found else ""
        if not word:
            opened = [Note(self.source.span(f.start, f.start + 1), "opened here and never closed") for f in self.stack]
            self.stop(at, "expected a value, but the file ends here", *opened[-1:])
        if not self.text[at].isprintable():
            self.stop(at, f"expected a value, found U+{ord(self.text[at]):04X}")
        help = None
        if word in ("NaN", "Infinity", "-Infinity", "nan", "inf"):
            help = "JSON has no such number; use null where a value is absent"
        elif word == "'":
            help = "JSON strings stand in double quotes"
        elif word in ("True", "False", "None"):
            help = f"write `{'null' if word == 'None' else word.lower()}`"
        elif word[0].isalpha():
            help = f'write `"{word}"` if it is text'
        self.stop(at, f"expected a value, found `{word}`", help=help, width=len(found.group()) if found else 1)

    def bad_string(self, at: int, failure: JSONDecodeError) -> None:
        """Explain why a string can't be read."""
        offset = min(failure.pos, len(self.text))
        if "Unterminated" in failure.msg:
            self.stop(at, "the quotes are never closed")
        if "control character" in failure.msg:
            char = self.text[offset : offset + 1]
            what = "a line break" if char in "\r\n" else "a tab" if char == "\t" else f"U+{ord(char):04X}"
            spelled = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char, f"\\u{ord(char or ' '):04x}")
            self.stop(offset, f"{what} can't stand inside a JSON string", help=f"write `{spelled}`")
        start = self.text.rfind("\\", at, offset + 1)
        start = start if start >= 0 else offset
        self.stop(
            start, f"unknown escape `{shorten(self.text[start : start + 2])}`", help="write `\\\\` for a backslash"
        )

    def lone_surrogate(self, at: int, end: int) -> None:
        """Show the escape that is half a pair."""
        pair = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        for found in re.finditer(rf"{pair}|(\\u[dD][89a-fA-F][0-9a-fA-F]{{2}})|\\.", self.text[at:end]):
            if found.group(1):
                place = self.source.span(at + found.start(), at + found.end())
                message = f"`{found.group()}` is half of a surrogate pair, no character"
                self.note(mistake("lone-surrogate", place, message, help="write both halves, or the character itself"))
                return

    def stop(self, at: int, message: str, *notes: Note, help: str | None = None, width: int = 1) -> None:
        """Note what is wrong at `at` and end the reading."""
        place = self.source.span(at, min(at + width, len(self.text)))
        self.found.append(mistake("json-syntax", place, message, *notes, help=help))
        raise _Stop

    def note(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic; a file with too many of them is given up."""
        self.found.append(diagnostic)
        if len(self.found) >= mistakes.MAX_MISTAKES:
            raise _Stop
