"""Reads YAML into nodes from libyaml's events, in one loop without recursion.

libyaml's own composer recurses in C and crashes on deep nesting, so it is not used.
"""

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml import events
from yaml._yaml import CParser

from rulewright.diagnostics import Diagnostic
from rulewright.load import load_errors as mistakes
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.nodes import Entry, Mapping, Node, Plain, Scalar, Sequence, Source
from rulewright.load.scalars import STARTS, value_of
from rulewright.spelling import did_you_mean

_PROPERTIES = re.compile(r"(?:(?:!<[^>]*>|[&!][^\s,\[\]{}]*)(?:\s+(?:#[^\r\n]*)?)*)+")
_CORE = "tag:yaml.org,2002:"
# Line breaks to libyaml but not in YAML 1.2; they are replaced by private characters before parsing.
_FALSE_BREAKS = "\x85\u2028\u2029"
_PRIVATE = range(0xE000, 0xF900)
_MAX_DIRECTIVES = 20
_WHOLE = re.compile(r"(\d+),$")


def read(source: Source) -> tuple[Node | None, list[Diagnostic]]:
    """Return the root node of a YAML text and its findings; the root is None when a mistake makes it unreliable."""
    return _YamlReader(source).read()


class _TooMuch(Exception):  # noqa: N818 - it ends the reading and is not an error
    """The file exceeds a limit; the diagnostic is already recorded."""


class _YamlFrame:
    """An open collection: a mapping has an `index`, a sequence `items`; `key` is the key without its value."""

    __slots__ = ("anchor", "before", "flow", "height", "index", "items", "key", "start")

    def __init__(self, event: Any, start: int, before: int, index: dict[str, Entry] | None) -> None:
        self.flow: bool = event.flow_style
        self.anchor: str | None = event.anchor
        self.start = start
        self.before = before  # the number of values before it
        self.height = 0  # levels of collections inside it
        self.index = index
        self.items: list[Node] = []
        self.key: Scalar | None = None


