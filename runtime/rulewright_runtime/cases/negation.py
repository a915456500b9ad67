"""Whether some words of a text are denied there: embeddings hardly see a negation, so it is looked for by words."""

from __future__ import annotations

import re
from typing import Final

_WORDS_BEFORE: Final = 6
_AROUND: Final = 200  # characters on either side that can matter
_DENIAL: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|den(?:y|ies|ied|ying)|lack(?:s|ed|ing)?"
    r"|absen(?:t|ce)|negative|free of|fail(?:s|ed|ing)? to|unable to|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)"
    r"|unlikely)\b",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = re.compile(
    r"[^\w.;,!?\n]*(?:(?:was|were|is|are|has|have|had|been|be|being|could)\s+)*"
    r"(?:not|never|\w+n['’]t|cannot|denied|absent|negative|ruled out|excluded|unlikely)\b",
    re.IGNORECASE,
)
_CLAUSE_ENDS: Final = re.compile(r"[.;:,!?\n]|\b(?:but|however|although|though|except)\b", re.IGNORECASE)


def denied(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether `text[start:end]` is denied in English: by words in it, shortly before it in its clause, or right after
    it. Two denials cancel out; a word that means the opposite ("kept" for "broken") is not noticed."""
    end = len(text) if end is None else end
    before = _CLAUSE_ENDS.split(text[max(0, start - _AROUND) : start])[-1]
    near = " ".join(before.split()[-_WORDS_BEFORE:])
    denials = len(_DENIAL.findall(near)) + len(_DENIAL.findall(text[start:end]))
    after = _DENIED_AFTER.match(text[end : end + _AROUND])
    return (denials + (after is not None)) % 2 == 1
