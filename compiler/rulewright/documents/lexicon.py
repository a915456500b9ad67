"""Lexicons and marker sets: patterns and phrases to search in transcripts."""

from __future__ import annotations

import re
from typing import Annotated, Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Findings, error
from rulewright.documents.base import Document, items, optional_text, optional_texts, scalar, text_scalars
from rulewright.documents.typed_reader import At, Key, read_named
from rulewright.load import Mapping, Node, Scalar, Sequence, is_text, place
from rulewright_runtime.regex import compile_re2

_LOOK_AROUND: Final = re.compile(r"\(\?<?[=!]")
_BACK_REFERENCE: Final = re.compile(r"\\[1-9]")
_HELP: Final = (
    (_LOOK_AROUND, "RE2 has no look-around: list the alternatives, or use a second pattern"),
    (_BACK_REFERENCE, "RE2 has no back-references: list the alternatives"),
)
_CURES: Final = (  # the engine's reasons, without the refused part
    ("missing )", r"close the group with `)`, or write `\(` for the character"),
    ("unexpected )", r"remove it, or write `\)` for the character"),
    ("missing ]", r"close the class with `]`, or write `\[` for the character"),
    ("no argument for repetition operator", "put an operand before it, or escape the character with a backslash"),
    ("bad repetition operator", "keep one operator; RE2 has no possessive ones"),
    ("invalid repetition size", "at most 1000 repetitions are allowed, with the smaller number first"),
    ("invalid escape sequence", "RE2 has no such escape; remove the backslash"),
    ("invalid character class range", "start the range with the lower character"),
    ("trailing \\", r"write `\\` for the character"),
)
PHRASES: Final = ("identity_question", "ai_disclosure", "false_human")


class PatternEntry(Struct, frozen=True):
    """One pattern; `mode` is `substring_ci` (a text, ignoring case) or `regex` (RE2)."""

    text: str
    mode: str
    scalar: Scalar


class LexiconDocument(Document, frozen=True, eq=False):
    """A named list of patterns. `role` None means the assistant's turns.

    `fold` is `none`, `text` or a list of differences; None if absent.
    """

    name: Key
    role: str | None
    fold: Annotated[str | tuple[str, ...] | None, At(by=fold_of)]
    patterns: Annotated[tuple[PatternEntry, ...], At(by=read_patterns)]


def read_lexicons(node: Mapping) -> tuple[LexiconDocument, ...]:
    """The models of a file that maps names to lists of patterns or to lexicons."""
    found = []
    for entry in node.entries:
        if isinstance(entry.value, Mapping):
            found.append(read_named(LexiconDocument, entry.value, entry.name))
        elif isinstance(entry.value, Sequence):
            found.append(LexiconDocument(node, entry.name, None, None, read_patterns(entry.value)))
    return tuple(found)


def fold_of(node: Node | None) -> str | tuple[str, ...] | None:
    """The value of `fold`: `none`, `text` or a list of differences; None if absent."""
    return optional_text(node) or optional_texts(node)


def read_patterns(node: Node | None) -> tuple[PatternEntry, ...]:
    """The patterns of a list."""
    return tuple(entry for entry in map(_pattern, items(node)) if entry is not None)


def _pattern(node: Node) -> PatternEntry | None:
    regex, spelled = scalar(node, "regex"), scalar(node, "pattern")
    if is_text(node):
        return PatternEntry(node.text, "substring_ci", node)
    if regex is not None:
        return PatternEntry(regex.text, "regex", regex)
    if spelled is not None:
        return PatternEntry(spelled.text, optional_text(node, "mode") or "substring_ci", spelled)
    return None


def pattern_findings(lexicon: LexiconDocument) -> Findings:
    """The findings for invalid patterns of a lexicon."""
    for entry in lexicon.patterns:
        if entry.mode == "regex":
            found = invalid_regex(entry.scalar)
            if found is not None:
                yield found


class MarkerSet(Document, frozen=True, eq=False):
    """Three lists of phrases; `name` is None for a single set that serves every name."""

    name: str | None
    identity_question: tuple[str, ...]
    ai_disclosure: tuple[str, ...]
    false_human: tuple[str, ...]

    @property
    def phrases(self) -> tuple[tuple[Scalar, ...], ...]:
        """The phrases of the three lists, as scalars."""
        return tuple(text_scalars(self.node, key) for key in PHRASES)


def invalid_regex(scalar: Scalar) -> Diagnostic | None:
    """The finding that RE2 refuses the regular expression in `scalar`; None if it is valid."""
    pattern = scalar.text
    try:
        compile_re2(pattern)
    except ValueError as refusal:
        reason = str(refusal)
        lacking = (help for part, help in _HELP if part.search(pattern))
        help = next(lacking, None) or next((cure for start, cure in _CURES if reason.startswith(start)), None)
        message = f"RE2 refuses the regular expression `{pattern}`: {reason}"
        start, end = _refused(pattern, reason)
        return error(place(scalar, start, end), message, code="invalid-regex", help=help)
    return None


def _refused(pattern: str, reason: str) -> tuple[int, int]:
    """The span of the part that the engine's reason names at its end, or of the whole pattern."""
    for found in (part.search(pattern) for part, _ in _HELP):
        if found is not None:
            return found.span()
    named = reason.rpartition(": ")[2]
    start = pattern.find(named) if named else -1
    return (start, start + len(named)) if start >= 0 else (0, len(pattern))
