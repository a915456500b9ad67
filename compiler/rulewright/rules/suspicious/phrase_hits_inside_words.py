import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.lexicon import LexiconDocument, MarkerSet
from rulewright.documents.scenario import ScenarioDocument
from rulewright.rules.suspicious.short_word_hits_inside_others import plain_texts, rewrite

# Phrases whose first or last word is a part of another word that may well stand in its place, and this word.
INSIDE: Final = tuple(
    (re.compile(part, re.IGNORECASE), longer)
    for part, longer in {
        r"^as (?=(?:an?|the|my|your|his|her|their) (?:(?! i\b)[^,])*$)": "has ",
        r"^our (?=\w)": "your ",
        r"^ever (?=\w)": "never ",
        r"^any (?=\w+s\b)": "many ",
        r"^(able|clear|fair|likely|safe|sure|usual) (?=(?:about|for|how|if|of|that|to|what|whether)\b)": r"un\1 ",
        r"(?<=\w )(can)$": r"\1't",
        r"(?<=\w )(could|did|does|would)$": r"\1n't",
    }.items()
)


def phrase_hits_inside_words(subject: LexiconDocument | MarkerSet | ScenarioDocument) -> Findings:
    """A phrase begins or ends inside another word, with another meaning.

    Why it matters: plain phrases are searched for without regard to word boundaries. `as your doctor` occurs in "what
    has your doctor said", `safe to take` in "unsafe to take", and `you could` in "you couldn't".
    Instead: write a longer phrase, or a regular expression with word boundaries: `(?i)\\bas your doctor\\b`.
    """
    for found in plain_texts(subject):
        text = found.text
        longer = next((new for part, word in INSIDE if (new := part.sub(word, text)) != text), None)
        if longer is not None:
            yield warning(found, f"`{text}` also occurs in `{longer}`", help=rewrite(subject, text))
