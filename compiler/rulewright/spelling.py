"""Suggests the known word that a misspelt one most likely means."""

import difflib
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import takewhile
from typing import Final

from rulewright.diagnostics import Diagnostic, Guess, Located, Span, error

MIN_LIKENESS: Final = 0.7  # of whole words, as measured by `difflib`
MIN_LIKENESS_WITHOUT_ENDING: Final = 0.6  # of words without their common last parts
MIN_STEM: Final = 5  # letters of a stem that is compared on its own
MIN_LIKENESS_OF_STEMS: Final = 0.5  # of such stems
MIN_LENGTH: Final = 4  # letters of a word that is completed
FEW: Final = 4  # known names that a message lists
LONGEST: Final = 40  # letters of a word that is compared with many others
WORD: Final = re.compile(r"[\s-]")
KEYBOARD: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
LETTERS: Final = "".join(KEYBOARD)
AS_TWO: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe", "å": "aa"}  # without these letters


class CloseMatches:
    """Words that others are compared with. Which may be similar enough is known from their letters; only these are
    compared, the most promising first."""

    def __init__(self, words: Iterable[str]) -> None:
        self._bits: dict[tuple[str, int], int] = {}  # of the first, second ... occurrence of each letter
        self._words = [(word, len(word), self._letters(word)) for word in words]
        self._found: dict[tuple[str, int, float], list[str]] = {}

    def of(self, word: str, most: int, cutoff: float) -> list[str]:
        """Return what `difflib.get_close_matches` finds: the most similar words, at least as similar as `cutoff`."""
        key = word, most, cutoff
        if key not in self._found:
            self._found[key] = self._search(word, most, cutoff)
        return self._found[key]

    def _search(self, word: str, most: int, cutoff: float) -> list[str]:
        letters, length = self._letters(word), len(word)
        words = self._words if word else []
        bounds = ((2.0 * (letters & bits).bit_count() / (length + size), each) for each, size, bits in words)
        compared = difflib.SequenceMatcher(b=word)
        found: list[tuple[float, str]] = []
        for bound, each in sorted((pair for pair in bounds if pair[0] >= cutoff), reverse=True):
            if len(found) == most and bound < found[-1][0]:
                break
            compared.set_seq1(each)
            if (likeness := compared.ratio()) >= cutoff:
                found = sorted([*found, (likeness, each)], reverse=True)[:most]
        return [each for _, each in found]

    def _letters(self, word: str) -> int:
        times: dict[str, int] = {}
        bits = 0
        for letter in word:
            times[letter] = times.get(letter, 0) + 1
            bits |= self._bits.setdefault((letter, times[letter]), 1 << len(self._bits))
        return bits


class _KnownNames:
    """Names by what a misspelt one may have in common with them, in alphabetical order."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.folded = {WORD.sub("_", name).casefold(): name for name in names}
        self.close = CloseMatches(self.folded)
        self.by_letters: dict[str, list[str]] = {}
        self.by_stem: dict[str, list[str]] = {}  # by all letters but the last
        self.by_start: dict[str, list[str]] = {}  # by all words before an underscore
        self.order = {name: at for at, name in enumerate(self.folded)}
        for name in self.folded:
            self.by_letters.setdefault("".join(sorted(name)), []).append(name)
            self.by_stem.setdefault(name[:-1], []).append(name)
            for each in (name[:at] for at, letter in enumerate(name) if letter == "_"):
                self.by_start.setdefault(each, []).append(name)

    def singulars(self, word: str) -> list[str]:
        """The names of which a word may be the plural."""
        found = [word[: -len(ending)] for ending in ("s", "es") if word.endswith(ending)]
        found += self.by_stem.get(word[:-3], ()) if word.endswith("ies") else ()
        return sorted((each for each in found if each in self.folded), key=self.order.__getitem__)


_known_names: Final = lru_cache(maxsize=64)(_KnownNames)


def suggest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that the author most likely meant, or the only one that starts with the word or that the
    word starts with, or None."""
    names = _known_names(tuple(sorted(known)))
    normalized = WORD.sub("_", word).casefold()
    near = [each for each in names.close.of(normalized, 3, MIN_LIKENESS) if _differ_little(normalized, each)]
    near.sort(key=lambda each: not is_slip_of(normalized, each))
    same_letters = names.by_letters.get("".join(sorted(normalized)), ())
    swapped = [each for each in same_letters if is_slip_of(normalized, each)]
    completions = names.by_start.get(normalized, []) if len(normalized) >= MIN_LENGTH else []
    starts = [normalized[:at] for at, letter in enumerate(normalized) if letter == "_"]
    begun = [each for each in starts if each in names.folded]
    singular = names.singulars(normalized)
    suggestions = swapped[:1] or singular[:1] or near[:1] or next((x for x in (completions, begun) if len(x) == 1), [])
    return names.folded[suggestions[0]] if suggestions else None


