from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from operator import eq
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, replace, warning
from rulewright.documents.base import items, text_scalars
from rulewright.expression.syntax_tree import Expr, Literal
from rulewright.load import Mapping, Node, Scalar, Sequence, walk
from rulewright.lower.expressions_of import texts_in

if TYPE_CHECKING:
    from rulewright.documents.case_batch import CaseBatch, CaseRecord
    from rulewright.project import Project

WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
LEAST, MOST = 6, 12  # words of a phrase that may be two
REPEATABLE: Final = frozenset(
    ["had", "long", "many", "more", "much", "never", "no", "really", "so", "that", "very", "yes"]
)
FOUR: Final = 4  # words of two phrases that begin alike: `don't say don't know`, but not `i wish i could`
WORDS: Final = re.compile(r"[a-z]+(?:, ?[a-z]+)+")
NAMES: Final = re.compile(r"[a-z]+(?:_[a-z]+)+(?:, [a-z]+(?:_[a-z]+)+)*")
CODES: Final = (
    re.compile(r"[A-Z][A-Z0-9]+"),
    re.compile(r"[a-z]+(?:_[a-z0-9]+)+"),
    re.compile(r"[a-z]+(?:-[a-z0-9]+)+"),
)
OF_CHECKS: Final = (("secondary_tags",), ("eligibility", "scenario_tags_any"), ("source_grounding",))
OF_SCENARIOS: Final = (("failure_mode_tags",), ("tags",))


def comma_missing(subject: CaseBatch | Project) -> Findings:
    """The comma between two tags or phrases is missing, or several words or names share one pair of quotes.

    Why it matters: the two are read as one name or phrase, which nothing has. A phrase of a list in brackets counts as
    two if it says the same words twice.
    Instead: separate the two with a comma, or quote each name.
    """
    yield from _in_cases(subject.cases) if hasattr(subject, "cases") else _in_project(subject)


def _in_cases(cases: Iterable[CaseRecord]) -> Findings:
    """Two words in one pair of quotes, where all other items of a list of expectations are single words."""
    for listed in (node for each in cases for part in each.expectations for node in walk(part)):
        texts = [each for each in items(listed) if isinstance(each, Scalar)]
        several = [each for each in texts if WORDS.fullmatch(each.text)]
        others = [each.text for each in texts if each not in several]
        if len(several) == 1 < len(others) and not any(" " in each for each in others):
            message = f"`{several[0].value}` is one text, but the others of this list are single words"
            yield warning(several[0], message, help="quote each word")


def _in_project(project: Project) -> Findings:
    tags = [*_tags(project)]
    known = {each.text for each in tags if " " not in each.text}
    others = {each.text for each in tags if " " in each.text}
    for tag in tags:
        words = tag.text.split()
        if len(words) > 1 and (known.issuperset(words) or (len(others) == 1 and not known.isdisjoint(words))):
            fix = None if tag.style else replace(tag, ", ".join(words), f"write `{', '.join(words)}`", safe=False)
            message = f"`{tag.value}` is one tag, but `{next(filter(known.__contains__, words))}` is a tag of its own"
            yield warning(tag, message, help=None if fix else "write a comma between them", fix=fix)
    yield from _in_quotes(project)
    yield from _repeating(project)
    yield from _of_codes(project)
    yield from _in_one_entry(project)


def _in_quotes(project: Project) -> Findings:
    """Two names in one pair of quotes: `["look_up, refund"]`."""
    found = [each for check in project.checks for each in texts_in(check, _names)]
    known = {text for text, _ in found}
    for text, span in found:
        name = next((each for each in text.split(", ") if each in known and each != text), None)
        if name is not None:
            yield warning(span, f"`{text}` is one text, but `{name}` is a name of its own", help="quote each name")


def _repeating(project: Project) -> Findings:
    """The phrases of a list in brackets that say the same words twice: `[i am a bot i'm a bot, ...]`."""
    for loaded in project.loaded:
        for listed in walk(loaded.root):
            if isinstance(listed, Sequence) and listed.source.text.startswith("[", listed.start):
                for phrase in (each for each in listed.items if isinstance(each, Scalar) and not each.style):
                    again = _repeated(WORD.findall(phrase.text.lower())[: MOST + 1])
                    if again:
                        message = f"this phrase says `{again}` twice"
                        yield warning(phrase, message, help="write a comma between two phrases")


def _of_codes(project: Project) -> Findings:
    """The only item of a list in brackets that is two codes or names, where the others are one: `[CHF GBP, EUR]`."""
    for loaded in project.loaded:
        for listed in walk(loaded.root):
            if isinstance(listed, Sequence) and listed.source.text.startswith("[", listed.start):
                items_ = [each for each in listed.items if isinstance(each, Scalar)]
                several = [each for each in items_ if not each.style and len(each.text.split()) > 1]
                others = [each.text for each in items_ if each not in several]
                parts = several[0].text.split() if len(several) == 1 and others else []
                are_codes = any(all(map(shape.fullmatch, (*parts, *others))) for shape in CODES)
                if parts and (are_codes or _are_keys(loaded.root, (*parts, *others))):
                    message = f"`{several[0].value}` is one text, but the others of this list are single names"
                    yield warning(several[0], message, help="write a comma between them")


def _are_keys(root: Node | None, names: Iterable[str]) -> bool:
    """Whether all of these are keys of one mapping: `required: [pet hour, minute]` next to `properties`."""
    return any(isinstance(each, Mapping) and set(names) <= each.index.keys() for each in walk(root))


def _repeated(words: list[str]) -> str:
    """Two words that a phrase says twice, or one that it says twice in a row; the empty text without any."""
    if len(words) == FOUR and words[0] == words[2] != words[1] and not words[0].isalpha():
        return words[0]
    pairs = [*pairwise(words)]
    apart = (pair for at, pair in enumerate(pairs) if len(words) >= LEAST and pair in pairs[at + 2 :])
    in_a_row = (pair for pair in pairs[1:-1] if pair[0] == pair[1] and pair[0] not in REPEATABLE)
    found = next(chain(apart, ((one,) for one, _ in in_a_row)), ()) if len(words) <= MOST else ()
    return " ".join(found)


def _in_one_entry(project: Project) -> Findings:
    """An entry of a lexicon that is two phrases, each of which is another entry but for a word."""
    for lexicon in project.lexicons.values():
        phrases = text_scalars(lexicon.node, "patterns")
        several = [each for each in phrases if ", " in each.text]
        others = [each.text.lower().split() for each in phrases if each not in several]
        parts = [part.split() for part in several[0].text.lower().split(", ")] if len(several) == 1 else []
        if parts and all(any(_is_variant(part, other) for other in others) for part in parts):
            yield warning(several[0], f"`{several[0].value}` is one phrase", help="write each in a line of its own")


def _is_variant(one: list[str], other: list[str]) -> bool:
    """Whether one of at least three words differs."""
    same = sum(map(eq, one, other))
    return len(one) == len(other) > 2 and same == len(one) - 1


def _names(part: Expr) -> Iterator[Literal]:
    if isinstance(part, Literal) and isinstance(part.value, str) and NAMES.fullmatch(part.value):
        yield part


def _tags(project: Project) -> Iterator[Scalar]:
    for check in project.checks:
        for steps in OF_CHECKS:
            yield from text_scalars(check.node, *steps)
    for scenario in project.scenarios.values():
        for steps in OF_SCENARIOS:
            yield from text_scalars(scenario.node, *steps)
