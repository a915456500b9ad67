"""Reads conditions on one text as languages: the texts for which they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rulewright.proving.atoms import value_of
from rulewright.proving.languages import (
    ANY,
    Language,
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
from rulewright.proving.program_parts import extract, unabridged
from rulewright.proving.re2_syntax import language_of
from rulewright_runtime.functions.strings import WHITESPACE
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.ir import literal as tagged
from rulewright_runtime.matching.folding import fold, fold_case
from rulewright_runtime.values import Value

_SPACE: Final = one_of([(ord(each), ord(each) + 1) for each in WHITESPACE])
_TRIMMED: Final = complement(union([sequence([_SPACE, ANY]), sequence([ANY, _SPACE])]))
_JOINS: Final = {"or": union, "exists": union, "and": intersection, "all": intersection}


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
}
# Functions that search folded texts: how the text is named, and how a part is folded.
_FOLDING: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "contains_ci": ("lower", str.lower),
    "substring_ci": ("fold case", fold_case),
    **dict.fromkeys(("contains_any", "contains_all", "contains_none"), ("fold", lambda part: fold(part).text)),
}


class TextCondition(NamedTuple):
    """The language of the texts for which a condition holds. `subject` names the part whose texts are meant, the node
    `at`."""

    subject: str
    language: Language
    at: int


def condition_on_text(program: Program, at: int) -> TextCondition | None:
    """The condition that a node tests on the one text that it reads; None for any other node."""
    node = program.nodes[at]
    if node.op in ("exists", "all") and len(node.value) == 1:
        items = value_of(program, node.args[0])
        bodies = [_with_item(program, node, each) for each in items] if _are_texts(items) else []
        return _joined(node.op, [condition_on_text(each, node.args[1]) for each in bodies])
    if node.op in ("and", "or"):
        return _joined(node.op, [condition_on_text(program, each) for each in node.args])
    if node.op == "not":
        inner = condition_on_text(program, node.args[0])
        return None if inner is None else TextCondition(inner.subject, complement(inner.language), inner.at)
    return _called(program, node) if node.op == "call" and len(node.args) == 2 else None


def _joined(kind: str, several: list[TextCondition | None]) -> TextCondition | None:
    found = [each for each in several if each is not None]
    if len(found) < len(several) or len({each.subject for each in found}) != 1:
        return None
    return TextCondition(found[0].subject, _JOINS[kind]([each.language for each in found]), found[0].at)


def _with_item(program: Program, loop: Node, item: Value) -> Program:
    """The program with an item in place of the loop's variable."""
    given = Node("const", (), tagged(item))
    nodes = [given if each.op == "local" and each.value == loop.value[0] else each for each in program.nodes]
    return Program(tuple(nodes), program.source, program.strict)


def _are_texts(value: Value) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)


def _called(program: Program, node: Node) -> TextCondition | None:
    name, (text, other) = str(node.value), node.args
    if name in ("_==_", "_!=_") and program.nodes[text].op == "const":
        text, other = other, text
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
    found = [holding(literal(folded(each))) for each in parts]
    language = intersection(found) if name == "contains_all" else union(found)
    subject = f"{kind}: {unabridged(extract(program, text))}"
    return TextCondition(subject, complement(language) if name == "contains_none" else language, text)


def carried(program: Program, at: int, language: Language) -> TextCondition:
    """The condition that a node's text is in a language, as one on the text that the node is made of."""
    node = program.nodes[at]
    if node.op == "call" and node.value in ("lowerAscii", "upperAscii"):
        return carried(program, node.args[0], with_cases(language, lower=node.value == "lowerAscii"))
    if node.op == "call" and node.value == "trim" and not has_assertions(language):
        around = repeated(_SPACE)
        return carried(program, node.args[0], sequence([around, intersection([language, _TRIMMED]), around]))
    return TextCondition(unabridged(extract(program, at)), language, at)
