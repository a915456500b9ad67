import re
from collections.abc import Container
from typing import Final

from rulewright.diagnostics import Findings, advice
from rulewright.documents.lexicon import LexiconDocument

# A word, and the words of which at least one should stand in its place in another pattern.
PRONOUNS: Final = {
    "he": ("she",), "she": ("he",), "him": ("her",), "his": ("her",), "her": ("him", "his"),
    "himself": ("herself",), "herself": ("himself",),
}  # fmt: skip
# Short and full forms; they count in a lexicon that has both forms of another phrase.
CONTRACTIONS: Final = (
    ("i'm", "i am"), ("i'll", "i will"), ("i've", "i have"), ("you're", "you are"), ("you'll", "you will"),
    ("can't", "cannot"), ("don't", "do not"), ("doesn't", "does not"), ("won't", "will not"), ("it's", "it is"),
)  # fmt: skip
PRONOUN: Final = re.compile(rf"\b(?:{'|'.join(PRONOUNS)})\b")
LONGEST: Final = 20  # words of a phrase that are compared
AMOUNT: Final = re.compile(r"\b(\d+)( ?)(mg|mcg|ml|g|kg|cm|km|am|pm|h|%)(?!\w)")


def pattern_without_counterpart(lexicon: LexiconDocument) -> Findings:
    """A phrase lacks the other form that its lexicon has for similar phrases: `her` for `him`, `i will` for `i'll`.

    Why it matters: a plain phrase finds only its own words, so the same sentence about a man, in full words or with a
    space before the unit is missed.
    Instead: add the other form, or write one regular expression for both.
    """
    plain = {each.text.lower(): each for each in lexicon.patterns if each.mode == "substring_ci"}
    phrases = {" ".join(text.replace("\u2019", "'").split()): each for text, each in plain.items()}
    paired = [pair for pair in CONTRACTIONS if any(_reworded(each, *pair) in phrases for each in phrases)]
    is_spaced = {bool(found[2]) for each in phrases for found in AMOUNT.finditer(each)}
    for text, pattern in phrases.items():
        others = _of_another_person(text) or _of_another_form(text, paired) or _of_another_spacing(text, is_spaced)
        if others and not any(text in other or _is_found(other, phrases) for other in others.values()):
            words = " or ".join(f"`{each}`" for each in others)
            yield advice(pattern.scalar, f"`{pattern.text}` has no counterpart with {words}")


def _is_found(text: str, phrases: Container[str]) -> bool:
    """Whether one of the phrases is a part of the text."""
    words = text.split()[:LONGEST]
    slices = ((start, end) for start in range(len(words)) for end in range(start + 1, len(words) + 1))
    return text in phrases or any(" ".join(words[start:end]) in phrases for start, end in slices)


def _of_another_person(text: str) -> dict[str, str]:
    """The phrase about a man instead of a woman, or the other way round, by the new word; empty if it is about both."""
    found = {each.group() for each in PRONOUN.finditer(text)}
    return {other: PRONOUN.sub(other, text) for other in PRONOUNS[found.pop()]} if len(found) == 1 else {}


def _of_another_form(text: str, paired: list[tuple[str, str]]) -> dict[str, str]:
    """The phrase with the full form of a contraction, or the other way round, by the new words."""
    forms = (form for pair in paired for form in (pair, pair[::-1]))
    return {other: new for form, other in forms if (new := _reworded(text, form, other)) is not None}


def _of_another_spacing(text: str, is_spaced: set[bool]) -> dict[str, str]:
    """The phrase with or without a blank before the unit, in a lexicon that has both."""
    found = AMOUNT.search(text) if len(is_spaced) > 1 else None
    other = f"{found[1]}{'' if found[2] else ' '}{found[3]}" if found else ""
    return {other: text.replace(found[0], other)} if found else {}


def _reworded(text: str, form: str, other: str) -> str | None:
    """The phrase with another form of a word; None without the word."""
    new = re.sub(rf"(?<![\w']){form}(?![\w'])", other, text)
    return new if new != text else None
