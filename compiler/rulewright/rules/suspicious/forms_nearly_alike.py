from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.lexicon import LexiconDocument, PatternEntry
from rulewright.spelling import is_slip_of

# Short forms without their apostrophe, unless they are other words.
BARE: Final = {
    "cant": "can't", "couldnt": "couldn't", "didnt": "didn't", "doesnt": "doesn't", "dont": "don't", "hadnt": "hadn't",
    "hasnt": "hasn't", "havent": "haven't", "isnt": "isn't", "ive": "i've", "shouldnt": "shouldn't", "wasnt": "wasn't",
    "wouldnt": "wouldn't", "youre": "you're", "youve": "you've", "theyre": "they're", "youll": "you'll",
}  # fmt: skip
FULL: Final = {
    "i'm": "i am", "i'll": "i will", "i've": "i have", "you're": "you are", "you'll": "you will", "can't": "cannot",
    "don't": "do not", "doesn't": "does not", "won't": "will not", "it's": "it is", "didn't": "did not",
    "isn't": "is not", "haven't": "have not",
}  # fmt: skip
SHORTEST: Final = 4  # letters of a word that may be misspelt
VARIANTS: Final = 8  # words that are remembered in one place
LONGEST: Final = 20  # words of a phrase that are compared


def forms_nearly_alike(lexicon: LexiconDocument) -> Findings:
    """A short form lacks its apostrophe, or its phrase differs in a letter from the one with the full form.

    Why it matters: one of the two is misspelt and finds nothing.
    Instead: correct it. A lexicon that has the phrase in both spellings is left alone.
    """
    plain = {_plain(each): each for each in lexicon.patterns if each.mode == "substring_ci"}
    full: dict[str, dict[str, str]] = {}  # by phrases with a word left out, in the full form: the words in its place
    for text in plain:
        for hole, word in _holes(_expanded(text)):
            others = full.setdefault(hole, {})
            if len(others) < VARIANTS:
                others.setdefault(word, text)
    has_apostrophes = any("'" in each for each in plain)
    for text, pattern in plain.items():
        corrected = " ".join(BARE.get(word, word) for word in text.split())
        if corrected != text:
            if corrected not in plain and (_expanded(corrected) in plain or has_apostrophes):
                yield warning(pattern.scalar, f"`{pattern.text}` lacks an apostrophe", help=Guess(corrected))
            continue
        near = _near(text, full) if _expanded(text) != text else None
        if near is not None:
            message = f"`{pattern.text}` differs in one letter from the short form of `{plain[near].text}`"
            yield warning(pattern.scalar, message, notes=[(plain[near].scalar, "the other one")])


def _near(text: str, full: dict[str, dict[str, str]]) -> str | None:
    """The phrase in the full form that differs from the text by one letter."""
    for hole, word in _holes(_expanded(text)):
        found = full[hole] if len(word) >= SHORTEST else {}
        near = next((other for other in found if other != word and is_slip_of(word, other)), None)
        if near is not None and found[near] != text and _expanded(found[near]) == found[near]:
            return found[near]
    return None


def _plain(pattern: PatternEntry) -> str:
    return " ".join(pattern.text.lower().replace("\u2019", "'").split())


def _expanded(text: str) -> str:
    return " ".join(FULL.get(word, word) for word in text.split())


def _holes(text: str) -> list[tuple[str, str]]:
    """A phrase with each of its words left out, and the word."""
    words = text.split()[:LONGEST]
    return [(" ".join((*words[:at], "", *words[at + 1 :])), word) for at, word in enumerate(words)]
