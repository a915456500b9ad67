"""Semantic matching: what means about the same as a missing phrase, by a local embedding. A hint for people.

An embedding is close for paraphrases and, with small models, closer still for negations: "was fasted" and "was not
fasted" are neighbours. So a match carries its similarity, asks a person to look, and changes no score unless the
scorecard says so.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from rulewright_runtime.cases.evidence import parts_of
from rulewright_runtime.cases.plan import CaseScorecardPlan, Semantic
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.errors import InputError
from rulewright_runtime.scorecard import mentioned

NEAR: Final = 0.75
_WORD: Final = re.compile(r"\w+")
_WINDOWS: Final = 500


class Embedding(Protocol):
    """Turns texts into vectors of one length; None for a text it knows nothing of."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        """A vector for each text."""


class WordVectors:
    """An embedding that averages the vectors of words, read from a text file: a word and its numbers on each line."""

    def __init__(self, path: str) -> None:
        """Read `path` (the text form of GloVe and word2vec). InputError for a file that is none."""
        self._vectors: dict[str, array[float]] = {}
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, 1):
                    self._add(path, number, line.rstrip().split(" "))
        except OSError as error:
            raise InputError(error.strerror or "can't be read", path) from None
        if not self._vectors:
            raise InputError("holds no vectors", path)

    def _add(self, path: str, number: int, words: list[str]) -> None:
        if number == 1 and len(words) == 2:  # the header of word2vec: how many words of how many numbers
            return
        try:
            vector = array("f", map(float, words[1:]))
        except ValueError:
            raise InputError("a line must be a word and its numbers", path, number) from None
        length = len(next(iter(self._vectors.values()), vector))
        if not vector or len(vector) != length or not all(map(math.isfinite, vector)):
            raise InputError(f"a vector must have {length or 'some'} finite numbers, found {len(vector)}", path, number)
        self._vectors[words[0].lower()] = vector

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """The mean vector of each text's words; None where none of them is known."""
        return [self._mean(text) for text in texts]

    def _mean(self, text: str) -> list[float] | None:
        known = [self._vectors[word] for word in _WORD.findall(text.lower()) if word in self._vectors]
        return [sum(column) / len(known) for column in zip(*known, strict=True)] if known else None


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
            wanted = metric.common.of == "missing" or metric.semantic is not None
            self._metrics.append((metric.name, metric.semantic or Semantic(NEAR), names if wanted else []))

    def matches(self, inputs: Mapping[str, Any], scored: Scored) -> dict[str, list[dict[str, Any]]]:
        """By metric, at most one for each missing phrase: `phrase`, `text`, `in`, `similarity`, and `counted` where
        it is."""
        matches: dict[str, list[dict[str, Any]]] = {}
        for at, (name, semantic, names) in enumerate(self._metrics):
            found = [self._match(phrase, inputs, names, semantic.threshold) for phrase in scored.missing[at] if names]
            counted = {"counted": True} if semantic.counts else {}
            matches[name] = [{**match, **counted} for match in found if match is not None]
        return matches

    def _match(
        self, phrase: str, inputs: Mapping[str, Any], names: list[str], threshold: float
    ) -> dict[str, Any] | None:
        size = len(_WORD.findall(phrase))
        windows = [each for _, each in zip(range(_WINDOWS), _windows(inputs, names, size), strict=False)]
        if not size or not windows:
            return None
        own, *others = self._embedding.embed([phrase, *(text for _, text in windows)])
        if own is None:
            return None
        likeness = [0.0 if other is None else cosine(own, other) for other in others]
        best = max(range(len(likeness)), key=likeness.__getitem__)
        if likeness[best] < threshold:
            return None
        where, text = windows[best]
        return {"phrase": phrase, "text": text, "in": where, "similarity": round(likeness[best], 3)}


def _windows(inputs: Mapping[str, Any], names: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Runs of words about as long as the phrase, with the part they stand in."""
    for name, text in parts_of(inputs, names):
        words = [found.span() for found in _WORD.finditer(text)]
        for length in sorted({max(size - 1, 1), size, size + 1, size + 2}):
            for at in range(len(words) - length + 1):
                yield name, text[words[at][0] : words[at + length - 1][1]]


def cosine(one: Sequence[float], two: Sequence[float]) -> float:
    """How alike two directions are, from -1 to 1; 0 for a vector without length."""
    length = math.sqrt(math.fsum(a * a for a in one) * math.fsum(b * b for b in two))
    return math.fsum(a * b for a, b in zip(one, two, strict=True)) / length if length else 0.0
