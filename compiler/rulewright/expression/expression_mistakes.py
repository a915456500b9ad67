"""The mistakes of one expression, collected while it is read."""

from __future__ import annotations

import re

from rulewright.errors import ExpressionError, ExpressionMistake

MOST = 30  # mistakes told at once; cel-go gives up there, too
UNCLOSED = "the string is never closed"
_TORN = (UNCLOSED, " closes nothing", " is never closed")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_WORD_BEFORE = re.compile(r"(?<!\w)(?!(?:and|or|in|not)\s*$)\w+\s*$")
_TEXT_GOES_ON = re.compile(r"\s*(?!(?:and|or|in)\b)[\w\"']")


def _swallowing(text: str) -> int | None:
    """Where a string begins that has taken in what is none: a word stands right before it, or a text right behind."""
    for each in _STRING.finditer(text):
        if _WORD_BEFORE.search(text[: each.start()]) or _TEXT_GOES_ON.match(text, each.end()):
            return each.start()
    return None


class Mistakes:
    """Collects the mistakes of one text."""

    __slots__ = ("found", "text")

    def __init__(self, text: str) -> None:
        """Collect for `text`."""
        self.text = text
        self.found: dict[int, ExpressionMistake] = {}

    @property
    def full(self) -> bool:
        """Whether no more are told."""
        return len(self.found) >= MOST

    def add(self, message: str, start: int, end: int, help: str | None = None) -> None:
        """Note one mistake; the first one told about a place is kept."""
        if start in self.found or self.full:
            return
        line = self.text.count("\n", 0, start) + 1
        column = start - self.text.rfind("\n", 0, start)
        self.found[start] = ExpressionMistake(message, start, max(start, end), line, column, help)

    def without_echoes(self) -> Mistakes:
        """The same, but quotes or a bracket that nothing closes alone: what they tear apart makes no sense either. Nor
        is an operator missing beside a character that stands in its place."""
        for start in [start for start, each in self.found.items() if self._is_beside_another(each)]:
            del self.found[start]
        found = list(self.found.values())
        if len(found) < 2 or not (torn := [each for each in found if each.message.endswith(_TORN)]):
            return self
        alone = Mistakes(self.text)
        first = torn[0]
        start, end = first.start, first.end
        if first.message == UNCLOSED and (opened := _swallowing(self.text)) is not None:
            start, end = opened, opened + 1
        alone.add(first.message, start, end, first.help)
        return alone

    def _is_beside_another(self, mistake: ExpressionMistake) -> bool:
        """Whether an operator is said to be missing right behind another mistake."""
        ends = [each.end for each in self.found.values() if each is not mistake and each.end <= mistake.start]
        is_beside = any(not self.text[end : mistake.start].strip() for end in ends)
        return is_beside and mistake.message.startswith(("an operator is missing", "a value is missing between"))

    def error(self) -> ExpressionError:
        """Everything noted, in source order."""
        return ExpressionError(self.text, [self.found[start] for start in sorted(self.found)])
