import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.scenario import TurnDocument
from rulewright.load import Node, Scalar, Sequence, is_text
from rulewright.lower.lexicons import hits_any, lower_lexicon
from rulewright.lower.semantics import policies
from rulewright.project import Project
from rulewright.spelling import is_slip_of

Words = tuple[str, ...]
# By neighbours with one word left out: the words in its place, and where.
Neighbours = dict[Words, dict[str, TurnDocument]]

WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
OUT: Final = ""
LONG: Final = 4  # letters of a word that may be misspelt
HALVES: Final = 4  # words of a phrase that may be two
VARIANTS: Final = 8  # words that are remembered in one place


def phrase_nearly_said(project: Project) -> Findings:
    """A lexicon of the user's words finds nothing in any scenario, but a message nearly contains one of its phrases.

    Why it matters: a word is misspelt or a comma between two phrases is missing, so a cue is not found.
    Instead: correct the phrase, or the message.
    """
    lexicons = [each for each in project.lexicons.values() if each.role == "user"]
    turns = [turn for scenario in project.scenarios.values() for turn in scenario.turns] if lexicons else []
    keys = {key for lexicon in lexicons for phrase in _phrases(lexicon) for key in _keys(phrase)}
    neighbours = _neighbours(turns, keys)
    for lexicon in lexicons:
        near = next((each for phrase in _phrases(lexicon) for each in _near(phrase, neighbours)), None)
        if near is not None and not _hits(lexicon, project, turns):
            phrase, words, turn = near
            message = f"no message contains `{phrase.value}`, but one says `{words}`"
            yield warning(phrase, message, notes=[(turn.place("user_message"), "said here")])


def _neighbours(turns: list[TurnDocument], wanted: set[Words]) -> Neighbours:
    """What messages say around one word left out, as far as a phrase says it, too."""
    neighbours: Neighbours = {}
    for turn in turns:
        for three in _threes(WORD.findall(turn.user_message.lower())):
            for hole, word in enumerate(three):
                key = _without(three, hole)
                found = neighbours.setdefault(key, {}) if key in wanted else {}
                if len(found) < VARIANTS:
                    found.setdefault(word, turn)
    return neighbours


def _keys(phrase: Scalar) -> Iterator[Words]:
    words = _words(phrase)
    yield from (_without(three, hole) for three in _threes(words) for hole in range(len(three)))
    yield from ((*half, OUT) for half in _halves(words))


def _words(phrase: Scalar) -> list[str]:
    return WORD.findall(phrase.text.lower())


def _halves(words: list[str]) -> list[tuple[str, str]]:
    """The halves of a phrase that may be two phrases."""
    return [(words[0], words[1]), (words[2], words[3])] if len(words) == HALVES else []


def _threes(words: list[str]) -> Iterator[Words]:
    yield from zip(words, words[1:], words[2:], strict=False)


def _without(words: Words, hole: int) -> Words:
    return (*words[:hole], OUT, *words[hole + 1 :])


def _phrases(lexicon: LexiconDocument) -> Iterator[Scalar]:
    """The phrases of a lexicon that are texts."""
    listed: Node | None = lexicon.get("patterns") or lexicon.get(lexicon.name)
    items = listed.items if isinstance(listed, Sequence) else ()
    return filter(is_text, items)


def _near(phrase: Scalar, neighbours: Neighbours) -> Iterator[tuple[Scalar, str, TurnDocument]]:
    """What messages say that is a phrase but for one letter, or half of a phrase of four words."""
    words = _words(phrase)
    for three in _threes(words):
        for hole, word in enumerate(three):
            for other, turn in neighbours.get(_without(three, hole), {}).items() if len(word) >= LONG else ():
                if is_slip_of(word, other):
                    yield phrase, " ".join((*three[:hole], other, *three[hole + 1 :])), turn
    for half in _halves(words):
        for turn in neighbours.get((*half, OUT), {}).values():
            yield phrase, " ".join(half), turn


def _hits(lexicon: LexiconDocument, project: Project, turns: list[TurnDocument]) -> bool:
    """Whether a message of the user, also in a branch, has a hit."""
    lowered = lower_lexicon(lexicon, policies(project.semantics).fold)
    return hits_any([lowered], [text for turn in turns for text in turn.messages])