class _YamlReader:
    """Builds nodes from events, with the open collections on an explicit stack."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.findings: list[Diagnostic] = []
        self.broken = False
        self.values = 0
        self.aliased = 0  # the number of values that aliases add
        self.documents = 0
        self.anchors: dict[str, tuple[Node, int, int] | None] = {}  # node, values in it, height; None while open
        self.root: Node | None = None
        self.stack: list[_YamlFrame] = []
        self.escaped_text, self.restore_breaks = _escape_breaks(source.text)

    def read(self) -> tuple[Node | None, list[Diagnostic]]:
        """Read the whole text; the root is None when a mistake makes it unreliable."""
        try:
            self.refuse_directives()
            self.follow_events(CParser(self.escaped_text).get_event)
        except yaml.YAMLError as failure:
            from rulewright.load.yaml_errors import explain  # most files have no such mistake

            self.broken = True
            self.findings.append(explain(failure, self.source))
        except _TooMuch:
            self.broken = True
        return (None if self.broken else self.root), self.findings

    def follow_events(self, next_event: Callable[[], object]) -> None:
        """Dispatch libyaml's events; others only start or end the stream or a document."""
        handlers: dict[type, Callable[[object], None]] = {
            events.ScalarEvent: self.scalar,
            events.MappingStartEvent: self.open,
            events.SequenceStartEvent: self.open,
            events.MappingEndEvent: self.close,
            events.SequenceEndEvent: self.close,
            events.AliasEvent: self.alias,
            events.DocumentStartEvent: self.document,
        }
        while (event := next_event()) is not None:
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)

    def scalar(self, event: Any) -> None:
        """Read a scalar: text, unless it is plain and the core schema gives it another type."""
        text: str = event.value
        start: int = event.start_mark.index
        end: int = event.end_mark.index
        style: str = event.style
        if style in ("|", ">"):  # libyaml's end is the start of the next line
            end = start + len(self.source.text[start:end].rstrip(" \t\r\n"))
        if self.restore_breaks is not None:
            text = text.translate(self.restore_breaks)
        value: Plain = text
        if event.tag is not None or event.anchor is not None:
            start, value = self.scalar_with_properties(event, text, start, end)
        elif not style and text[:1] in STARTS:
            value = self.resolve(text, start, end)
        node = Scalar(value, start, end, style, self.source)
        self.values += 1
        if event.anchor is not None:
            self.anchors[event.anchor] = (node, 1, 0)
        self.attach(node)

    def attach(self, node: Node) -> None:
        """Attach a node as the root, an item, a key, or the value of the pending key."""
        if self.values > mistakes.MAX_VALUES:
            self.give_up(mistakes.too_many(self.source, node.start))
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        index, key = frame.index, frame.key
        if index is None:
            frame.items.append(node)
        elif key is None:
            frame.key = self.key(node, index)
        else:
            index.setdefault(key.value, Entry(key, node))  # type: ignore[arg-type]
            frame.key = None

    def open(self, event: Any) -> None:
        """Open a mapping or sequence."""
        start: int = event.start_mark.index
        if len(self.stack) >= mistakes.MAX_DEPTH:
            self.give_up(mistakes.too_deep(self.source, start))
        if event.tag is not None or event.anchor is not None:
            start = self.after_properties(start)
            self.refuse_tag(event, ("map",) if type(event) is events.MappingStartEvent else ("seq",))
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.values += 1
        index: dict[str, Entry] | None = {} if type(event) is events.MappingStartEvent else None
        self.stack.append(_YamlFrame(event, start, self.values + self.aliased, index))

    def close(self, event: Any) -> None:
        """Close the innermost collection: a block ends with its last value, a flow collection with its bracket."""
        frame = self.stack.pop()
        end: int = event.end_mark.index
        node: Node
        if frame.index is not None:
            if not frame.flow and frame.index:
                end = max(frame.start, next(reversed(frame.index.values())).value.end)
            node = Mapping(frame.index, frame.start, end, self.source)
        else:
            if not frame.flow and frame.items:
                end = max(frame.start, frame.items[-1].end)
            node = Sequence(tuple(frame.items), frame.start, end, self.source)
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (node, self.values + self.aliased - frame.before + 1, frame.height + 1)
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, frame.height + 1)
        self.attach(node)

    def alias(self, event: Any) -> None:
        """Attach the node that an alias names; an unknown, recursive or too large one is reported."""
        start, end, name = event.start_mark.index, event.end_mark.index, event.anchor
        self.values += 1
        node: Node = Scalar(None, start, end, "", self.source)
        if name not in self.anchors:
            message, help = f"no anchor `&{shorten(name)}` before this alias", did_you_mean(name, self.anchors)
            self.report_broken("unknown-alias", start, end, message, help or "quote a text that begins with `*`")
        elif (anchored := self.anchors[name]) is None:
            self.report_broken(
                "recursive-alias", start, end, f"`*{shorten(name)}` refers to the value that it is part of"
            )
        else:
            node, values, height = anchored
            self.aliased += values
            if self.aliased > mistakes.MAX_ALIASED:
                message = f"aliases expand this document to more than {mistakes.MAX_ALIASED:,} values"
                self.give_up(mistake("alias-bomb", self.source.span(start, end), message))
            if len(self.stack) + height > mistakes.MAX_DEPTH:
                self.give_up(mistakes.too_deep(self.source, start))
            if self.stack:
                self.stack[-1].height = max(self.stack[-1].height, height)
        self.attach(node)

    def document(self, event: Any) -> None:
        """Start a document; a second one is reported."""
        self.documents += 1
        if self.documents == 2:
            start = event.start_mark.index
            span = self.source.span(start, start + 3)
            self.give_up(mistake("several-documents", span, "a second document starts here; a file contains one"))

    def key(self, node: Node, index: dict[str, Entry]) -> Scalar:
        """Return the node as a key of `index`; a key that is not text or a duplicate is reported."""
        if type(node) is Scalar and isinstance(node.value, str):
            if node.value == "<<" and not node.style:
                self.report_broken(
                    "merge-key", node.start, node.end, "merge keys are not part of YAML 1.2; write the keys out"
                )
            elif node.value in index:
                self.note(mistakes.duplicate_key(node, index[node.value].key))
            return node
        text = self.source.text[node.start : node.end].strip() or "null"
        kind = _kind(node)
        self.note(
            mistake(
                "key-is-not-text",
                self.source.span(node.start, node.end),
                f"`{shorten(text)}` is {kind} where a key must be text",
                help=self.help_for_key(node, text),
            )
        )
        return Scalar(text, node.start, node.end, "", self.source)

    def help_for_key(self, node: Node, text: str) -> str | None:
        """Return the help for a key that is not text: quotes, or a point where a comma splits a decimal number."""
        integer_part = _WHOLE.search(self.source.text, max(node.start - 20, 0), node.start)
        if integer_part is not None and text.isdecimal():
            return f"write `{integer_part[1]}.{text}`: a comma parts the entries"
        if self.source.text[node.start - 1 : node.end + 1] == f"{{{text}}}":
            return "quote a text with `{{ }}`, or write it below `KEY: |`"
        return f'write `"{shorten(text)}":`' if type(node) is Scalar else None

    def resolve(self, text: str, start: int, end: int) -> Plain:
        """Return the value of a plain scalar; a number out of range is reported and stays text."""
        try:
            return value_of(text)
        except OverflowError:
            self.broken = True
            self.note(mistakes.out_of_range(self.source.span(start, end), text))
            return text

    def scalar_with_properties(self, event: Any, text: str, start: int, end: int) -> tuple[int, Plain]:
        """Return the start and value of a scalar with a tag or an anchor; the start is after both."""
        start = min(self.after_properties(start), end)
        if event.tag is None:
            return start, text if event.style else self.resolve(text, start, end)
        self.refuse_tag(event, ("str", "int", "float", "bool", "null"))
        tag = event.tag.removeprefix(_CORE)
        if tag in ("!", "str"):
            return start, text
        value = self.resolve(text, start, end)
        kinds = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}
        if tag in kinds and (
            not isinstance(value, kinds[tag])  # type: ignore[arg-type]
            or (isinstance(value, bool) and tag != "bool")
        ):
            self.report_broken("custom-tag", start, end, f"`{shorten(text)}` is not what the tag `!!{tag}` says")
        return start, float(value) if tag == "float" and isinstance(value, int) else value

    def refuse_tag(self, event: Any, allowed: tuple[str, ...]) -> None:
        """Report a tag that the core schema does not have for this kind of node."""
        tag = event.tag
        if tag is None or tag == "!" or (tag.startswith(_CORE) and tag[len(_CORE) :] in allowed):
            return
        start = event.start_mark.index
        match = re.compile(r"[^\s,\[\]{}]*").match(self.source.text, self.source.text.find("!", start))
        assert match is not None
        self.report_broken(
            "custom-tag",
            match.start(),
            match.end(),
            f"the tag `{shorten(match.group())}` is not allowed here",
            help="rule files are data: write the value itself",
        )

    def after_properties(self, start: int) -> int:
        """Return the offset of a node's own text, after its anchor and tag."""
        match = _PROPERTIES.match(self.source.text, start)
        return match.end() if match else start

    def refuse_directives(self) -> None:
        """Limit the directives: libyaml compares each with every other, in quadratic time."""
        if "%" not in self.escaped_text[:1] and "\n%" not in self.escaped_text:
            return
        starts = [match.start() for match in re.finditer(r"^%", self.escaped_text, re.MULTILINE)]
        if len(starts) > _MAX_DIRECTIVES:
            span = self.source.span(starts[_MAX_DIRECTIVES], starts[_MAX_DIRECTIVES] + 1)
            self.give_up(mistake("yaml-syntax", span, "too many lines start with `%`", help="indent them"))

    def report_broken(self, code: str, start: int, end: int, message: str, help: str | None = None) -> None:
        """Record a mistake that makes the document unreliable, and read on for more."""
        self.broken = True
        self.note(mistake(code, self.source.span(start, end), message, help=help))

    def note(self, diagnostic: Diagnostic) -> None:
        """Record a diagnostic; stop reading at the limit."""
        self.findings.append(diagnostic)
        if len(self.findings) >= mistakes.MAX_MISTAKES:
            raise _TooMuch

    def give_up(self, diagnostic: Diagnostic) -> None:
        """Record a mistake and stop reading."""
        self.findings.append(diagnostic)
        raise _TooMuch


def _escape_breaks(text: str) -> tuple[str, dict[int, int] | None]:
    """Replace libyaml's extra line breaks by unused private characters; return the text and the inverse table."""
    if text.isascii() or not any(char in text for char in _FALSE_BREAKS):
        return text, None
    used = set(text)
    free = [point for point in _PRIVATE if chr(point) not in used][: len(_FALSE_BREAKS)]
    if len(free) < len(_FALSE_BREAKS):
        return text, None
    replacements = {ord(char): point for char, point in zip(_FALSE_BREAKS, free, strict=True)}
    return text.translate(replacements), {point: char for char, point in replacements.items()}


def _kind(node: Node) -> str:
    """The kind of a node for messages."""
    if type(node) is Mapping:
        return "a mapping"
    if type(node) is Sequence:
        return "a list"
    if node.value is None:
        return "null"
    return "a boolean" if isinstance(node.value, bool) else "a number"
