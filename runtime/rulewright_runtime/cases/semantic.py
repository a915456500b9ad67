"""Semantic matching: what means about the same as a missing phrase, by a local embedding. A hint for people.

An embedding is close for paraphrases and, with small models, closer still for negations: "fever" is nearer to "no
fever" than to "raised temperature". So a match carries its similarity, says where it denies the phrase, asks a person
to look, and changes no score unless the scorecard says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Semantic
from rulewright_runtime.cases.negation import denied
from rulewright_runtime.cases.phrase_evidence import parts_of
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.strict_json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from rulewright_runtime.embedding.opening import Embedding

_WORD: Final = re.compile(r"\w+")
_WINDOWS: Final = 500


@dataclass(frozen=True, slots=True)
class _Window:
    """Some words of a part: their text, where they stand as words, and whether they are denied where the phrase is
    not, or the other way round."""

    part: str
    text: str
    first: int
    last: int
    negated: bool


class SemanticWitness:
    """Finds semantic matches for the missing phrases of scored cases."""

    def __init__(self, plan: CaseScorecardPlan, embedding: Embedding) -> None:
        """Compare by `embedding`."""
        self._embedding = embedding
        texts = {text.name: text.value for text in plan.texts}
        self._metrics = []
        for metric in plan.metrics:
            read = mentioned([metric.share.found])
            read |= mentioned(value for name, value in texts.items() if name in read)
            names = [each.name for each in plan.inputs if each.name in read]
            is_of_missing = metric.common.of == "missing"
            wanted = is_of_missing or metric.semantic is not None
            semantic = metric.semantic or Semantic(embedding.near)
            self._metrics.append((metric.name, semantic, is_of_missing, names if wanted else []))

    def matches(self, inputs: JsonMapping, scored: Scored) -> dict[str, list[JsonObject]]:
        """By metric, at most one for each missing phrase: `phrase`, `text`, `in`, `similarity`, `negated` where one of
        the two denies the other, and `counted` where it is. Of a recalled phrase a negation never counts; of an
        unwanted one it does, because the mention is the harm."""
        matches: dict[str, list[JsonObject]] = {}
        for at, (name, semantic, is_of_missing, names) in enumerate(self._metrics):
            found = [self._match(phrase, inputs, names, semantic.threshold) for phrase in scored.missing[at] if names]
            matches[name] = [match for match in found if match is not None]
            for match in matches[name]:
                if semantic.counts and not (is_of_missing and "negated" in match):
                    match["counted"] = True
        return matches

    def _match(
        self, phrase: str, inputs: Mapping[str, object], names: list[str], threshold: float
    ) -> JsonObject | None:
        """The likest words that are not a negation, else the likest that are one."""
        size = len(_WORD.findall(phrase))
        if not size:
            return None
        parts = [_Part(name, text, phrase) for name, text in parts_of(inputs, names)]
        coarse = [window for part in parts for window in part.windows(size)][:_WINDOWS]
        likeness = self._likeness(phrase, coarse)
        for negated in (False, True):
            alike = [(near, window) for near, window in zip(likeness, coarse, strict=True) if window.negated is negated]
            if not alike:
                continue
            best = max(alike, key=_nearness)
            part = next(part for part in parts if part.name == best[1].part)
            fine = [window for window in part.around(best[1], size) if window.negated is negated]
            near, window = max([best, *zip(self._likeness(phrase, fine), fine, strict=True)], key=_nearness)
            if near >= threshold:
                match = {"phrase": phrase, "text": window.text, "in": window.part, "similarity": near}
                return {**match, "negated": True} if negated else match
        return None

    def _likeness(self, phrase: str, windows: Sequence[_Window]) -> list[float]:
        """How alike each window is, rounded as it is shown; -1 where the embedding knows nothing of it."""
        own, *others = self._embedding.embed([phrase, *(window.text for window in windows)])
        return [-1.0 if own is None or other is None else round(cosine(own, other), 3) for other in others]


def _nearness(found: tuple[float, _Window]) -> tuple[float, int]:
    """Of two that are equally near the shorter one is nearer."""
    return found[0], found[1].first - found[1].last


class _Part:
    """A text that is searched by runs of its words."""

    def __init__(self, name: str, text: str, phrase: str) -> None:
        self.name = name
        self._text = text
        self._words = [found.span() for found in _WORD.finditer(text)]
        self._phrase_denied = denied(phrase)

    def windows(self, size: int) -> Iterator[_Window]:
        """Runs of a word more than `size`, each beginning half a phrase after the last: none is missed by much."""
        length = min(size + 1, len(self._words))
        starts = range(0, len(self._words) - length + 1, max(1, size // 2))
        yield from (self._window(at, length) for at in dict.fromkeys([*starts, len(self._words) - length]) if length)

    def around(self, window: _Window, size: int) -> Iterator[_Window]:
        """Runs of about `size` words that begin where `window` does, or up to `size` words before or after it."""
        for first in range(max(0, window.first - size), min(len(self._words), window.first + size + 1)):
            for length in _lengths(size):
                if first + length <= len(self._words):
                    yield self._window(first, length)

    def _window(self, first: int, length: int) -> _Window:
        start, end = self._words[first][0], self._words[first + length - 1][1]
        negated = denied(self._text, start, end) is not self._phrase_denied
        return _Window(self.name, self._text[start:end], first, first + length, negated)


def _lengths(size: int) -> Iterable[int]:
    return dict.fromkeys((max(size - 1, 1), size, size + 1, size + 2))


def cosine(one: Sequence[float], two: Sequence[float]) -> float:
    """How alike two directions are, from -1 to 1; 0 for a vector without length."""
    length = math.sqrt(math.fsum(a * a for a in one) * math.fsum(b * b for b in two))
    return math.fsum(a * b for a, b in zip(one, two, strict=True)) / length if length else 0.0
