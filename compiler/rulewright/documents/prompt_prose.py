"""The paragraphs of a prompt by what they explain, and the quotations in prose."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rulewright_runtime.plan.part import VERDICTS

# A verdict at the beginning of a word. A search is fast for what begins with certain letters, and slow after `\b`.
VERDICT: Final = "(?:" + "|".join(rf"{each}(?<!\w{each})" for each in VERDICTS) + ")"
# At the beginning of a line or sentence, after what ends the one before.
EXPLAINED: Final = re.compile(
    rf"[\n.;!?](?:(?<=\n)| )[ \t]*(?:Failure verdict )?({'|'.join(VERDICTS)})(?::| (?:only )?if\b)"
)
QUOTED: Final = re.compile('"([^"\\n]+(?:\\n[^"\\n]+)?)"|\u201c([^\u201c\u201d]+)\u201d')
# What comes before words that the assistant does not say: a negation, or another speaker.
DENIED: Final = re.compile(
    r"\b(?:never|not|no|without|avoids?|instead of|than|\w+n't|ignor\w+|miss\w*|dismiss\w*|overlook\w*|users?"
    r"|caregivers?|when|after)\b[^.;!?]*$",
    re.IGNORECASE,
)

# How a prompt introduces the conditions of a verdict or examples of cues: `FAIL if:`, `Examples of qualifying cues:`.
HEAD: Final = re.compile(
    r"\s*(?:(?:Failure verdict |Examples? of )?(FAIL|PASS|UNCLEAR|NOT_APPLICABLE)|Examples? of (?:\w+ )?(cue)s?)\b"
)
GAP: Final = re.compile(r"\n[ \t]*\n")
SENTENCE_END: Final = re.compile(r"[.;!?]")
NEAR: Final = 500  # characters of a sentence before a quotation that are searched for a denial


@lru_cache(maxsize=4)  # several rules read the same prompt in turn
def explained_verdicts(prompt: str) -> tuple[tuple[str, int], ...]:
    """The verdicts that lines and sentences of a prompt begin with and explain, each with its offset."""
    return tuple((found[1], found.start(1) - 1) for found in EXPLAINED.finditer(f"\n{prompt}"))


def paragraphs_by_subject(prompt: str) -> Iterator[tuple[str | None, int, str]]:
    """The paragraphs of a prompt: the verdict that each explains or `cue`, also for lists below it, and its offset."""
    start, subject = 0, None
    for end in (*(gap.end() for gap in GAP.finditer(prompt)), len(prompt)):
        paragraph = prompt[start:end]
        head = HEAD.match(paragraph)
        if head:
            subject = head[1] or head[2]
        elif not paragraph.lstrip().startswith(("-", "*")):
            subject = None
        yield subject, start, paragraph
        start = end


def examples(prose: str) -> Iterator[tuple[int, str]]:
    """The quotations in prose with their offsets, without those of words that are not said."""
    before, end = "", 0  # the sentence around the quotation, up to it and without other quotations
    for found in QUOTED.finditer(prose):
        before = SENTENCE_END.split(before + prose[end : found.start()])[-1][-NEAR:]
        end = found.end()
        if not DENIED.search(before):
            group = 1 if found.group(1) is not None else 2
            yield found.start(group), found.group(group)
