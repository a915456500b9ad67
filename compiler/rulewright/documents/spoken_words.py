"""What the user of a scenario has said by a turn, which is what an answer can know."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from rulewright.documents.base import text
from rulewright.documents.scenario import WORDS, ScenarioDocument

APOSTROPHES: Final = str.maketrans("", "", "'\u2019")
WORD: Final = re.compile(r"[^\W_]+")
VOWELS: Final = str.maketrans("", "", "aeiou")
NUMBERS: Final = {word: str(number) for word, number in WORDS.items() if word not in ("a", "an")}
STEM: Final = 3  # letters that two forms of a word share at least: `relief`, `relieved`
ENDING: Final = 3  # letters that they differ in at most
IRREGULAR: Final = 5  # words up to this length may differ in their vowels: `fall`, `fell`
# Words without content, and relatives: a user says `Mom`, or `my wife`, where a probe expects `mother` or `husband`.
_IMPLIED: Final = """
    a about an and as at but by for from has have in is it its no not of on or that the their they this to was were with
    yes none true false aunt brother child children daughter father friend grandfather grandmother husband kids mother
    parent parents partner sibling sister son spouse uncle wife dad mom mum caregiver user
"""
IMPLIED: Final = frozenset(_IMPLIED.split())


class SpokenWords(Struct, frozen=True):
    """The first turn in which the user may say a word, in one of its forms (`first`) or as it is (`exact`). What the
    assistant sees before the conversation has turn 0."""

    first: dict[str, int]
    exact: dict[str, int]

    def is_spoken(self, word: str, by: int) -> bool:
        """Whether a form of the word is said up to a turn."""
        return any(self.first.get(form, by + 1) <= by for form in forms(word))

    def is_named(self, name: str, by: int) -> bool:
        """Whether a name is said up to a turn, with or without the `s` of a genitive."""
        own = plain(name)
        return any(self.exact.get(each, by + 1) <= by for each in (own, f"{own}s", own.removesuffix("s")))

    def is_spoken_later(self, words: Iterable[str], by: int) -> bool:
        """Whether all words are said, but only after a turn."""
        return all(self.exact.get(word, by) > by for word in words)


def spoken_words(scenario: ScenarioDocument) -> SpokenWords:
    """The words of all messages of a scenario, those of branches included."""
    first: dict[str, int] = {}
    exact: dict[str, int] = {}
    texts = [(0, each) for each in shown(scenario)]
    texts += [(turn.number or 0, message) for turn in scenario.turns for message in turn.messages]
    for number, message in texts:
        for word in words_of(message):
            exact[word] = min(number, exact.get(word, number))
            for form in forms(word):
                first[form] = min(number, first.get(form, number))
    return SpokenWords(first, exact)


def shown(scenario: ScenarioDocument) -> list[str]:
    """What the assistant sees before the first turn: `system`, and the visible keys of the persona."""
    persona = scenario.persona
    visible = [text(persona.node, key) for key in persona.visible] if persona else []
    return [*visible, scenario.system] if scenario.system else visible


def all_known(scenario: ScenarioDocument) -> bool:
    """Whether every turn has a message."""
    return bool(scenario.turns) and all("user_message" in turn.node for turn in scenario.turns)


def words_of(phrase: str) -> list[str]:
    """The words of a phrase that have content of their own, in lower case, with numbers as digits."""
    found = (NUMBERS.get(word, word) for word in WORD.findall(plain(phrase)))
    return [word for word in found if word not in IMPLIED]


def forms(word: str) -> Iterator[str]:
    """Keys of a word: two words with a common key may be forms of one."""
    yield word
    if word.isalpha():
        yield from (word[:length] for length in range(max(STEM, len(word) - ENDING), len(word)))
        if STEM < len(word) <= IRREGULAR:
            yield f"{word[0]} {word[1:].translate(VOWELS)}"


def plain(text: str) -> str:
    """A text in lower case without apostrophes."""
    return text.translate(APOSTROPHES).casefold()


def is_name(item: str) -> bool:
    """Whether every word starts with a capital."""
    return all(word[:1].isupper() for word in item.split()) and bool(item.strip())
