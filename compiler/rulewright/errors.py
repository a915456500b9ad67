"""The exceptions of the compiler.

An author's mistake is a `Diagnostic`, collected and sorted; these exceptions are raised where a call has no result.

    RulewrightError
    |-- ExpressionError      an expression does not parse or check; `.errors` holds every mistake with line and column
    |-- DocumentError        documents hold errors; `.diagnostics` holds them
    `-- UsageError           a command or a call was used wrongly

The runtime has its own root, `rulewright_runtime.RuntimeFailure`; `rulewright.cel.EXPECTED_ERRORS` names both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic


class RulewrightError(Exception):
    """The base class of the compiler's exceptions."""


class Reason(Enum):
    """The kind of a mistake in an expression, for callers that depend on it; most mistakes need only a message."""

    OTHER = auto()
    UNKNOWN_NAME = auto()
    UNKNOWN_FUNCTION = auto()  # or an unknown method
    UNKNOWN_VALUE = auto()  # not a member of an enum
    OPEN_TYPE = auto()  # known at run time only
    UNCLOSED_STRING = auto()  # in quotes of one character
    UNCLOSED = auto()  # a bracket or text in triple quotes that does not end, or a bracket that does not begin
    MISSING_PART = auto()  # a value or an operator between two tokens


class ExpressionMistake(Struct, frozen=True):
    """One mistake in an expression, with its position; lines and columns count from 1, columns in code points."""

    message: str
    start: int  # offset in code points into the expression's text
    end: int
    line: int
    column: int
    help: str | None = None
    reason: Reason = Reason.OTHER
    subject: str = ""  # the name of the record that lacks a field

    @classmethod
    def at(
        cls, text: str, message: str, start: int, end: int, help: str | None = None, reason: Reason = Reason.OTHER
    ) -> ExpressionMistake:
        """Create the mistake between two offsets of an expression's text."""
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        return cls(message, start, max(start, end), line, column, help, reason)


class ExpressionError(RulewrightError):
    """An expression that does not parse or check."""

    def __init__(self, text: str, errors: Sequence[ExpressionMistake]) -> None:
        """Keep the expression's `text` and its mistakes, in source order."""
        self.text = text
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.line}:{e.column}: {e.message}" for e in self.errors))


class DocumentError(RulewrightError):
    """Documents with errors."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep the diagnostics, sorted."""
        self.diagnostics = tuple(sorted(diagnostics, key=lambda each: each.sort_key))
        super().__init__("; ".join(f"{d.span.path}:{d.span.line}: {d.message}" for d in self.diagnostics[:5]))


class UsageError(RulewrightError):
    """A command or a call that was used wrongly; `messages` holds every mistake that was found."""

    def __init__(self, *messages: str) -> None:
        """Keep the messages, each once."""
        self.messages = tuple(dict.fromkeys(messages))
        super().__init__("; ".join(self.messages))
