from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from rulewright.diagnostics import Findings, Span, advice
from rulewright.documents.base import folded, items, scalar, text_of, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.lexicon import LexiconDocument, MarkerSet
from rulewright.documents.scenario import BranchDocument, ScenarioDocument
from rulewright.load import Scalar, place
from rulewright_runtime.regex import Search, compile_set

if TYPE_CHECKING:
    from rulewright.documents.case_batch import CaseBatch, CaseRecord

# The parts of a regular expression without fixed text: optional or repeated characters, and zero-width assertions.
LOOSE: Final = re.compile(r".[?*]|.\{[^}]*\}|[.+^$]")
SOUGHT: Final = re.compile(r"\bcontains_(?:any|none)\([^()]*,\s*params\.(\w+)\)")  # of which one is enough
FEW: Final = 100  # texts that are compared one with another
MEMORY: Final = 2**26  # bytes for a search for many texts at once
NESTED: Final = re.compile(r"[\\(\[]")
COUNTED: Final = (
    ("followup_questions", "forbidden_terms", "a question"),
    ("signal_generation", "must_find_signals", "an output"),
)


class Phrase(Struct, frozen=True):
    """One of the searched texts, and in lower case the text that every hit is certain to contain."""

    place: Span
    text: str
    certain: str

    @property
    def is_literal(self) -> bool:
        """Whether it hits wherever its text occurs."""
        return self.certain == self.text.lower()


def subsumed_pattern(subject: CaseBatch | CheckDocument | LexiconDocument | MarkerSet | ScenarioDocument) -> Findings:
    """A pattern, marker, or phrase of a branch or a parameter contains another one of its list.

    Why it matters: wherever the longer one hits, the shorter one hits, too, so one of them has no effect: the longer
    one, or the shorter one in `contains_all`.
    Instead: remove the longer one, or the shorter one if it is too broad.
    """
    if hasattr(subject, "cases"):
        yield from _counted_twice(subject.cases)
    elif isinstance(subject, LexiconDocument):
        yield from _subsumed(_phrases(entry.scalar for entry in subject.patterns if entry.mode == "substring_ci"))
    elif isinstance(subject, MarkerSet):
        for each in subject.phrases:
            yield from _subsumed(_phrases(each))
    elif isinstance(subject, CheckDocument):
        sought = {name for each in subject.verdict_conditions for name in SOUGHT.findall(each.text)}
        for name in sorted(sought):
            yield from _subsumed(_phrases(text_scalars(subject.node, "params", name)))
    else:
        for branch in (branch for turn in subject.turns for branch in turn.branches):
            phrases = _alternatives(branch) or _phrases(text_scalars(branch.node, "condition", "values"))
            yield from _subsumed(phrases, all_have_to_occur=branch.type == "contains_all")


def _counted_twice(cases: Iterable[CaseRecord]) -> Findings:
    """The findings for terms with which another one is found, so that one violation or one signal counts as two."""
    for case, (*steps, what) in product(cases, COUNTED):
        terms = [(each, folded(text_of(each))) for each in items(case.case, "expectations", *steps)]
        texts = [text for _, text in terms]
        for (long, _), at in zip(terms, _contained(texts, texts), strict=True):
            if at is not None:
                short = terms[at][0]
                message = f"{what} with `{text_of(long)}` is counted twice: it contains `{text_of(short)}`"
                yield advice(long, message, notes=[(short, "the shorter term")])


def _contained(shorter: Sequence[str], texts: Sequence[str]) -> Iterator[int | None]:
    """For each text, which of the `shorter` ones is the first that occurs in it and is not the same."""
    first = sorted({text: at for at, text in reversed([*enumerate(shorter)])}.values())  # of each text
    search = _search(shorter[at] for at in first) if len(first) > FEW else None
    for text in texts:
        found = range(len(first)) if search is None else sorted(search(text.encode("utf-8", "replace")))
        within = (at for at in map(first.__getitem__, found) if shorter[at] and shorter[at] != text)
        yield next((at for at in within if shorter[at] in text), None)


def _search(texts: Iterable[str]) -> Search:
    """The numbers of those texts that occur in another one; none of texts that are too large to be compared."""
    try:
        return compile_set(map(re.escape, texts), MEMORY)
    except ValueError:
        return lambda _: ()


def _phrases(found: Iterable[Scalar]) -> list[Phrase]:
    return [Phrase(each.span, each.text, each.text.lower()) for each in found if each.value]


def _alternatives(branch: BranchDocument) -> list[Phrase]:
    """The alternatives of a branch's regular expression, which ignores case; empty for a nested one."""
    pattern = scalar(branch.node, "condition", "pattern")
    if branch.type != "regex" or pattern is None or NESTED.search(pattern.text):
        return []
    return [
        Phrase(place(pattern, *found.span()), found.group(), LOOSE.sub("\n", found.group().lower()))
        for found in re.finditer(r"[^|]+", pattern.text)
    ]


def _subsumed(phrases: list[Phrase], *, all_have_to_occur: bool = False) -> Findings:
    literal = [each for each in phrases if each.is_literal]
    contained = _contained([each.certain for each in literal], [each.certain for each in phrases])
    for long, at in zip(phrases, contained, strict=True):
        if at is None:
            continue
        short = literal[at]
        if all_have_to_occur:
            message, note = f"`{short.text}` occurs wherever `{long.text}` does", (long.place, "the longer phrase")
            yield advice(short.place, message, notes=[note])
        else:
            message = f"`{long.text}` has no effect: `{short.text}` hits wherever it does"
            yield advice(long.place, message, notes=[(short.place, "the shorter pattern")])