def _differ_little(word: str, other: str) -> bool:
    """Whether two words are similar without their common ending: neither `_state_machine` nor `-ation` makes them
    similar."""
    parts, other_parts = word.split("_"), other.split("_")
    while len(parts) > 1 and len(other_parts) > 1 and parts[-1] == other_parts[-1]:
        del parts[-1], other_parts[-1]
    shortened, other_shortened = "_".join(parts), "_".join(other_parts)
    ending = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shortened[::-1], other_shortened[::-1], strict=False))
    )
    stems = shortened[: len(shortened) - ending], other_shortened[: len(other_shortened) - ending]
    return _likeness(shortened, other_shortened) >= MIN_LIKENESS_WITHOUT_ENDING and (
        min(map(len, stems)) < MIN_STEM or _likeness(*stems) >= MIN_LIKENESS_OF_STEMS
    )


def _likeness(word: str, other: str) -> float:
    return difflib.SequenceMatcher(None, word, other).ratio()


def is_slip_of(word: str, other: str) -> bool:
    """Whether `word` is `other` with one letter missing, added, replaced, swapped with the next, or written as two."""
    if abs(len(word) - len(other)) > 1:
        return False
    start = next((index for index, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), None)
    if start is None:
        return abs(len(word) - len(other)) == 1
    rest, other_rest = word[start:], other[start:]
    swapped = rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
    as_two = _spelt_out(rest) == _spelt_out(other_rest)
    return swapped or as_two or rest[1:] == other_rest[1:] or rest[1:] == other_rest or rest == other_rest[1:]


def _spelt_out(word: str) -> str:
    return AS_TWO.get(word[:1], word[:1]) + word[1:]


def slips_of(word: str) -> set[str]:
    """Return every word that `word` may be after a slip of the hand: with two letters exchanged, one left out, one
    replaced by its neighbour on the keyboard, or one typed twice or with its neighbour. The first letter is right,
    unless it is exchanged."""
    parts = [(word[:at], word[at], word[at + 1 :]) for at in range(len(word))]
    exchanged = (f"{before}{after[0]}{here}{after[1:]}" for before, here, after in parts if after)
    missing = (f"{before}{letter}{here}{after}" for before, here, after in parts[1:] for letter in LETTERS)
    replaced = (f"{before}{near}{after}" for before, here, after in parts[1:] for near in _beside().get(here, ""))
    added = (
        f"{before}{after}"
        for before, here, after in parts[1:]
        if any(here == near or here in _beside().get(near, "") for near in (before[-1], *after[:1]))
    )
    return {*exchanged, *missing, *replaced, *added} - {word}


@cache
def _beside() -> dict[str, str]:
    """The letters of a keyboard, each with those around it."""
    places = {letter: (row, at) for row, letters in enumerate(KEYBOARD) for at, letter in enumerate(letters)}
    near = {(0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0)}
    return {
        one: "".join(
            other for other, (row, at) in places.items() if (row - places[one][0], at - places[one][1]) in near
        )
        for one in places
    }


def is_spelt_like(word: str, other: str) -> bool:
    """Whether two names of at least MIN_LENGTH differ by one letter, or only in case, dashes and underscores."""
    if word == other or len(word) < MIN_LENGTH:
        return False
    return is_slip_of(word, other) or _bare(word) == _bare(other)


def _bare(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()


class SimilarWords:
    """Words by their letters, with and without one of them: two words that a slip joins share a key, so that a word is
    not compared with all others."""

    def __init__(self, known: Iterable[str], is_slip: Callable[[str, str], bool]) -> None:
        """`is_slip` says of two words that differ by one letter, or by case, dashes and underscores, whether the first
        may be a slip of the second."""
        self._is_slip, self._by_letters = is_slip, dict[str, list[str]]()
        self._order = {word: at for at, word in enumerate(known)}
        for word in self._order:
            for key in _letters(word):
                self._by_letters.setdefault(key, []).append(word)

    def first(self, word: str) -> str | None:
        """Return the first known word that this one may be a slip of, or None."""
        found = {each for key in _letters(word) for each in self._by_letters.get(key, ())}
        slips = (each for each in found if self._is_slip(word, each))
        return min(slips, key=self._order.__getitem__, default=None)


def _letters(word: str) -> set[str]:
    """The sorted letters of a word, and these without one; none of a word too long to be one."""
    if len(word) > LONGEST:
        return set()
    letters = "".join(sorted(_bare(word)))
    return {letters, *(letters[:at] + letters[at + 1 :] for at in range(len(letters)))}


def did_you_mean(word: str, known: Iterable[str]) -> Guess | None:
    """Return the help ``did you mean `x`?`` for the other known word nearest to `word`, or None."""
    near = suggest(word, {*known} - {word})
    return Guess(near) if near else None


def question(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message, ``; did you mean `x`?`` or `otherwise`."""
    near = suggest(word, known)
    return f"; did you mean `{near}`?" if near else otherwise


def unknown_name(place: Span | Located, what: str, name: str, known: Iterable[str], *, code: str) -> Diagnostic:
    """Return the error for an unknown name of something, with the known name that was most likely meant, or a few."""
    names = sorted(known)
    few = f"define it, or write {' or '.join(f'`{each}`' for each in names)}" if 0 < len(names) <= FEW else None
    return error(place, f"unknown {what} `{name}`", code=code, help=did_you_mean(name, names) or few)
