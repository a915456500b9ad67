import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend, entries, items, scalar
from rulewright.documents.base import text as text_at
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.load import Node, Scalar, Sequence, walk
from rulewright.load.nodes import Entry

NAMED: Final = {"parameters": "parameter", "inputs": "input", "texts": "text"}  # read by their own name
GROUPED: Final = {"rates": "rate", "counts": "count", "lists": "list"}  # read as `counts.NAME`, or all as `counts`
UNREAD: Final = frozenset({"description", "title", "scorecard", "requires", "file", "environment", "flag"})
WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def unused_definition(document: CaseScorecardDocument | ScorecardDocument) -> Findings:
    """Nothing in a scorecard reads a parameter, input, text, variable, rate, count or list that it defines.

    Why it matters: setting or computing it changes no result.
    Instead: use it where it was meant to be used, or remove it.
    """
    unread = {each.start for part in _prose(document.node) for each in walk(part)}
    texts = {start: text for start, text in _texts(document.node) if start not in unread}
    read: dict[str, list[int]] = {}  # the words, with the starts of the texts that have them
    for start, text in texts.items():
        for word in dict.fromkeys(WORD.findall(text)):
            read.setdefault(word, []).append(start)
    for section, kind in NAMED.items():
        yield from _unused(document.node, section, kind, read)
    for section, kind in GROUPED.items():
        whole = re.compile(rf"\b{section}\b(?!\s*\.\s*[A-Za-z_])")
        if not any(whole.search(text) for text in texts.values()):
            yield from _unused(document.node, section, kind, read)
    for item in items(document.node, "variables"):
        for entry in entries(item):
            if all(start == entry.value.start for start in read.get(entry.name, ())):
                yield warning(entry.key, f"nothing reads the variable `{entry.name}`")


def _prose(root: Node) -> Iterator[Node]:
    """The parts of a scorecard over cases that name phrases and paths."""
    for metric in entries(root, "metrics"):
        yield from filter(None, (descend(metric.value, key) for key in ("common", "details", "words")))
    yield from filter(
        None, (descend(root, "metadata"), *(descend(each.value, "from") for each in entries(root, "inputs")))
    )


def _unused(root: Node, section: str, kind: str, read: Mapping[str, Iterable[int]]) -> Findings:
    outputs = entries(root, "output")
    for entry in entries(root, section):
        inside = range(entry.value.start, entry.value.end)
        if all(start in inside for start in read.get(entry.name, ())):
            namesake = next((each for each in outputs if each.name.startswith(f"{entry.name}_")), None)
            notes = [(namesake.value, "perhaps meant here")] if namesake is not None else []
            message = f"nothing reads the {kind} `{entry.name}`"
            twice = _read_twice(root, entry) if section in ("inputs", "texts") and not notes else []
            if len(twice) == 2:
                yield warning(twice[0], message, notes=[(entry.key, "not read"), (twice[1], "also read here")])
            else:
                yield warning(entry.key, message, notes=notes)


def _read_twice(root: Node, unread: Entry) -> list[Scalar]:
    """Where two metrics read the same list of phrases, or the same text if the unread definition is one, first the
    place that should probably read this definition: the order of the metrics is that of the definitions."""
    is_list = text_at(unread.value, "type") == "strings"
    read = [scalar(each.value, "share", "of" if is_list else "found") for each in entries(root, "metrics")]
    named = [(set(WORD.findall(each.text)) - {"it"}, each) for each in read if each is not None]
    defined = {each.name for section in ("inputs", "texts") for each in entries(root, section)}
    counts = Counter(name for names, _ in named for name in names & defined)
    twice = {name for name, count in counts.items() if count == 2}
    places = [each for names, each in named if names & twice] if len(twice) == 1 else []
    defined_later = {each.name for each in entries(root, "inputs") if each.key.start > unread.key.start}
    return places if twice <= defined_later else places[::-1]


def _texts(node: Node) -> Iterator[tuple[int, str]]:
    """Every text below a node with its offset, except titles, descriptions, requirements and places of settings."""
    if isinstance(node, Scalar):
        yield node.start, node.text
    elif isinstance(node, Sequence):
        for item in node:
            yield from _texts(item)
    else:
        for entry in node.entries:
            if entry.name not in UNREAD:
                yield from _texts(entry.value)
