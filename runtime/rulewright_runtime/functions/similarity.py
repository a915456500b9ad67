"""Similarity of a text and a reference, without a model: edit distance, ROUGE-L, BLEU, and word overlap.

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

from rulewright_runtime.functions.table import Table, check_steps, typed
from rulewright_runtime.matching.near_matches import bit_masks, common, words

_ORDER: Final = 4  # the length of BLEU's longest n-grams
_STEP: Final = 256  # bits that count as one step of a bit-parallel loop
_TOKEN: Final = re.compile(r"(?:[^\s!-&(-/:-@\[-`{-~]|(?<![0-9])-|(?<=[0-9])[.,](?=[0-9]))+|\S")


def _check_cost(one: int, other: int) -> None:
    check_steps(other * (1 + one // _STEP))


def edit_distance(text: str, reference: str) -> int:
    """Return the minimum number of insertions, deletions and replacements that turn one text into the other."""
    _check_cost(len(text), len(reference))
    if not text:
        return len(reference)
    positions = bit_masks(text)
    mask, last = (1 << len(text)) - 1, 1 << (len(text) - 1)
    up, down, distance = mask, 0, len(text)
    for char in reference:
        hit = positions.get(char, 0)
        diagonal = ((((hit & up) + up) ^ up) | hit | down) & mask
        more, less = (down | ~(diagonal | up)) & mask, up & diagonal
        distance += bool(more & last) - bool(less & last)
        more, less = (more << 1 | 1) & mask, less << 1 & mask
        up, down = (less | ~(diagonal | more)) & mask, more & diagonal
    return distance


def edit_similarity(text: str, reference: str) -> float:
    """Return `1 - edit_distance / longer length`: 1 for equal texts, 0 when every character differs."""
    distance = edit_distance(text, reference)
    return 1.0 - distance / (max(len(text), len(reference)) or 1)


def rouge_l(text: str, reference: str) -> float:
    """Return ROUGE-L: F1 of the longest common subsequence of words, from 0 to 1."""
    text_words, reference_words = ([word for word, _, _ in words(each)] for each in (text, reference))
    _check_cost(len(text_words), len(reference_words))
    shared = common(text_words, reference_words)
    return 2 * shared / (len(text_words) + len(reference_words)) if shared else 0.0


def bleu(text: str, reference: str) -> float:
    """Return BLEU of one sentence against one reference, from 0 to 1."""
    tokens, reference_tokens = _TOKEN.findall(text), _TOKEN.findall(reference)
    precisions, halvings = [], 0
    for size in range(1, min(_ORDER, len(tokens)) + 1):
        total = len(tokens) - size + 1
        matched = (_grams(tokens, size) & _grams(reference_tokens, size)).total()
        if size == 1 and not matched:
            return 0.0
        halvings += not matched
        precisions.append((matched or 0.5**halvings) / total)
    if not precisions:
        return 0.0
    brevity = min(0.0, 1 - len(reference_tokens) / len(tokens))
    return math.exp(brevity + sum(map(math.log, precisions)) / len(precisions))


def _grams(tokens: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(size)), strict=False))


def word_overlap(text: str, source: str) -> float:
    """Return the share of the distinct words of `text` that occur in `source`; 0 for a text without words."""
    text_words, source_words = ({word for word, _, _ in words(each)} for each in (text, source))
    return len(text_words & source_words) / len(text_words) if text_words else 0.0


_MEASURES: Final = (edit_distance, edit_similarity, rouge_l, bleu, word_overlap)
TABLE: Final[Table] = typed({function.__name__: (function, str, str) for function in _MEASURES})
