"""Spans of found phrases, and near misses of missing ones: hints for people that never change a score."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

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
            hints = [_near(phrase, parts) for phrase in scored.missing[at]]
            near[metric.name] = [hint for hint in hints if hint is not None]
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


def _near(phrase: str, parts: list[tuple[str, str]]) -> JsonObject | None:
    """Return the run of words most similar to the phrase, if its similarity is at least `NEAR`."""
    normalized = " ".join(phrase.lower().split())
    size = len(normalized.split())
    if not size:
        return None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(normalized)
    for sizes in ((size,), (max(size - 1, 1), size + 1)):  # as many words, else one less or more
        best = max(_similar_runs(matcher, parts, sizes), default=None, key=lambda run: run[0])
        if best is not None:
            return {"phrase": phrase, "text": best[1], "in": best[2], "similarity": round(best[0], 3)}
    return None


def _similar_runs(
    matcher: SequenceMatcher[str], parts: list[tuple[str, str]], sizes: tuple[int, ...]
) -> Iterator[tuple[float, str, str]]:
    """Yield similarity, text and part of every run of words that is similar to the phrase."""
    for name, text in parts:
        words = [match.span() for match in _WORD.finditer(text)][:_MAX_WORDS]
        for size in sizes:
            for at in range(len(words) - size + 1):
                window = text[words[at][0] : words[at + size - 1][1]]
                matcher.set_seq1(window.lower())
                if matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR:
                    yield matcher.ratio(), window, name
