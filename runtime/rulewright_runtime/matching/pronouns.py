"""Pronouns: whether sentences about a person use that person's pronouns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

_PERSON: Final = re.compile(r"\s*(\w+)\s*/\s*(\w+)(?:\s*/\s*(\w+))?\s+for\s+(\S.*?)\s*")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_WORD: Final = re.compile(r"[^\W_]+")
_SETS: Final = (
    frozenset({"she", "her", "hers", "herself"}),
    frozenset({"he", "him", "his", "himself"}),
    frozenset({"they", "them", "their", "theirs", "themself", "themselves"}),
)
_GENDERED: Final = _SETS[0] | _SETS[1]


class Person(msgspec.Struct, frozen=True):
    """A person and the pronouns of that person."""

    name: str
    pronouns: frozenset[str]


class Use(msgspec.Struct, frozen=True):
    """A sentence about the person: whether its pronouns are `correct`, None if undecidable."""

    sentence: str
    correct: bool | None
    why: str


def parse(text: str) -> Person | None:
    """Parse `they/them for Alex`; None for any other text."""
    match = _PERSON.fullmatch(text)
    if match is None:
        return None
    *words, name = match.groups()
    own = frozenset(word.casefold() for word in words if word)
    pronoun_set = next((each for each in _SETS if own & each), frozenset[str]())
    return Person(name, own | pronoun_set)


def uses(person: Person, text: str) -> Iterator[Use]:
    """Yield every sentence that is about the person and contains a pronoun.

    A sentence is about a person whom it names, or if it starts with a pronoun right after such a sentence. `they` alone
    is never wrong, because it may mean several people. If the sentence contains another name, a foreign pronoun may
    refer to that person: the use is undecidable.
    """
    about = False
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        words = [word.group() for word in _WORD.finditer(sentence)]
        if not words:
            continue
        folded = [word.casefold() for word in words]
        named = _names(person.name, folded)
        about = named or (about and folded[0] in _GENDERED | person.pronouns)
        if not about:
            continue
        foreign = [word for word in folded if word in _GENDERED - person.pronouns]
        has_own = any(word in person.pronouns for word in folded)
        if foreign:
            doubtful = bool(_others(person.name, words)) or (has_own and named)
            yield Use(sentence, None if doubtful else False, f"pronoun:{foreign[0]}")
        elif has_own:
            yield Use(sentence, True, "pronouns kept")


def _names(name: str, folded: list[str]) -> bool:
    parts = [word.group().casefold() for word in _WORD.finditer(name)]
    return bool(parts) and any(
        folded[index : index + len(parts)] == parts for index in range(len(folded) - len(parts) + 1)
    )


def _others(name: str, words: list[str]) -> list[str]:
    """Capitalised words inside the sentence that are not part of the name."""
    own = {word.group().casefold() for word in _WORD.finditer(name)} | {"i", "ai"}
    return [word for word in words[1:] if word[:1].isupper() and word.casefold() not in own]
