import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import text_scalars
from rulewright.documents.lexicon import LexiconDocument, MarkerSet
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Scalar
from rulewright_runtime.matching.unspaced import is_unspaced

# Three letters that no word contains, as `wtf`: consonants, and some others.
ALONE: Final = re.compile(r"(?i)[b-df-hj-np-tv-xz]{3}|faq|omg|usd")


def short_word_hits_inside_others(subject: LexiconDocument | MarkerSet | ScenarioDocument) -> Findings:
    """A text of up to three letters is searched for without regard to case and word boundaries.

    Why it matters: `APS` occurs in "perhaps" and `AI` in "said", so the branch or pattern hits almost every text.
    Instead: write a longer text, or a regular expression with word boundaries: `(?i)\\bAPS\\b`. `\\b` knows ASCII
    letters only: write `(?:^|\\PL)` before another letter, and `(?:\\PL|$)` after one. Words of scripts without spaces,
    such as Japanese, are not reported.
    """
    for found in plain_texts(subject):
        text = found.text
        if 0 < len(text) <= 3 and text.isalpha() and not ALONE.fullmatch(text) and not any(map(is_unspaced, text)):
            yield warning(found, f"`{text}` occurs inside other words", help=rewrite(subject, text))


def rewrite(subject: LexiconDocument | MarkerSet | ScenarioDocument, text: str) -> str:
    """The help; markers can't be regular expressions, and a branch has one type for all of its values."""
    if isinstance(subject, MarkerSet):
        return "write a longer phrase"
    what = "a regular expression" if isinstance(subject, LexiconDocument) else "a condition of `type: regex`"
    escaped = re.escape(text).replace("\\ ", " ")
    before, after = "\\b" if text[0].isascii() else r"(?:^|\PL)", "\\b" if text[-1].isascii() else r"(?:\PL|$)"
    return f"use {what} with word boundaries: `(?i){before}{escaped}{after}`"


def plain_texts(subject: LexiconDocument | MarkerSet | ScenarioDocument) -> Iterator[Scalar]:
    """Every text that is searched for inside other texts."""
    if isinstance(subject, LexiconDocument):
        yield from (pattern.scalar for pattern in subject.patterns if pattern.mode == "substring_ci")
    elif isinstance(subject, MarkerSet):
        for phrases in subject.phrases:
            yield from phrases
    else:
        for turn in subject.turns:
            for branch in turn.branches:
                yield from text_scalars(branch.node, "condition", "values")
