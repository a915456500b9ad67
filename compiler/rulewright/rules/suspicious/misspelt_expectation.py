import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import items
from rulewright.documents.case_batch import CaseBatch, CaseRecord
from rulewright.load import Node, Scalar, scalars_below, walk
from rulewright.spelling import SimilarWords, is_slip_of, is_spelt_like
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.shape import OUTPUTS

MARKS: Final = re.compile(r"\W{2,}")
MARK_AT_AN_END: Final = re.compile(r"\A\W|\W\Z")
LONG: Final = 6  # letters of a word that seldom differs from another word by one letter
TOKEN: Final = re.compile(r"\d(?:[\d.,:]*\d)?(?!\w)|\w+")
MOST_PLACES: Final = 20  # at which a phrase is compared with the words of a case


def misspelt_expectation(batch: CaseBatch) -> Findings:
    """An expected text has a word or a number that differs slightly from one in its case.

    Why it matters: an output that repeats the words of the case does not meet the expectation.
    Instead: write the word or the number as the case does.
    """
    for case in batch.cases:
        phrases = _phrases(case, batch.plan)
        numbers = list(_other_numbers(phrases, _texts(case, batch.plan))) or list(_exchanged(phrases, case))
        reported = {each.span for each in numbers}
        yield from numbers
        yield from (each for each in _other_words(case) if each.span not in reported)


def _phrases(case: CaseRecord, plan: CaseScorecardPlan) -> list[Node]:
    """The texts that an output should contain."""
    positive = {each.share.of for each in plan.metrics if each.share.empty == "1"}
    paths = [each.path for each in plan.inputs if each.source == "case" and each.name in positive]
    return [item for path in paths for item in items(case.case, *path)]


def _texts(case: CaseRecord, plan: CaseScorecardPlan) -> list[Node]:
    """The values of a case that are neither expected nor an output."""
    excluded = {*(each.path[0] for each in plan.inputs if each.source == "case"), *OUTPUTS}
    return [each.value for each in case.case.entries if each.name not in excluded]


def _other_words(case: CaseRecord) -> Findings:
    """The findings for expected texts with one word that the rest of the case does not have, which has one spelt like
    it."""
    inside = [range(each.start, each.end) for each in case.expectations]
    others = [each for each in scalars_below(case.node) if not any(each.start in part for part in inside)]
    known = dict.fromkeys(word for each in others for word in _words(each))
    similar: SimilarWords | None = None
    for item in scalars_below(*case.expectations):
        words = _words(item) if isinstance(item.value, str) else []
        strange = [word for word in words if word not in known]
        if len(strange) != 1 or len(words) == 1:
            continue
        similar = similar or SimilarWords(known, _is_slip)
        near = similar.first(strange[0])
        if near is not None:
            yield warning(item, f"the case contains `{near}`, not `{strange[0]}`", help=Guess(near))


def _words(node: Scalar) -> list[str]:
    """The words between spaces, each without the marks around it; `user-id` is one, and `one...two` ends with `two`."""
    parts = ([part for part in MARKS.split(each) if part] for each in node.text.lower().split())
    return [word for each in parts if each and (word := MARK_AT_AN_END.sub("", each[-1]))]


def _is_slip(word: str, other: str) -> bool:
    """Whether a word misspells another one. Another ending is another form, and numbers or short words that differ by a
    letter are others."""
    is_sure = sorted(word) == sorted(other) or (len(word) >= LONG and re.search(r"\d", word) is None)
    return is_sure and is_spelt_like(word, other) and not (word.startswith(other) or other.startswith(word))


def _other_numbers(phrases: Sequence[Node], texts: Sequence[Node]) -> Findings:
    """The findings for phrases that the texts have with another number: with its digits in another order, or one
    differing."""
    written = [_tokens(each) for part in texts for each in walk(part)] if any(map(_has_number, phrases)) else []
    tokens = [token for each in written for token in (*each, "")]
    shapes = [_shape(each) for each in tokens]
    places: dict[tuple[str, ...], list[int]] = {}
    for start, pair in enumerate(pairwise(shapes)):
        places.setdefault(pair, []).append(start)
    for item in phrases:
        phrase = _tokens(item)
        shape = [_shape(each) for each in phrase]
        starts = places.get(tuple(shape[:2]), []) if "#" in shape else []
        found = [tokens[at : at + len(shape)] for at in starts[:MOST_PLACES] if shapes[at : at + len(shape)] == shape]
        near = next((each for each in found if _differ_by_a_slip(phrase, each)), None)
        if near is not None and phrase not in found and len(starts) <= MOST_PLACES:
            message = f"the case contains `{' '.join(near)}`, not `{' '.join(phrase)}`"
            yield warning(item, message)


def _exchanged(phrases: Sequence[Node], case: CaseRecord) -> Findings:
    """The findings for a number that a case has only in one phrase, and elsewhere at least twice with its digits
    exchanged and the same word after it."""
    counts = Counter(pair for each in walk(case.node) for pair in _numbers(each))
    usual = {(*sorted(number), unit): number for (number, unit), count in counts.items() if count > 1}
    for item in phrases:
        for number, unit in _numbers(item):
            near = usual.get((*sorted(number), unit), number)
            if near != number and counts[number, unit] == 1:
                yield warning(item, f"`{number} {unit}` is only here, and `{near} {unit}` elsewhere in the case")


def _numbers(node: Node) -> list[tuple[str, str]]:
    """The numbers of a text, each with the word after it."""
    return [(one, word) for one, word in pairwise(_tokens(node)) if _shape(one) == "#" and _shape(word) != "#"]


def _tokens(node: Node) -> list[str]:
    return TOKEN.findall(node.text.lower()) if isinstance(node, Scalar) else []


def _has_number(node: Node) -> bool:
    return any(_shape(each) == "#" for each in _tokens(node))


def _shape(token: str) -> str:
    """A token with the place of a number left open."""
    return "#" if token[:1].isdigit() and token[-1:].isdigit() else token


def _differ_by_a_slip(phrase: list[str], other: list[str]) -> bool:
    """Whether the only number that differs has the same digits, or several of which one differs."""
    differing = [pair for pair in zip(phrase, other, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    one, two = (re.sub(r"\D", "", each) for each in differing[0])
    return sorted(one) == sorted(two) or (min(len(one), len(two)) > 1 and is_slip_of(one, two))
