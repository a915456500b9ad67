"""Lexicons and marker sets: patterns and phrases that are looked for in a transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import Document, items, optional_text, optional_texts, scalar, text_scalars
from rulewright.documents.typed_reader import At, Key, read
from rulewright.load import Mapping, Node, Scalar, Sequence, place
from rulewright_runtime.errors import PlanError
from rulewright_runtime.regex import compile_regex

_LOOK_AROUND: Final = re.compile(r"\(\?<?[=!]")
_BACK_REFERENCE: Final = re.compile(r"\\[1-9]")
_HELP: Final = (
    (_LOOK_AROUND, "RE2 has no look-around: list what may stand there, or use a second pattern"),
    (_BACK_REFERENCE, "RE2 has no back-references: write the alternatives out"),
)
_CURES: Final = (  # of what the engine names before the part that it refuses
    ("missing )", r"close the group with `)`, or write `\(` for the character"),
    ("unexpected )", r"remove it, or write `\)` for the character"),
    ("missing ]", r"close the class with `]`, or write `\[` for the character"),
    ("no argument for repetition operator", "write what is repeated before it, or a backslash for the character"),
    ("bad repetition operator", "keep one of the operators; RE2 has no possessive ones"),
    ("invalid repetition size", "repeat at most 1000 times, the smaller number first"),
    ("invalid escape sequence", "RE2 has no such escape; the character itself needs no backslash"),
    ("invalid character class range", "write the range from the lower to the higher character"),
    ("trailing \\", r"write `\\` for the character"),
)
PHRASES: Final = ("identity_question", "ai_disclosure", "false_human")


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """One pattern with its place; `mode` is `substring_ci` (a text, without regard to case) or `regex` (RE2)."""

    text: str
    mode: str
    scalar: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class LexiconDocument(Document):
    """A named list of patterns. `role` is None where the author named none: the assistant's turns.

    `fold` is `none`, `text` or a list of differences; None where the author says nothing of it.
    """

    name: Key
    role: str | None
    fold: Annotated[str | tuple[str, ...] | None, At(by=fold_of)]
    patterns: Annotated[tuple[PatternEntry, ...], At(by=read_patterns)]


def read_lexicon(node: Mapping, name: str) -> LexiconDocument:
    """The model of a lexicon's mapping; `name` is the file's stem or the key it stands under."""
    return read(LexiconDocument, node, name=name)


def read_lexicons(node: Mapping) -> tuple[LexiconDocument, ...]:
    """The models of a file that maps names to lists of patterns or to lexicons."""
    found = []
    for entry in node.entries:
        if isinstance(entry.value, Mapping):
            found.append(read_lexicon(entry.value, entry.name))
        elif isinstance(entry.value, Sequence):
            found.append(LexiconDocument(node, entry.name, None, None, read_patterns(entry.value)))
    return tuple(found)


def fold_of(node: Node | None) -> str | tuple[str, ...] | None:
    """What a `fold` says: `none`, `text`, a list of differences; None where it is absent."""
    return optional_text(node) or optional_texts(node)


def read_patterns(node: Node | None) -> tuple[PatternEntry, ...]:
    """The patterns of a list."""
    return tuple(entry for entry in map(_pattern, items(node)) if entry is not None)


def _pattern(node: Node) -> PatternEntry | None:
    regex, spelled = scalar(node, "regex"), scalar(node, "pattern")
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return PatternEntry(node.value, "substring_ci", node)
    if regex is not None:
        return PatternEntry(str(regex.value), "regex", regex)
    if spelled is not None:
        return PatternEntry(str(spelled.value), optional_text(node, "mode") or "substring_ci", spelled)
    return None


def pattern_findings(lexicon: LexiconDocument) -> Iterator[Diagnostic]:
    """The patterns of a lexicon that can't be looked for."""
    for entry in lexicon.patterns:
        if entry.mode == "regex":
            found = invalid_regex(entry.scalar)
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True, eq=False)
class MarkerSet(Document):
    """Three lists of phrases; `name` is None for the one set that serves every name."""

    name: str | None
    identity_question: tuple[str, ...]
    ai_disclosure: tuple[str, ...]
    false_human: tuple[str, ...]

    @property
    def phrases(self) -> tuple[tuple[Scalar, ...], ...]:
        """The texts of the three lists, with their places."""
        return tuple(text_scalars(self.node, key) for key in PHRASES)


def read_markers(node: Mapping, name: str | None) -> MarkerSet:
    """The model of a marker file's mapping."""
    return read(MarkerSet, node, name=name)


def invalid_regex(scalar: Scalar) -> Diagnostic | None:
    """The finding that RE2 refuses the expression in `scalar`; None where it takes it."""
    pattern = str(scalar.value)
    try:
        compile_regex(pattern)
    except PlanError as failure:
        reason = str(failure).partition("` is refused: ")[2]
        lacking = (help for part, help in _HELP if part.search(pattern))
        help = next(lacking, None) or next((cure for start, cure in _CURES if reason.startswith(start)), None)
        message = f"RE2 refuses the regular expression `{pattern}`: {reason}"
        start, end = _refused(pattern, reason)
        return error(place(scalar, start, end), message, code="invalid-regex", help=help)
    return None


def _refused(pattern: str, reason: str) -> tuple[int, int]:
    """Where the part stands that the engine names at the end of its reason; the whole pattern where it names none."""
    for found in (part.search(pattern) for part, _ in _HELP):
        if found is not None:
            return found.span()
    named = reason.rpartition(": ")[2]
    start = pattern.find(named) if named else -1
    return (start, start + len(named)) if start >= 0 else (0, len(pattern))
