"""Compares the numbers in expected phrases with those in the text of their case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.load import Node, Scalar, walk
from rulewright.spelling import is_slip_of

TOKEN: Final = re.compile(r"\d(?:[\d.,:]*\d)?(?!\w)|\w+")
MOST_PLACES: Final = 20  # at which a phrase is compared with the words of a case


def other_numbers(phrases: Sequence[Node], texts: Sequence[Node]) -> Findings:
    """The findings for phrases that the texts have with another number: with its digits in another order, or one
    differing."""
    written = [_tokens(each) for part in texts for each in walk(part)] if any(map(_has_number, phrases)) else []
    tokens = [token for each in written for token in (*each, "")]
    shapes = [_shape(each) for each in tokens]
    places: dict[tuple[str, ...], list[int]] = {}
    for start, pair in enumerate(pairwise(shapes)):
        places.setdefault(pair, []).append(start)
    for item in phrases:
        phrase = _tokens(item)
        shape = [_shape(each) for each in phrase]
        starts = places.get(tuple(shape[:2]), []) if "#" in shape else []
        found = [tokens[at : at + len(shape)] for at in starts[:MOST_PLACES] if shapes[at : at + len(shape)] == shape]
        near = next((each for each in found if _differ_by_a_slip(phrase, each)), None)
        if near is not None and phrase not in found and len(starts) <= MOST_PLACES:
            message = f"the case has `{' '.join(near)}`, and not `{' '.join(phrase)}`"
            yield warning(item, message, code="bad-case")


def _tokens(node: Node) -> list[str]:
    return TOKEN.findall(str(node.value).lower()) if isinstance(node, Scalar) else []


def _has_number(node: Node) -> bool:
    return any(_shape(each) == "#" for each in _tokens(node))


def _shape(token: str) -> str:
    """A token with the place of a number left open."""
    return "#" if token[:1].isdigit() and token[-1:].isdigit() else token


def _differ_by_a_slip(phrase: list[str], other: list[str]) -> bool:
    """Whether the only number that differs has the same digits, or several of which one differs."""
    differing = [pair for pair in zip(phrase, other, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    one, two = (re.sub(r"\D", "", each) for each in differing[0])
    return sorted(one) == sorted(two) or (min(len(one), len(two)) > 1 and is_slip_of(one, two))
