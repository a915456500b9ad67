"""Reads conditions on one text as languages: the texts for which they hold."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple

from rulewright.proving.languages import (
    ANY,
    CHARACTER,
    EMPTY,
    Language,
    at_least,
    complement,
    has_assertions,
    holding,
    intersection,
    literal,
    one_of,
    repeated,
    sequence,
    union,
    with_cases,
)
from rulewright.proving.program_parts import extract, unabridged, value_of, with_item
from rulewright.proving.re2_syntax import language_of
from rulewright_runtime.functions.strings import WHITESPACE
from rulewright_runtime.ir import MIRRORED, Node, Program
from rulewright_runtime.ir import literal as tagged
from rulewright_runtime.matching.folding import fold, fold_case
from rulewright_runtime.matching.unspaced import LETTERS, is_mark, is_part_of_word, is_unspaced
from rulewright_runtime.values import Value

# Every letter and mark is below, but for the variation selectors, which are marks; a search of all characters is slow.
WITH_LETTERS: Final = 0x40000
VARIATION_SELECTORS: Final = range(0xE0100, 0xE01F0)
MOST_CUT: Final = 200  # characters at which a text is cut
_SPACE: Final = one_of([(ord(each), ord(each) + 1) for each in WHITESPACE])
_TRIMMED: Final = complement(union([sequence([_SPACE, ANY]), sequence([ANY, _SPACE])]))
_JOINS: Final = {"or": union, "exists": union, "and": intersection, "all": intersection}


def _below(text: str) -> Language:
    """The texts before a text, in the order of their characters."""
    starts = [(literal(text[:at]), one_of([(0, ord(each))] if each > "\0" else [])) for at, each in enumerate(text)]
    return union(part for start, lower in starts for part in (start, sequence([start, lower, ANY])))


def _matching(pattern: str) -> Language | None:
    found = language_of(pattern)
    return None if found is None else holding(found)


# The texts for which a function holds, by its constant argument.
_OF_TEXTS: Final[Mapping[str, Callable[[str], Language | None]]] = {
    "contains": lambda part: holding(literal(part)),
    "startsWith": lambda part: sequence([literal(part), ANY]),
    "endsWith": lambda part: sequence([ANY, literal(part)]),
    "matches": _matching,
    "_==_": literal,
    "_!=_": lambda text: complement(literal(text)),
    "_<_": lambda text: _below(text),
    "_<=_": lambda text: union([_below(text), literal(text)]),
    "_>_": lambda text: complement(union([_below(text), literal(text)])),
    "_>=_": lambda text: complement(_below(text)),
}
# Functions that search folded texts: how the text is named, and how a part is folded.
_FOLDING: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "has_any_word": ("fold", lambda part: fold(part).text),
    "contains_ci": ("lower", str.lower),
    "substring_ci": ("fold case", fold_case),
    **dict.fromkeys(("contains_any", "contains_all", "contains_none"), ("fold", lambda part: fold(part).text)),
}


class TextCondition(NamedTuple):
    """The language of the texts for which a condition holds. `subject` names the part whose texts are meant, the node
    `at`. The nodes in `partial` have a value for the texts in `defined`."""

    subject: str
    language: Language
    at: int
    defined: Language = ANY
    partial: frozenset[int] = frozenset()


def condition_on_text(program: Program, at: int) -> TextCondition | None:
    """The condition that a node tests on the one text that it reads; None for any other node."""
    node = program.nodes[at]
    if node.op in ("exists", "all") and len(node.value) == 1:
        items = value_of(program, node.args[0])
        bodies = (
            [with_item(program, node, Node("const", (), tagged(each))) for each in items] if _are_texts(items) else []
        )
        return _joined(node.op, [condition_on_text(each, node.args[1]) for each in bodies])
    if node.op in ("and", "or"):
        return _joined(node.op, [condition_on_text(program, each) for each in node.args])
    if node.op == "not":
        inner = condition_on_text(program, node.args[0])
        return None if inner is None else inner._replace(language=complement(inner.language))
    return _called(program, node) if node.op == "call" and len(node.args) == 2 else None


def _joined(kind: str, several: list[TextCondition | None]) -> TextCondition | None:
    found = [each for each in several if each is not None]
    if len(found) < len(several) or len({each.subject for each in found}) != 1 or any(each.partial for each in found):
        return None
    return TextCondition(found[0].subject, _JOINS[kind]([each.language for each in found]), found[0].at)


def _are_texts(value: Value) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)


def _called(program: Program, node: Node) -> TextCondition | None:
    name, (text, other) = str(node.value), node.args
    if name in MIRRORED and program.nodes[text].op == "const":
        name, text, other = MIRRORED[name], other, text
    given = value_of(program, other)
    if name in _FOLDING:
        return _folded(program, text, name, given)
    if name == "@in" and _are_texts(given):
        return carried(program, text, union(map(literal, given)))
    language = _OF_TEXTS[name](given) if name in _OF_TEXTS and isinstance(given, str) else None
    return None if language is None else carried(program, text, language)


def _folded(program: Program, text: int, name: str, given: Value) -> TextCondition | None:
    parts = given if _are_texts(given) else (given,)
    if not all(isinstance(each, str) for each in parts):
        return None
    kind, folded = _FOLDING[name]
    found = [_as_word(folded(each)) if name == "has_any_word" else holding(literal(folded(each))) for each in parts]
    language = intersection(found) if name == "contains_all" else union(found)
    subject = f"{kind}: {unabridged(extract(program, text))}"
    return TextCondition(subject, complement(language) if name == "contains_none" else language, text)


def _as_word(part: str) -> Language:
    """The texts in which a part occurs that does not end inside of a word."""
    before, after = (
        None if (each == "_" or is_part_of_word(each)) and not is_unspaced(each) else ANY
        for each in (part[:1], part[-1:])
    )
    before = before or union([EMPTY, sequence([ANY, _between_words()])])
    return sequence([before, literal(part), after or union([EMPTY, sequence([_between_words(), ANY])])])


@cache
def _between_words() -> Language:
    """The characters that may be next to a word: neither letters, digits, marks nor underscores, or of a script without
    spaces between words."""
    every = map(chr, range(WITH_LETTERS))
    characters = "".join("a" if is_mark(char) and not is_unspaced(char) else char for char in every)
    spans = [each.span() for each in re.finditer(rf"[\W{LETTERS}]+", characters)]
    return one_of([*spans, (WITH_LETTERS, VARIATION_SELECTORS.start), (VARIATION_SELECTORS.stop, sys.maxunicode + 1)])


def carried(program: Program, at: int, language: Language) -> TextCondition:
    """The condition that a node's text is in a language, as one on the text that the node is made of."""
    node = program.nodes[at]
    if node.op == "call" and node.value in ("lowerAscii", "upperAscii"):
        return carried(program, node.args[0], with_cases(language, lower=node.value == "lowerAscii"))
    if node.op == "call" and node.value == "trim" and not has_assertions(language):
        around = repeated(_SPACE)
        return carried(program, node.args[0], sequence([around, intersection([language, _TRIMMED]), around]))
    span = _cut_at(program, node)
    if span is not None and not has_assertions(language):
        start, end = span
        inside = language if end is None else intersection([language, sequence([CHARACTER] * (end - start))])
        cut = sequence([*[CHARACTER] * start, inside, *([] if end is None else [ANY])])
        found = carried(program, node.args[0], cut)
        long = carried(program, node.args[0], at_least(start if end is None else end)).language
        return found._replace(defined=intersection([found.defined, long]), partial=found.partial | {at})
    return TextCondition(unabridged(extract(program, at)), language, at)


def _cut_at(program: Program, node: Node) -> tuple[int, int | None] | None:
    """Where a node cuts a text: the start and the end, None for that of the text."""
    if node.op != "call" or node.value != "substring":
        return None
    found = [value_of(program, arg) for arg in node.args[1:]]
    if not all(type(each) is int and 0 <= each <= MOST_CUT for each in found) or sorted(found) != found:
        return None
    return found[0], found[1] if len(found) == 2 else None
