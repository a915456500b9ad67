"""Spans of found phrases, and near misses of missing ones: hints for people that never change a score."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import count
from typing import Final, TypeAlias

from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.strict_json import JsonMapping, JsonObject

NEAR: Final = 0.8  # similarity of a near miss
_MAX_WORDS: Final = 2000  # searched in each part
_WORD: Final = re.compile(r"\S+")


class PhraseEvidence:
    """Finds spans and near misses of scored cases."""

    def __init__(self, plan: CaseScorecardPlan) -> None:
        names = [each.name for each in plan.inputs]
        texts = {text.name: text.value for text in plan.texts}
        self._texts = {name: prepare(value) for name, value in texts.items()}
        self._metrics: list[tuple[CaseMetric, list[str], list[str]]] = []
        for metric in plan.metrics:
            read = mentioned([metric.share.found])
            searched = [name for name in texts if name in read]
            read |= mentioned(texts[name] for name in searched)
            self._metrics.append((metric, [name for name in names if name in read], searched))

    def of_case(self, inputs: JsonMapping, scored: Scored) -> JsonObject:
        """Return by metric `evidence` (`phrase`, `in`, `start`, `end`) and `near_misses` (`phrase`, `text`, `in`,
        `similarity`).

        Offsets are in characters of the part in `in`; for a phrase that spans two parts that is the joined text.
        """
        evidence: dict[str, list[JsonObject]] = {}
        near: dict[str, list[JsonObject]] = {}
        for at, (metric, names, searched) in enumerate(self._metrics):
            parts = list(parts_of(inputs, names))
            joined = [(name, str(self._texts[name](inputs))) for name in searched]
            evidence[metric.name] = [_span(phrase, [*parts, *joined]) for phrase in scored.found[at]]
            near[metric.name] = _near_misses(scored.missing[at], parts)
        return {"evidence": evidence, "near_misses": near}


def parts_of(inputs: JsonMapping, names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each string in some inputs; the names are such as `signals[1]`."""
    for name in names:
        value = inputs[name]
        if isinstance(value, str):
            yield name, value
        else:
            yield from ((f"{name}[{at}]", text) for at, text in enumerate(value))


def _span(phrase: str, parts: list[tuple[str, str]]) -> JsonObject:
    needle = phrase.lower().strip()
    for name, text in parts:
        lowered = text.lower()
        at = lowered.find(needle)
        if at >= 0:
            start, end = at, at + len(needle)
            if len(lowered) != len(text):
                start, end = _original_offset(text, start), _original_offset(text, end)
            return {"phrase": phrase, "in": name, "start": start, "end": end}
    return {"phrase": phrase, "in": None, "start": None, "end": None}


def _original_offset(text: str, lowered: int) -> int:
    """Map an offset in `text.lower()` to the offset in `text`."""
    count = 0
    for at, char in enumerate(text):
        if count >= lowered:
            return at
        count += len(char.lower())
    return len(text)


_Bits: TypeAlias = defaultdict[tuple[str, int], int]  # of a letter and its number among those alike


class _Missing:
    """A missing phrase and the run of words that is most similar to it, of those that were compared."""

    def __init__(self, phrase: str, bits: _Bits) -> None:
        self.phrase, self.normalized = phrase, " ".join(phrase.lower().split())
        self.size, self.letters = len(self.normalized.split()), _letters(self.normalized, bits)
        self.matcher = SequenceMatcher(None, "", self.normalized, autojunk=False)
        self.similarity, self.found = 0.0, dict[str, str]()

    def compare(self, lowered: str, found: dict[str, str]) -> None:
        """Keep a run of words if it is similar, and more than those before it."""
        self.matcher.set_seq1(lowered)
        if (similarity := self.matcher.ratio()) >= NEAR and similarity > self.similarity:
            self.similarity, self.found = similarity, found


def _letters(text: str, bits: _Bits) -> int:
    """The letters of a text as bits, of which two texts share as many as they share letters in any order."""
    places = [bits[letter, number] for letter, most in Counter(text).items() for number in range(most)]
    found = bytearray(max(places, default=0) + 1)
    for at in places:
        found[at] = 1
    return int.from_bytes(found, "little")


def _near_misses(phrases: Iterable[str], parts: Sequence[tuple[str, str]]) -> list[JsonObject]:
    """Return for each phrase the run of words most similar to it, if its similarity is at least `NEAR`."""
    bits: _Bits = defaultdict(count().__next__)
    missing = [each for each in (_Missing(phrase, bits) for phrase in phrases) if each.size]
    for sizes in ((0,), (-1, 1)):  # as many words, else one less or more
        wanted: dict[int, list[_Missing]] = {}
        for each in (each for each in missing if not each.found):
            for more in sizes:
                wanted.setdefault(max(each.size + more, 1), []).append(each)
        _compare(wanted, parts, bits)
    return [
        {"phrase": each.phrase, **each.found, "similarity": round(each.similarity, 3)} for each in missing if each.found
    ]


def _compare(wanted: Mapping[int, list[_Missing]], parts: Iterable[tuple[str, str]], bits: _Bits) -> None:
    """Compare every run of words with the phrases for which one of its size is wanted."""
    for name, text in parts:
        words = [match.span() for match in _WORD.finditer(text)][:_MAX_WORDS]
        for size, at in ((each, at) for each in sorted(wanted) for at in range(len(words) - each + 1)):
            run = text[words[at][0] : words[at + size - 1][1]]
            lowered = run.lower()
            letters = _letters(lowered, bits)
            for each in wanted[size]:
                total = len(lowered) + len(each.normalized)
                if 2 * (letters & each.letters).bit_count() / total >= NEAR:  # the most that their similarity can be
                    each.compare(lowered, {"text": run, "in": name})
