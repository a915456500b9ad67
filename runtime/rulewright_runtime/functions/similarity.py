"""How much a text is like a reference, without a model: edit distance, ROUGE-L, BLEU, and words in common.

edit_distance    V. Levenshtein (1966), by the bit-parallel form of G. Myers (1999) as written by H. Hyyro (2003)
rouge_l          C.-Y. Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", F1 over words
bleu             K. Papineni et al. (2002) for one sentence, tokens as in mteval-v13a, exponential smoothing
                 (B. Chen and C. Cherry, 2014, method 3) and effective order, the defaults of sacreBLEU (M. Post, 2018)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

from rulewright_runtime.functions.table import Table, check_steps
from rulewright_runtime.matching.similarity import common, words
from rulewright_runtime.values import Value, no_overload

_ORDER: Final = 4  # the longest n-grams of BLEU
_STEP: Final = 256  # bits that one step of a bit-parallel loop deals with
_TOKEN: Final = re.compile(r"(?:[^\s!-&(-/:-@\[-`{-~]|(?<![0-9])-|(?<=[0-9])[.,](?=[0-9]))+|\S")


def _texts(function: str, *values: object) -> None:
    if any(value.__class__ is not str for value in values):
        raise no_overload(function, *values)


def _affordable(one: int, other: int) -> None:
    check_steps(other * (1 + one // _STEP))


def edit_distance(text: Value, reference: Value) -> int:
    """The number of characters to insert, delete or replace that make one text of the other."""
    _texts("edit_distance", text, reference)
    _affordable(len(text), len(reference))
    if not text:
        return len(reference)
    places: dict[str, int] = {}
    for index, char in enumerate(text):
        places[char] = places.get(char, 0) | 1 << index
    whole, last = (1 << len(text)) - 1, 1 << (len(text) - 1)
    up, down, distance = whole, 0, len(text)
    for char in reference:
        hit = places.get(char, 0)
        diagonal = ((((hit & up) + up) ^ up) | hit | down) & whole
        more, less = (down | ~(diagonal | up)) & whole, up & diagonal
        distance += bool(more & last) - bool(less & last)
        more, less = (more << 1 | 1) & whole, less << 1 & whole
        up, down = (less | ~(diagonal | more)) & whole, more & diagonal
    return distance


def edit_similarity(text: Value, reference: Value) -> float:
    """1 for equal texts, 0 where every character has to change: `1 - edit_distance / longer length`."""
    distance = edit_distance(text, reference)
    return 1.0 - distance / (max(len(text), len(reference)) or 1)


def rouge_l(text: Value, reference: Value) -> float:
    """ROUGE-L: F1 of the longest common subsequence of words, from 0 to 1."""
    _texts("rouge_l", text, reference)
    said, wanted = ([word for word, _, _ in words(each)] for each in (text, reference))
    _affordable(len(said), len(wanted))
    shared = common(said, wanted)
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def bleu(text: Value, reference: Value) -> float:
    """BLEU of one sentence against one reference, from 0 to 1."""
    _texts("bleu", text, reference)
    said, wanted = _TOKEN.findall(text), _TOKEN.findall(reference)
    precisions, halvings = [], 0
    for size in range(1, min(_ORDER, len(said)) + 1):
        total = len(said) - size + 1
        matched = (_grams(said, size) & _grams(wanted, size)).total()
        if size == 1 and not matched:
            return 0.0
        halvings += not matched
        precisions.append((matched or 0.5**halvings) / total)
    if not precisions:
        return 0.0
    brevity = min(0.0, 1 - len(wanted) / len(said))
    return math.exp(brevity + sum(map(math.log, precisions)) / len(precisions))


def _grams(tokens: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(size)), strict=False))


def word_overlap(text: Value, source: Value) -> float:
    """The share of the different words of `text` that also stand in `source`; 0 for a text without words."""
    _texts("word_overlap", text, source)
    said, given = ({word for word, _, _ in words(each)} for each in (text, source))
    return len(said & given) / len(said) if said else 0.0


TABLE: Final[Table] = {
    "edit_distance": (edit_distance, 2, 2),
    "edit_similarity": (edit_similarity, 2, 2),
    "rouge_l": (rouge_l, 2, 2),
    "bleu": (bleu, 2, 2),
    "word_overlap": (word_overlap, 2, 2),
}
