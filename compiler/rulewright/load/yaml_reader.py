"""YAML becomes nodes: libyaml's events, one loop, no recursion.

libyaml's own composer recurses in C and crashes on deep nesting, so it is never asked for nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from rulewright.diagnostics import Diagnostic
from rulewright.load import load_errors as mistakes
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.nodes import Entry, Mapping, Node, Plain, Scalar, Sequence
from rulewright.load.plain_values import STARTS, value_of
from rulewright.load.source import Source
from rulewright.load.yaml_errors import explain

_PROPERTIES = re.compile(r"(?:(?:!<[^>]*>|[&!][^\s,\[\]{}]*)(?:\s+(?:#[^\r\n]*)?)*)+")
_CORE = "tag:yaml.org,2002:"
# What libyaml takes for line breaks and YAML 1.2 does not; they travel through it in disguise.
_FALSE_BREAKS = "\x85\u2028\u2029"
_PRIVATE = range(0xE000, 0xF900)
_MAX_DIRECTIVES = 20


def read(source: Source) -> tuple[Node | None, list[Diagnostic]]:
    """The root node of a YAML text with every mistake found; no root when the text can't be trusted."""
    return _YamlReader(source).read()


class _TooMuch(Exception):  # noqa: N818 - it ends the reading, it is not an error of ours
    """The file passes a limit; the diagnostic is already noted."""


class _YamlFrame:
    """A collection that is still open: a mapping has an `index`, a sequence `items`; `key` waits for its value."""

    __slots__ = ("anchor", "before", "flow", "height", "index", "items", "key", "start")

    def __init__(self, event: Any, start: int, before: int, index: dict[str, Entry] | None) -> None:
        self.flow: bool = event.flow_style
        self.anchor: str | None = event.anchor
        self.start = start
        self.before = before  # how many values stood before it
        self.height = 0  # levels of collections inside it
        self.index = index
        self.items: list[Node] = []
        self.key: Scalar | None = None


