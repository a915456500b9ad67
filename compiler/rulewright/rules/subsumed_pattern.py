"""Rule: a pattern that only hits where a shorter one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import advice
from rulewright.documents.base import text_scalars
from rulewright.documents.lexicon import Lexicon
from rulewright.documents.markers import MarkerSet
from rulewright.documents.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.diagnostics import Diagnostic
    from rulewright.load import Scalar


def subsumed_pattern(subject: Lexicon | MarkerSet | Scenario) -> Iterator[Diagnostic]:
    """A pattern, marker or phrase of a branch holds another one of its list.

    Why it matters: wherever the longer one hits, the shorter one hits as well, so one of the two changes nothing: the
    longer one, or the shorter one where all have to occur.
    Instead: remove the longer one, or the shorter one if it is too broad.
    """
    if isinstance(subject, Lexicon):
        yield from _subsumed([each.scalar for each in subject.patterns if each.mode == "substring_ci"])
    elif isinstance(subject, MarkerSet):
        for phrases in subject.phrases:
            yield from _subsumed(phrases)
    else:
        for branch in (branch for turn in subject.turns for branch in turn.branches):
            yield from _subsumed(
                text_scalars(branch.node, "condition", "values"), all_have_to_occur=branch.type == "contains_all"
            )


def _subsumed(phrases: Sequence[Scalar], *, all_have_to_occur: bool = False) -> Iterator[Diagnostic]:
    texts = [(phrase, str(phrase.value)) for phrase in phrases if phrase.value]
    for long_phrase, long in texts:
        for short_phrase, short in texts:
            if short.lower() not in long.lower() or short.lower() == long.lower():
                continue
            if all_have_to_occur:
                message, note = f"`{short}` occurs wherever `{long}` does", (long_phrase, "the longer phrase")
                yield advice(short_phrase, message, notes=[note])
            else:
                message, note = (
                    f"`{long}` finds nothing that `{short}` does not find",
                    (
                        short_phrase,
                        "the shorter pattern",
                    ),
                )
                yield advice(long_phrase, message, notes=[note])
            break
