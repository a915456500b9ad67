from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.load import Mapping, Node, Scalar, Sequence, walk
from rulewright.spelling import Guess, SimilarWords, is_slip_of

if TYPE_CHECKING:
    from rulewright.project import Project

WORD: Final = re.compile(r"(?<![a-z])[a-z]{5,40}(?![a-z])")
LONGEST: Final = 3  # words of a text that is a name
LETTERS: Final = 7  # of a word with a letter more or less; shorter ones are often words of their own
EXPRESSION: Final = re.compile(r"[()<>=\\]")
# Words that are other words with two letters exchanged.
EXCHANGED: Final = frozenset({
    "angel", "angle", "barely", "barley", "board", "broad", "casual", "causal", "compiled", "complied", "dairy",
    "diary", "field", "filed", "fired", "fried", "nuclear", "quiet", "quite", "silver", "sliver", "spilt", "split",
    "there", "three", "tired", "trail", "trial", "tried", "unclear", "unite", "united", "untie", "untied",
})  # fmt: skip
# Keys of texts that are searched for, which may be misspelt on purpose, or quoted.
SOUGHT: Final = frozenset({"chat", "cues", "examples", "judge", "lexicons", "markers", "patterns", "regex", "replies"})


def misspelt_word(project: Project) -> Iterator[Diagnostic]:
    """A word of a name or short text occurs only once, and differs by one letter from a word of the project.

    Why it matters: names and expected texts are compared letter by letter, so the misspelt one finds nothing.
    Instead: correct the spelling.
    """
    loaded, told = {each.source.path: each.root for each in project.loaded}, set[str]()
    roots = [each for each in loaded.values() if each is not None]
    texts = (*(text for root in roots for text in _texts(root)), *(Path(path).stem.lower() for path in loaded))
    known = Counter(word for text in texts for word in WORD.findall(text))
    similar = SimilarWords(known, partial(_is_slip, known=known))
    for root in roots:
        for name in _names(root):
            for word in WORD.findall(str(name.value).lower()):
                near = None if known[word] > 1 else similar.first(word)
                if near is not None and near not in told:
                    told.add(word)
                    times = f"{known[near]} times" if known[near] > 1 else "elsewhere"
                    message = f"`{word}` occurs only here, but `{near}` {times}"
                    yield warning(name, message, help=Guess(near))


def _texts(root: Node) -> Iterator[str]:
    for node in walk(root):
        if isinstance(node, Scalar):
            yield str(node.value).lower()
        elif isinstance(node, Mapping):
            yield from (entry.name.lower() for entry in node.entries)


def _names(node: Node) -> Iterator[Scalar]:
    """The short texts below a node that are neither searched for nor expressions."""
    if isinstance(node, Mapping):
        yield from (each for entry in node.entries if entry.name not in SOUGHT for each in _names(entry.value))
    elif isinstance(node, Sequence):
        yield from (each for item in node.items for each in _names(item))
    elif isinstance(node.value, str) and not EXPRESSION.search(node.value) and len(node.value.split()) <= LONGEST:
        yield node


def _is_slip(word: str, other: str, known: Counter[str]) -> bool:
    """Whether a word has two letters of another one exchanged, or one letter more or less within it."""
    if word == other or not is_slip_of(word, other):
        return False
    if len(word) == len(other):
        return sorted(word) == sorted(other) and word not in EXCHANGED
    is_ending = word.startswith(other[:-1]) or other.startswith(word[:-1])
    is_at_an_end = is_ending or word.endswith(other) or other.endswith(word)  # `spending` and `pending`
    return len(word) >= LETTERS and known[other] > 1 and not is_at_an_end
