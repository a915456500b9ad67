"""A lexicon: patterns that are looked for in a transcript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import Document, items, optional_text, scalar, texts
from rulewright.documents.patterns import invalid_regex
from rulewright.load import Mapping, Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """One pattern with its place; `mode` is `substring_ci` (a text, without regard to case) or `regex` (RE2)."""

    text: str
    mode: str
    scalar: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon(Document):
    """A named list of patterns. `role` is None where the author named none: the assistant's turns.

    `fold` is `none`, `text` or a list of differences; None where the author says nothing of it.
    """

    name: str
    role: str | None
    fold: str | tuple[str, ...] | None
    patterns: tuple[PatternEntry, ...]


def read_lexicon(node: Mapping, name: str) -> Lexicon:
    """The model of a lexicon's mapping; `name` is the file's stem or the key it stands under."""
    return Lexicon(node, name, optional_text(node, "role"), read_fold(node), _patterns(items(node, "patterns")))


def read_lexicons(node: Mapping) -> tuple[Lexicon, ...]:
    """The models of a file that maps names to lists of patterns or to lexicons."""
    found = []
    for entry in node.entries:
        if isinstance(entry.value, Mapping):
            found.append(read_lexicon(entry.value, entry.name))
        elif isinstance(entry.value, Sequence):
            found.append(Lexicon(node, entry.name, None, None, _patterns(entry.value.items)))
    return tuple(found)


def read_fold(node: Mapping) -> str | tuple[str, ...] | None:
    """What the mapping's `fold` says: `none`, `text`, a list of differences; None where it is absent."""
    return optional_text(node, "fold") or (texts(node, "fold") if node.get("fold") is not None else None)


def read_patterns(node: Node | None, *steps: str) -> tuple[PatternEntry, ...]:
    """The patterns of the list at `steps`."""
    return _patterns(items(node, *steps))


def _patterns(nodes: tuple[Node, ...]) -> tuple[PatternEntry, ...]:
    return tuple(entry for entry in map(_pattern, nodes) if entry is not None)


def _pattern(node: Node) -> PatternEntry | None:
    regex, spelled = scalar(node, "regex"), scalar(node, "pattern")
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return PatternEntry(node.value, "substring_ci", node)
    if regex is not None:
        return PatternEntry(str(regex.value), "regex", regex)
    if spelled is not None:
        return PatternEntry(str(spelled.value), optional_text(node, "mode") or "substring_ci", spelled)
    return None


def pattern_findings(lexicon: Lexicon) -> Iterator[Diagnostic]:
    """The patterns of a lexicon that can't be looked for."""
    for entry in lexicon.patterns:
        if entry.mode == "regex":
            found = invalid_regex(entry.scalar)
            if found is not None:
                yield found
