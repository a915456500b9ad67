from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import repeated
from rulewright.documents.lexicon import LexiconDocument, PatternEntry


def duplicate_pattern(lexicon: LexiconDocument) -> Findings:
    """A lexicon contains the same pattern twice.

    Why it matters: the second one never adds a hit; perhaps one of the two is misspelt.
    Instead: remove one of them.
    """
    for pattern, first in repeated(lexicon.patterns, _found):
        notes = [(first.scalar, "the same pattern")]
        yield warning(pattern.scalar, f"`{pattern.text}` is in this lexicon twice", notes=notes)


def _found(pattern: PatternEntry) -> tuple[str, str]:
    """What the pattern finds."""
    return pattern.mode, pattern.text if pattern.mode == "regex" else pattern.text.lower()
