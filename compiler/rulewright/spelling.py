"""The known word that a misspelt one most likely meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Final


class Guess(str):
    """A help that asks whether something else was meant, ``did you mean `x`?``; `meant` is what."""

    meant: str

    def __new__(cls, meant: str, otherwise: str = "") -> Guess:
        """The question, and what to do `otherwise`."""
        made = super().__new__(cls, f"did you mean `{meant}`? {otherwise}".rstrip())
        made.meant = meant
        return made


CLOSE: Final = 0.7  # how alike the words have to be as a whole, as `difflib` measures it
LEAST: Final = 0.6  # and without the parts that both end with
STEM: Final = 5  # letters of a word that mean something by themselves,
LEAST_OF_STEMS: Final = 0.5  # and how alike those have to be
SHORTEST: Final = 4  # letters with which a known word of several parts may begin
WORD: Final = re.compile(r"[\s-]")


def suggest(word: str, known: Iterable[str]) -> str | None:
    """The known word the author most likely meant, or that alone begins with the word; None when none is near."""
    folded = {WORD.sub("_", key).casefold(): key for key in sorted(known)}
    written = WORD.sub("_", word).casefold()
    near = [each for each in difflib.get_close_matches(written, folded, 3, CLOSE) if _differ_little(written, each)]
    begun = [each for each in folded if each.startswith(f"{written}_")] if len(written) >= SHORTEST else []
    swapped = [each for each in folded if sorted(each) == sorted(written) and is_slip_of(written, each)]
    found = swapped[:1] or near[:1] or (begun if len(begun) == 1 else [])
    return folded[found[0]] if found else None


def _differ_little(word: str, other: str) -> bool:
    """Whether two words are still alike without what both end with: neither `_state_machine` nor `-ation` makes a
    likeness."""
    own, others = word.split("_"), other.split("_")
    while len(own) > 1 and len(others) > 1 and own[-1] == others[-1]:
        del own[-1], others[-1]
    written, known = "_".join(own), "_".join(others)
    ending = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(written[::-1], known[::-1], strict=False)))
    stems = written[: len(written) - ending], known[: len(known) - ending]
    return _likeness(written, known) >= LEAST and (min(map(len, stems)) < STEM or _likeness(*stems) >= LEAST_OF_STEMS)


def _likeness(word: str, other: str) -> float:
    return difflib.SequenceMatcher(None, word, other).ratio()


def is_slip_of(word: str, other: str) -> bool:
    """Whether one letter was left out, doubled, replaced or swapped with the next to make `word` of `other`."""
    start = next((at for at, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), None)
    if start is None:
        return abs(len(word) - len(other)) == 1
    own, others = word[start:], other[start:]
    swapped = own[:2] == others[:2][::-1] and own[2:] == others[2:]
    return swapped or own[1:] == others[1:] or own[1:] == others or own == others[1:]


def is_spelt_like(word: str, other: str) -> bool:
    """Whether two names of some length are one but for a letter, or but for capitals, dashes and underscores."""
    if word == other or len(word) < SHORTEST:
        return False
    return is_slip_of(word, other) or _bare(word) == _bare(other)


def _bare(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()


def did_you_mean(word: str, known: Iterable[str]) -> Guess | None:
    """The help ``did you mean `x`?`` for the known word nearest to `word`, or None when none is near."""
    near = suggest(word, known)
    return Guess(near) if near else None