class _YamlReader:
    """Builds nodes from events, keeping the open collections on a stack of its own."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: list[Diagnostic] = []
        self.broken = False
        self.values = 0
        self.aliased = 0  # how many more values the aliases stand for
        self.documents = 0
        self.anchors: dict[str, tuple[Node, int, int] | None] = {}  # node, values in it, height; None while open
        self.root: Node | None = None
        self.stack: list[_YamlFrame] = []
        self.plain_text, self.undisguise = _disguise(source.text)

    def read(self) -> tuple[Node | None, list[Diagnostic]]:
        """Read the whole text; the root is None when a mistake makes it unreliable."""
        try:
            self.refuse_directives()
            self.follow_events(CParser(self.plain_text).get_event)
        except yaml.YAMLError as failure:
            self.broken = True
            self.found.append(explain(failure, self.source))
        except _TooMuch:
            self.broken = True
        return (None if self.broken else self.root), self.found

    def follow_events(self, next_event: Callable[[], object]) -> None:
        """The one loop over libyaml's events; what is not named here starts or ends the stream or a document."""
        reactions: dict[type, Callable[[object], None]] = {
            ScalarEvent: self.scalar,
            MappingStartEvent: self.open,
            SequenceStartEvent: self.open,
            MappingEndEvent: self.close,
            SequenceEndEvent: self.close,
            AliasEvent: self.alias,
            DocumentStartEvent: self.document,
        }
        while (event := next_event()) is not None:
            react = reactions.get(type(event))
            if react is not None:
                react(event)

    def scalar(self, event: Any) -> None:
        """A scalar: text, unless it is plain and the core schema knows better."""
        text: str = event.value
        start: int = event.start_mark.index
        end: int = event.end_mark.index
        style: str = event.style
        if style in ("|", ">"):  # libyaml goes on to where the next line begins
            end = start + len(self.source.text[start:end].rstrip(" \t\r\n"))
        if self.undisguise is not None:
            text = text.translate(self.undisguise)
        value: Plain = text
        if event.tag is not None or event.anchor is not None:
            start, value = self.dressed(event, text, start, end)
        elif not style and text[:1] in STARTS:
            value = self.resolve(text, start, end)
        node = Scalar(value, start, end, style, self.source)
        self.values += 1
        if event.anchor is not None:
            self.anchors[event.anchor] = (node, 1, 0)
        self.attach(node)

    def attach(self, node: Node) -> None:
        """Put a finished node where it belongs: the root, an item, a key, or the value of the waiting key."""
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
        """A mapping or sequence begins."""
        start: int = event.start_mark.index
        if len(self.stack) >= mistakes.MAX_DEPTH:
            self.give_up(mistakes.too_deep(self.source, start))
        if event.tag is not None or event.anchor is not None:
            start = self.after_properties(start)
            self.refuse_tag(event, ("map",) if type(event) is MappingStartEvent else ("seq",))
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.values += 1
        index: dict[str, Entry] | None = {} if type(event) is MappingStartEvent else None
        self.stack.append(_YamlFrame(event, start, self.values + self.aliased, index))

    def close(self, event: Any) -> None:
        """The innermost collection ends: a block collection with its last value, a flow collection with its bracket."""
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
        """An alias: the very node its anchor names, unless that is unknown, still open, or too much."""
        start, end, name = event.start_mark.index, event.end_mark.index, event.anchor
        self.values += 1
        node: Node = Scalar(None, start, end, "", self.source)
        if name not in self.anchors:
            self.wrong("unknown-alias", start, end, f"no anchor `&{shorten(name)}` stands before this alias")
        elif (anchored := self.anchors[name]) is None:
            self.wrong("recursive-alias", start, end, f"`*{shorten(name)}` stands inside the value it stands for")
        else:
            node, values, height = anchored
            self.aliased += values
            if self.aliased > mistakes.MAX_ALIASED:
                message = f"aliases blow this document up to more than {mistakes.MAX_ALIASED:,} values"
                self.give_up(mistake("alias-bomb", self.source.span(start, end), message))
            if len(self.stack) + height > mistakes.MAX_DEPTH:
                self.give_up(mistakes.too_deep(self.source, start))
            if self.stack:
                self.stack[-1].height = max(self.stack[-1].height, height)
        self.attach(node)

    def document(self, event: Any) -> None:
        """A document starts; a second one is a mistake."""
        self.documents += 1
        if self.documents == 2:
            start = event.start_mark.index
            place = self.source.span(start, start + 3)
            self.give_up(mistake("several-documents", place, "a second document starts here; a file holds one"))

    def key(self, node: Node, index: dict[str, Entry]) -> Scalar:
        """The node as a key of `index`: text, and not there before."""
        if type(node) is Scalar and isinstance(node.value, str):
            if node.value == "<<" and not node.style:
                self.wrong("merge-key", node.start, node.end, "merge keys are not part of YAML 1.2; write the keys out")
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
                help=f'write `"{shorten(text)}":`' if type(node) is Scalar else None,
            )
        )
        return Scalar(text, node.start, node.end, "", self.source)

    def resolve(self, text: str, start: int, end: int) -> Plain:
        """The value of a plain scalar; a number too large is a mistake and stays text."""
        try:
            return value_of(text)
        except OverflowError:
            self.broken = True
            self.note(mistakes.out_of_range(self.source.span(start, end), text))
            return text

    def dressed(self, event: Any, text: str, start: int, end: int) -> tuple[int, Plain]:
        """Start and value of a scalar that bears a tag or an anchor; the start is behind them."""
        start = min(self.after_properties(start), end)
        if event.tag is None:
            return start, text if event.style else self.resolve(text, start, end)
        self.refuse_tag(event, ("str", "int", "float", "bool", "null"))
        wanted = event.tag.removeprefix(_CORE)
        if wanted in ("!", "str"):
            return start, text
        value = self.resolve(text, start, end)
        kinds = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}
        if wanted in kinds and (
            not isinstance(value, kinds[wanted])  # type: ignore[arg-type]
            or (isinstance(value, bool) and wanted != "bool")
        ):
            self.wrong("custom-tag", start, end, f"`{shorten(text)}` is not what the tag `!!{wanted}` says")
        return start, float(value) if wanted == "float" and isinstance(value, int) else value

    def refuse_tag(self, event: Any, allowed: tuple[str, ...]) -> None:
        """Note a tag that is not one of the core schema's for this kind of node."""
        tag = event.tag
        if tag is None or tag == "!" or (tag.startswith(_CORE) and tag[len(_CORE) :] in allowed):
            return
        start = event.start_mark.index
        found = re.compile(r"[^\s,\[\]{}]*").match(self.source.text, self.source.text.find("!", start))
        assert found is not None
        self.wrong(
            "custom-tag",
            found.start(),
            found.end(),
            f"the tag `{shorten(found.group())}` is not allowed here",
            help="rule files are data: write the value itself",
        )

    def after_properties(self, start: int) -> int:
        """Where a node's own text starts, behind its anchor and tag."""
        found = _PROPERTIES.match(self.source.text, start)
        return found.end() if found else start

    def refuse_directives(self) -> None:
        """libyaml compares every directive with every other, so a file of them would take for ever."""
        if "%" not in self.plain_text[:1] and "\n%" not in self.plain_text:
            return
        starts = [found.start() for found in re.finditer(r"^%", self.plain_text, re.MULTILINE)]
        if len(starts) > _MAX_DIRECTIVES:
            place = self.source.span(starts[_MAX_DIRECTIVES], starts[_MAX_DIRECTIVES] + 1)
            self.give_up(mistake("yaml-syntax", place, "too many lines start with `%`", help="indent them"))

    def wrong(self, code: str, start: int, end: int, message: str, help: str | None = None) -> None:
        """Note a mistake after which the document can't be trusted, and read on for more."""
        self.broken = True
        self.note(mistake(code, self.source.span(start, end), message, help=help))

    def note(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic; a file with too many of them is given up."""
        self.found.append(diagnostic)
        if len(self.found) >= mistakes.MAX_MISTAKES:
            raise _TooMuch

    def give_up(self, diagnostic: Diagnostic) -> None:
        """Note a mistake after which reading on is pointless."""
        self.found.append(diagnostic)
        raise _TooMuch


def _disguise(text: str) -> tuple[str, dict[int, int] | None]:
    """The text with false line breaks replaced by private characters it doesn't use, and the table that undoes it."""
    if text.isascii() or not any(char in text for char in _FALSE_BREAKS):
        return text, None
    used = set(text)
    free = [point for point in _PRIVATE if chr(point) not in used][: len(_FALSE_BREAKS)]
    if len(free) < len(_FALSE_BREAKS):
        return text, None
    there = {ord(char): point for char, point in zip(_FALSE_BREAKS, free, strict=True)}
    return text.translate(there), {point: char for char, point in there.items()}


def _kind(node: Node) -> str:
    """What a node is, in an author's words."""
    if type(node) is Mapping:
        return "a mapping"
    if type(node) is Sequence:
        return "a list"
    if node.value is None:
        return "null"
    return "a boolean" if isinstance(node.value, bool) else "a number"
