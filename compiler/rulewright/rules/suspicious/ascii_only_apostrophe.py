import re
from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import scalar, text_scalars
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Scalar
from rulewright.lower.lexicons import folded

CLASS: Final = re.compile(r"\[(?:[^\]\\]|\\.)*\]")
ANY_TWO: Final = re.compile(r"'\?\.\??|\.\??'\?|'\|\u2019|\u2019\|'")
FOLD: Final = "add `apostrophes` to `fold`"
BOTH: Final = "write the phrase a second time with \u2019"
EITHER: Final = "write `['\u2019]` for the apostrophe"


def ascii_only_apostrophe(subject: LexiconDocument | ScenarioDocument) -> Findings:
    """A pattern or the phrase of a branch matches only the straight apostrophe.

    Why it matters: models and phones write the curly one (U+2019), and the pattern misses it: in one published lexicon,
    four of five hits were lost. A text in a lexicon matches both unless its `fold` opts out. A regular expression
    matches both only where `fold` lists `apostrophes`; a branch never does.
    Instead: add `apostrophes` to the lexicon's `fold`; write `['\u2019]` in regular expressions, and the phrases of
    branches in both spellings.
    """
    if isinstance(subject, LexiconDocument):
        if "apostrophes" not in folded(subject.fold):
            texts = [each.scalar for each in subject.patterns if each.mode == "substring_ci"]
            yield from _missed(texts, FOLD)
        if not subject.fold or "apostrophes" not in folded(subject.fold):
            yield from _missed_by(each.scalar for each in subject.patterns if each.mode == "regex")
    else:
        for branch in (branch for turn in subject.turns for branch in turn.branches):
            if branch.type == "regex":
                yield from _missed_by(filter(None, [scalar(branch.node, "condition", "pattern")]))
            else:
                yield from _missed(text_scalars(branch.node, "condition", "values"), BOTH)


def _missed(phrases: Iterable[Scalar], help: str) -> Findings:
    """The phrases with a straight apostrophe that no phrase next to them covers with a curly one."""
    phrases = tuple(phrases)
    texts = {phrase.text.lower() for phrase in phrases}
    for phrase in phrases:
        text = phrase.text.lower()
        curly = text.replace("'", "\u2019")
        if "'" in text and not any(other in curly for other in texts):
            yield warning(phrase, "this pattern misses the curly apostrophe (U+2019)", help=help)


def _missed_by(patterns: Iterable[Scalar]) -> Findings:
    """The regular expressions with a straight apostrophe that nothing makes optional or offers an alternative to."""
    for pattern in patterns:
        outside = CLASS.sub("", pattern.text)
        if "'" in ANY_TWO.sub("", outside):
            yield warning(pattern, "this pattern misses the curly apostrophe (U+2019)", help=EITHER)
