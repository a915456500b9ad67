"""Word vectors: the mean of the vectors of a text's words, from a text file."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from typing import Final

from rulewright_runtime.errors import InputError

_WORD: Final = re.compile(r"\w+")


class WordVectors:
    """An embedding that averages word vectors from a text file with a word and its numbers on each line."""

    near = 0.75

    def __init__(self, path: str) -> None:
        """Read `path` (the text form of GloVe and word2vec). Raises InputError for any other file."""
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
        if number == 1 and len(words) == 2:  # the header of word2vec: word count and dimension
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
        """Return the mean vector of each text's words, or None for a text without known words."""
        return [self._mean(text) for text in texts]

    def _mean(self, text: str) -> list[float] | None:
        vectors = [self._vectors[word] for word in _WORD.findall(text.lower()) if word in self._vectors]
        return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)] if vectors else None
