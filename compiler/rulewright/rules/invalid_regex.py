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
    """A regular expression is broken, or uses what RE2 does not have.

    Why it matters: it can't be compiled, so the pattern or branch would be dead. RE2 has no look-around and no
    back-references, which is what keeps matching fast on every text.
    Instead: correct it, or say the same without look-around.
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
