"""Rule: a regular expression that RE2 refuses."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents import lexicon
from rulewright.documents.base import scalar
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Scalar


def invalid_regex(subject: LexiconDocument | ScenarioDocument) -> Iterator[Diagnostic]:
    """A regular expression is invalid, or uses syntax that RE2 does not support.

    Why it matters: it can't be compiled, so the pattern or branch would never match. RE2 supports neither look-around
    nor back-references; in return, matching is fast on every text.
    Instead: correct it, or write it without look-around and back-references.
    """
    yield from (found for pattern in _patterns(subject) if (found := lexicon.invalid_regex(pattern)) is not None)


def _patterns(subject: LexiconDocument | ScenarioDocument) -> Iterator[Scalar]:
    if isinstance(subject, LexiconDocument):
        yield from (pattern.scalar for pattern in subject.patterns if pattern.mode == "regex")
        return
    for turn in subject.turns:
        for branch in turn.branches:
            found = scalar(branch.node, "condition", "pattern")
            if branch.type == "regex" and found is not None:
                yield found
