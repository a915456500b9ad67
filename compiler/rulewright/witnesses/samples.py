"""Generates texts that a regular expression may match; callers must test them."""

from __future__ import annotations

import re
from itertools import islice, product
from typing import Final

MOST: Final = 24
_NOTHING: Final = frozenset("bBAzZ")
_LETTERS: Final = {"d": "5", "D": "a", "w": "a", "W": " ", "s": " ", "S": "a", "n": "\n", "t": "\t", "r": "\r"}
_GROUP: Final = re.compile(r"\?(?:P?<\w+>|[a-zA-Z]*(?:-[a-zA-Z]+)?:)")
_FLAGS: Final = re.compile(r"\?[a-zA-Z]*(?:-[a-zA-Z]+)?\)")
_REPEAT: Final = re.compile(r"([*+?]|\{(\d+)(?:,\d*)?\})[?+]?")
_CODE: Final = re.compile(r"x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))|[pP](?:\{\^?\w+\}|\w)")


def samples(expression: str) -> list[str]:
    """At most `MOST` texts, most of which the expression matches; none for an invalid expression."""
    try:
        return list(dict.fromkeys(_Samples(expression).alternatives()))[:MOST]
    except IndexError:
        return []


class _Samples:
    """Parses an expression from left to right."""

    def __init__(self, expression: str) -> None:
        self.rest = expression

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.rest)
        if found is not None:
            self.rest = self.rest[found.end() :]
        return found

    def alternatives(self) -> list[str]:
        """The texts of everything up to the end of the group."""
        found = self.sequence()
        while self.rest.startswith("|"):
            self.rest = self.rest[1:]
            found = [*found[: MOST // 2], *self.sequence()]
        return found

    def sequence(self) -> list[str]:
        found = [""]
        while self.rest and self.rest[0] not in "|)":
            part = self.repeated(self.atom())
            found = ["".join(pair) for pair in islice(product(found, part), MOST)]
        return found

    def repeated(self, part: list[str]) -> list[str]:
        repeat = self.take(_REPEAT)
        if repeat is None:
            return part
        if repeat[2] is not None:
            return [each * int(repeat[2][:3]) for each in part] if int(repeat[2]) else ["", *part]
        several = [*part, *(2 * each for each in part[:1])]
        return several if repeat[1] == "+" else [*part, ""] if repeat[1] == "?" else [*several, ""]

    def atom(self) -> list[str]:
        here, self.rest = self.rest[0], self.rest[1:]
        if here == "(":
            if self.take(_FLAGS):
                return [""]
            self.take(_GROUP)
            found = self.alternatives()
            self.rest = self.rest[1:]
            return found
        if here == "[":
            return self.members()
        if here == "\\":
            return [self.escaped()]
        return {"^": [""], "$": [""], ".": ["x", " "]}.get(here, [here])

    def escaped(self) -> str:
        if code := self.take(_CODE):
            digits = code[1] or code[2]
            return chr(int(digits, 16)) if digits and int(digits, 16) < 0x110000 else "a"
        here, self.rest = self.rest[0], self.rest[1:]
        return "" if here in _NOTHING else _LETTERS.get(here, here)

    def members(self) -> list[str]:
        """One text for each of the first members of a character class, or a non-member of a negated one."""
        is_negated = self.rest.startswith("^")
        self.rest = self.rest[is_negated:]
        found: list[str] = []
        while not self.rest.startswith("]") or not found:
            here, self.rest = self.rest[0], self.rest[1:]
            found.append(self.escaped() if here == "\\" else here)
        self.rest = self.rest[1:]
        return [each for each in ("a", " ", "5", "!") if each not in found] if is_negated else found[:4]
