"""Reads JSON into nodes: one loop without recursion, which reports every duplicate key and stray comma."""

import json
import re
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]

from rulewright.diagnostics import Diagnostic, Note, error
from rulewright.load import load_errors as mistakes
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.nodes import Entry, Mapping, Node, Plain, Scalar, Sequence, Source
from rulewright.load.scalars import number

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*)*")
_SIMPLE = re.compile(r'"([^"\\\x00-\x1f]*)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[-+.0-9][-+.0-9A-Za-z]*|.", re.DOTALL)
_BRACKET = re.compile(r'(?P<line>(?:^|(?<=\r)) *)|"(?:[^"\\]|\\.)*"|(?P<bracket>[{}\[\]])', re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, Plain] = {"t": True, "f": False, "n": None}
_SPELLED = {"t": "true", "f": "false", "n": "null"}


def read(source: Source, *, comments: bool = False) -> tuple[Node | None, list[Diagnostic]]:
    """Return the root node of a JSON text and its findings; the root is None when a mistake makes it unreliable."""
    reader = _JsonReader(source, comments)
    try:
        root = reader.read()
    except _Stop:
        return None, reader.findings
    return (None if reader.broken else root), reader.findings


def read_lines(source: Source) -> tuple[Node | None, list[Diagnostic]]:
    """Return the values of JSON lines as one sequence, and the findings."""
    reader = _JsonReader(source, comments=False)
    lines = source.text.split("\n")
    non_empty = [number for number, line in enumerate(lines) if line.strip()]
    if not non_empty:
        return None, []
    joined = [
        line + ("," if non_empty[0] <= number < non_empty[-1] and line.strip() else " ")
        for number, line in enumerate(lines)
    ]
    reader.text = "".join(joined)[: len(source.text)] + "]"
    reader.stack.append(_JsonFrame(0, None))
    try:
        root = reader.read()
    except _Stop:
        return None, _at_the_open_line(source, lines, reader.findings)
    return (None if reader.broken else root), reader.findings


def _at_the_open_line(source: Source, lines: list[str], found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings; one that is in a later line than a record that is not closed is replaced by one there."""
    start = 0
    for at, line in enumerate(lines, start=1):
        if line.strip() and not _is_json(line):
            if found and at < found[-1].span.line:
                end = start + len(line.rstrip())
                message = "a bracket or a quote of this record is not closed; each line contains one record"
                return [error(source.span(end - 1, end), message, code="json-syntax")]
            break
        start += len(line) + 1
    return found


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _Stop(Exception):  # noqa: N818 - it ends the reading and is not an error
    """Stops the reading; the diagnostic is already recorded."""


class _JsonFrame:
    """An open collection: an object has an `index`, a list `items`; `key` is the key without its value."""

    __slots__ = ("index", "items", "key", "start")

    def __init__(self, start: int, index: dict[str, Entry] | None) -> None:
        self.start = start
        self.index = index
        self.items: list[Node] = []
        self.key: Scalar | None = None


class _JsonReader:
    """Builds nodes from JSON, with the open collections on an explicit stack."""

    def __init__(self, source: Source, comments: bool) -> None:
        self.source = source
        self.text = source.text
        self.skip = (_SPACE_AND_COMMENTS if comments else _SPACE).match
        self.comments = comments
        self.findings: list[Diagnostic] = []
        self.broken = False
        self.values = 0
        self.stack: list[_JsonFrame] = []

    def read(self) -> Node:
        """Read the whole text: one value and nothing after it."""
        at = self.space(0)
        while True:
            node, at = self.value(at)
            if node is None:  # a collection was opened
                continue
            root, at = self.attach(node, at)
            if root is not None:
                if at < len(self.text):
                    self.stop(at, "expected the file to end here")
                return root

    def value(self, at: int) -> tuple[Node | None, int]:
        """Return the value at `at` and its end offset; None for a collection that is not empty."""
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
        if match := _NUMBER.match(self.text, at):
            end = match.end()
            if not (self.text[end : end + 1].isalnum() or self.text[end : end + 1] in (".", "_", "+", "-")):
                return self.numeral(match.group(), at, end), end
        self.no_value(at)
        raise _Stop

    def numeral(self, text: str, at: int, end: int) -> Scalar:
        """Return a number as a scalar; one outside the range of doubles is reported."""
        value: Plain = text
        try:
            value = number(text)
        except OverflowError:
            self.broken = True
            self.note(mistakes.out_of_range(self.source.span(at, end), text))
        return Scalar(value, at, end, "", self.source)

    def string(self, at: int) -> tuple[Scalar, int]:
        """Return the string that starts at `at`, and its end offset."""
        if match := _SIMPLE.match(self.text, at):
            return Scalar(match.group(1), at, match.end(), "j", self.source), match.end()
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
        """Open a collection: an empty one is returned, any other is pushed onto the stack."""
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
        """Read `"key":` for the innermost object; return the offset of its value."""
        frame = self.stack[-1]
        assert frame.index is not None
        if self.text[at : at + 1] != '"':
            self.unclosed(at)
            match = _WORD.match(self.text, at)
            word = match.group() if match else ""
            help = f'write `"{shorten(word)}"`' if word.isidentifier() else None
            self.stop(at, "expected a key in double quotes", help=help)
        frame.key, at = self.string(at)
        name = frame.key.text
        if name in frame.index:
            self.note(mistakes.duplicate_key(frame.key, frame.index[name].key))
        at = self.space(at)
        if self.text[at : at + 1] != ":":
            self.stop(at, "expected `:` after the key")
        return self.space(at + 1)

    def attach(self, node: Node, at: int) -> tuple[Node | None, int]:
        """Add a value to the innermost collection and close finished ones; return the root when all are closed."""
        while True:
            at = self.space(at)
            if not self.stack:
                return node, at
            frame = self.stack[-1]
            if frame.index is None:
                frame.items.append(node)
            else:
                assert frame.key is not None
                frame.index.setdefault(frame.key.text, Entry(frame.key, node))
            char = self.text[at : at + 1]
            closing = "]" if frame.index is None else "}"
            if char == ",":
                after = self.space(at + 1)
                if self.text[after : after + 1] == closing:
                    self.stop(at, f"trailing comma before `{closing}`", help="remove the comma")
                return None, after if frame.index is None else self.key(after)
            if char != closing:
                self.unclosed(at)
                open_note = Note(self.source.span(frame.start, frame.start + 1), "opened here")
                content_end = len(self.text[:at].rstrip())  # the gap is where the token is missing
                start = content_end if "\n" in self.text[content_end:at] else at
                self.stop(start, f"expected `,` or `{closing}` here", open_note, width=at + 1 - start)
            self.stack.pop()
            at += 1
            if frame.index is None:
                node = Sequence(tuple(frame.items), frame.start, at, self.source)
            else:
                node = Mapping(frame.index, frame.start, at, self.source)

    def space(self, at: int) -> int:
        """Return the offset of the next token; a comment is reported where none is allowed."""
        match = self.skip(self.text, at)
        assert match is not None
        at = match.end()
        if self.text[at : at + 1] in ("/", "#") and self.text[at : at + 1]:
            help = "only `//` comments are allowed here" if self.comments else "remove it, or use YAML"
            self.stop(at, "JSON has no comments" if not self.comments else "this is not a comment", help=help)
        return at

    def unclosed(self, before: int) -> None:
        """Report a bracket whose closing one begins a line with less indentation, and stop: that one was meant to close
        a bracket around it."""
        opened: list[tuple[int, int]] = []  # the offset and the indentation of the line
        indent = begin = 0  # of the line: its indentation, and where its text begins
        for found in _BRACKET.finditer(self.text, 0, before):
            start = found.start()
            if found["line"] is not None:
                indent, begin = len(found["line"]), found.end()
            elif found["bracket"] in ("{", "["):
                opened.append((start, indent))
            elif found["bracket"] is not None and opened:
                at, outside = opened.pop()
                if start == begin and indent < outside and any(each == indent for _, each in opened):
                    self.stop(at, f"`{self.text[at]}` is never closed")

    def no_value(self, at: int) -> None:
        """Report that no value starts at `at`, and stop."""
        match = _WORD.match(self.text, at)
        word = shorten(match.group()) if match else ""
        if not word:
            opened = [Note(self.source.span(f.start, f.start + 1), "opened here and never closed") for f in self.stack]
            self.stop(at, "expected a value, but the file ends here", *opened[-1:])
        if not self.text[at].isprintable():
            self.stop(at, f"expected a value, found U+{ord(self.text[at]):04X}")
        help = None
        if word in ("NaN", "Infinity", "-Infinity", "nan", "inf"):
            help = "JSON has no such number; use null where a value is absent"
        elif word == "'":
            help = "JSON strings use double quotes"
        elif word in ("True", "False", "None"):
            help = f"write `{'null' if word == 'None' else word.lower()}`"
        elif word[0].isalpha():
            help = f'write `"{word}"` if it is text'
        self.stop(at, f"expected a value, found `{word}`", help=help, width=len(match.group()) if match else 1)

    def bad_string(self, at: int, failure: JSONDecodeError) -> None:
        """Report why the string at `at` can't be read, and stop."""
        offset = min(failure.pos, len(self.text))
        if "Unterminated" in failure.msg:
            self.stop(at, "the quotes are never closed")
        if "control character" in failure.msg:
            char = self.text[offset : offset + 1]
            what = "a line break" if char in "\r\n" else "a tab" if char == "\t" else f"U+{ord(char):04X}"
            escape = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char, f"\\u{ord(char or ' '):04x}")
            self.stop(offset, f"{what} is not allowed inside a JSON string", help=f"write `{escape}`")
        start = self.text.rfind("\\", at, offset + 1)
        start = start if start >= 0 else offset
        self.stop(
            start, f"unknown escape `{shorten(self.text[start : start + 2])}`", help="write `\\\\` for a backslash"
        )

    def lone_surrogate(self, at: int, end: int) -> None:
        """Report the unpaired surrogate among the escapes."""
        pair = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        for match in re.finditer(rf"{pair}|(\\u[dD][89a-fA-F][0-9a-fA-F]{{2}})|\\.", self.text[at:end]):
            if match.group(1):
                span = self.source.span(at + match.start(), at + match.end())
                message = f"`{match.group()}` is an unpaired surrogate"
                self.note(mistake("lone-surrogate", span, message, help="write both halves, or the character itself"))
                return

    def stop(self, at: int, message: str, *notes: Note, help: str | None = None, width: int = 1) -> None:
        """Record a mistake at `at` and stop reading."""
        span = self.source.span(at, min(at + width, len(self.text)))
        self.findings.append(mistake("json-syntax", span, message, *notes, help=help))
        raise _Stop

    def note(self, diagnostic: Diagnostic) -> None:
        """Record a diagnostic; stop reading at the limit."""
        self.findings.append(diagnostic)
        if len(self.findings) >= mistakes.MAX_MISTAKES:
            raise _Stop
