"""Rule: a pattern that is twice in a lexicon."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.lexicon import LexiconDocument, PatternEntry


def duplicate_pattern(lexicon: LexiconDocument) -> Iterator[Diagnostic]:
    """A lexicon contains the same pattern twice.

    Why it matters: the second one never adds a hit; perhaps one of the two is misspelt.
    Instead: remove one of them.
    """
    first: dict[tuple[str, str], PatternEntry] = {}
    for pattern in lexicon.patterns:
        text = pattern.text if pattern.mode == "regex" else pattern.text.lower()
        other = first.setdefault((pattern.mode, text), pattern)
        if other is not pattern:
            notes = [(other.scalar, "the same pattern")]
            yield warning(pattern.scalar, f"`{pattern.text}` is in this lexicon twice", notes=notes)
