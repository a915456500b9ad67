"""Collects the mistakes of one expression while it is parsed."""

from __future__ import annotations

import re

from rulewright.errors import ExpressionError, ExpressionMistake, Reason

MAX_MISTAKES = 30  # reported for one text; cel-go stops there, too

_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_WORD_BEFORE = re.compile(r"(?<!\w)(?!(?:and|or|in|not)\s*$|(?i:r|b|rb|br)$)\w+\s*$")
_END_OF_WORD = re.compile(r"(?<!\w)(?!(?i:r|b|rb|br)$)\w+\.?$")  # not the prefix of a string
_TEXT_AFTER = re.compile(r"\s*(?!(?:and|or|in)\b)[\w\"']")


def _overlong_string_start(text: str) -> int | None:
    """The start of a string that extends too far: a word directly before it or text directly after it shows this."""
    for match in _STRING.finditer(text):
        if _WORD_BEFORE.search(text[: match.start()]) or _TEXT_AFTER.match(text, match.end()):
            return match.start()
    return None


class Mistakes:
    """The mistakes found in one text, by their start."""

    __slots__ = ("by_start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.by_start: dict[int, ExpressionMistake] = {}

    @property
    def full(self) -> bool:
        """Whether the maximum number of mistakes is reached."""
        return len(self.by_start) >= MAX_MISTAKES

    def add(self, message: str, start: int, end: int, help: str | None = None, reason: Reason = Reason.OTHER) -> None:
        """Add one mistake; of several with the same start the first is kept."""
        if start not in self.by_start and not self.full:
            self.by_start[start] = ExpressionMistake.at(self.text, message, start, end, help, reason)

    def without_echoes(self) -> Mistakes:
        """The mistakes without those that follow from another. If a quote or bracket is unclosed, only that is left,
        since the rest of the text is misread; an operator isn't missing directly after another mistake."""
        for start in [start for start, each in self.by_start.items() if self._follows_another(each)]:
            del self.by_start[start]
        mistakes = list(self.by_start.values())
        unclosed = [each for each in mistakes if each.reason in (Reason.UNCLOSED, Reason.UNCLOSED_STRING)]
        if not unclosed:
            return self
        only = Mistakes(self.text)
        first = unclosed[0]
        start, end, message, help = first.start, first.end, first.message, first.help
        if first.reason is Reason.UNCLOSED_STRING:
            if len(mistakes) > 1 and (opened := _overlong_string_start(self.text)) is not None:
                start, end = opened, opened + 1
            if _END_OF_WORD.search(self.text[:start]):
                end, quote = start + 1, self.text[start]
                message = f"`{quote}` closes nothing"
                help = f"write `{quote}` before the text that it ends, or remove it"
        only.add(message, start, end, help, first.reason)
        return only

    def _follows_another(self, mistake: ExpressionMistake) -> bool:
        """Whether the mistake is a missing value or operator directly after another mistake."""
        if mistake.reason is not Reason.MISSING_PART:
            return False
        ends = [each.end for each in self.by_start.values() if each is not mistake and each.end <= mistake.start]
        return any(not self.text[end : mistake.start].strip() for end in ends)

    def error(self) -> ExpressionError:
        """The error with all mistakes, in source order."""
        return ExpressionError(self.text, [self.by_start[start] for start in sorted(self.by_start)])
