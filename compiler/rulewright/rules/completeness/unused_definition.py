import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend, entries, items, scalar
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.load import Node, Scalar, Sequence, walk

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
            notes += [(each, "the phrases of two metrics") for each in _searched_twice(root)] if kind == "input" else []
            yield warning(entry.key, f"nothing reads the {kind} `{entry.name}`", notes=notes)


def _searched_twice(root: Node) -> Iterator[Scalar]:
    """The inputs of phrases that two metrics name: one of them may be meant to name the unused input."""
    searched = [found for entry in entries(root, "metrics") if (found := scalar(entry.value, "share", "of"))]
    counts = Counter(each.value for each in searched)
    yield from (each for each in searched if counts[each.value] > 1)


def _texts(node: Node) -> Iterator[tuple[int, str]]:
    """Every text below a node with its offset, except titles, descriptions, requirements and places of settings."""
    if isinstance(node, Scalar):
        yield node.start, str(node.value)
    elif isinstance(node, Sequence):
        for item in node:
            yield from _texts(item)
    else:
        for entry in node.entries:
            if entry.name not in UNREAD:
                yield from _texts(entry.value)
