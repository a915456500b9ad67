"""Negation of words in a text, detected by words: embeddings hardly distinguish a negation."""

from __future__ import annotations

import re
from typing import Final

_WORDS_BEFORE: Final = 6
_CONTEXT: Final = 200  # characters before and after that are searched
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|den(?:y|ies|ied|ying)|lack(?:s|ed|ing)?"
    r"|absen(?:t|ce)|negative|free of|fail(?:s|ed|ing)? to|unable to|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)"
    r"|unlikely)\b",
    re.IGNORECASE,
)
_NEGATION_AFTER: Final = re.compile(
    r"[^\w.;,!?\n]*(?:(?:was|were|is|are|has|have|had|been|be|being|could)\s+)*"
    r"(?:not|never|\w+n['’]t|cannot|denied|absent|negative|ruled out|excluded|unlikely)\b",
    re.IGNORECASE,
)
_CLAUSE_ENDS: Final = re.compile(r"[.;:,!?\n]|\b(?:but|however|although|though|except)\b", re.IGNORECASE)


def is_negated(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether `text[start:end]` is negated in English: by words in it, shortly before it in its clause, or right after
    it. Two negations cancel out; antonyms ("kept" for "broken") are not detected."""
    end = len(text) if end is None else end
    before = _CLAUSE_ENDS.split(text[max(0, start - _CONTEXT) : start])[-1]
    near = " ".join(before.split()[-_WORDS_BEFORE:])
    negations = len(_NEGATION.findall(near)) + len(_NEGATION.findall(text[start:end]))
    after = _NEGATION_AFTER.match(text[end : end + _CONTEXT])
    return (negations + (after is not None)) % 2 == 1
