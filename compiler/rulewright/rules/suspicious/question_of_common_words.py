import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import text_scalars
from rulewright.documents.lexicon import MarkerSet

COMMON: Final = re.compile(
    "what|who|how|where|why|when|which|are|is|am|was|were|do|does|did|can|could|would|will|should"
    "|you|i|we|he|she|it|they|this|that|there|your|my|the|a|an|so|and|but"
)
WORD: Final = re.compile(r"[a-z]+")


def question_of_common_words(markers: MarkerSet) -> Findings:
    """A phrase under `identity_question` contains only words that most questions contain.

    Why it matters: `what are you` occurs in "what are you suggesting", and an answer to that question fails because it
    does not say that it comes from a machine.
    Instead: write more of the question, or add the question mark: `what are you?`.
    """
    for phrase in text_scalars(markers.node, "identity_question"):
        text = phrase.text.lower()
        words = WORD.findall(text)
        if words and all(map(COMMON.fullmatch, words)) and not text.rstrip().endswith("?"):
            yield warning(
                phrase,
                f"`{phrase.value}` occurs in many other questions",
                help=f"add the question mark: `{phrase.value}?`",
            )
