"""Rule: a word that one document writes, and others spell otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, error, replace, warning
from rulewright.documents.base import scalar
from rulewright.load import Scalar, Sequence
from rulewright.spelling import Guess, did_you_mean, is_slip_of

if TYPE_CHECKING:
    from rulewright.project import Project

DECLARED: Final = {"buckets": "primary_bucket", "severities": "severity"}  # words, and the key of checks that has them
SHORTEST: Final = 5  # letters of a tag: shorter ones differ by one letter often enough


def misspelt_name(project: Project) -> Iterator[Diagnostic]:
    """A declared word, or the tag of one check, is one letter from a word of many, or such a word is not declared.

    Why it matters: what is meant to be one group is two, and whoever asks for it by its name misses a part.
    Instead: spell both alike, or declare the word.
    """
    for part, key in DECLARED.items():
        used = Counter(str(found.value) for each in project.checks if (found := scalar(each.node, key)))
        words = None if project.file is None else project.file.get("vocabulary", part)
        listed = [each for each in words.items if isinstance(each, Scalar)] if isinstance(words, Sequence) else []
        known = {str(each.value) for each in listed}
        unknown = [word for word in used if used[word] > 1 and word not in known]
        for each in listed:
            meant = next((word for word in unknown if is_slip_of(str(each.value), word)), None)
            if meant is not None and str(each.value) not in used:
                message = f"no check has the {key} `{each.value}`, and {used[meant]} have `{meant}`"
                yield error(each, message, help=Guess(meant))
        lacking = [word for word in unknown if not did_you_mean(word, known)] if listed else []
        if lacking and words is not None and words.source.text[words.start] == "[":
            message = f"`{part}` lacks `{lacking[0]}`, which {used[lacking[0]]} checks have as their {key}"
            written = f"{words.source.text[words.start : words.end - 1].rstrip()}, {', '.join(lacking)}]"
            yield error(words, message, fix=replace(words, written, f"write `{written}`", safe=False))
    yield from _tags(project)


def _tags(project: Project) -> Iterator[Diagnostic]:
    listed = [each.get("secondary_tags") for each in project.checks]
    tags = [item for each in listed if isinstance(each, Sequence) for item in each.items if isinstance(item, Scalar)]
    counts = Counter(str(each.value) for each in tags)
    for each in tags:
        word = str(each.value)
        if counts[word] == 1 and len(word) >= SHORTEST:
            near = next((other for other in counts if counts[other] > 1 and is_slip_of(word, other)), None)
            if near is not None:
                message = f"only this check bears `{word}`, and {counts[near]} bear `{near}`"
                yield warning(each, message, help=Guess(near))
