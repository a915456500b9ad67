"""The exceptions of the compiler side.

What an author wrote wrongly is a `Diagnostic`, collected and sorted; these are raised where a caller asked for one
answer and there is none.

    RulewrightError
    |-- ExpressionError      an expression does not parse or check; `.errors` holds every mistake with line and column
    |-- DocumentError        documents hold errors; `.diagnostics` holds them
    `-- UsageError           a command or a call was used wrongly

The runtime has its own root, `rulewright_runtime.RuntimeFailure`; `rulewright.cel.EXPECTED_ERRORS` names both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic


class RulewrightError(Exception):
    """The root of everything the compiler raises on purpose."""


class Reason(Enum):
    """What is wrong in an expression, for callers that act on it; most mistakes need no more than their words."""

    OTHER = auto()
    UNKNOWN_NAME = auto()
    UNKNOWN_FUNCTION = auto()  # or an unknown method
    UNKNOWN_VALUE = auto()  # no member of an enum


@dataclass(frozen=True, slots=True)
class ExpressionMistake:
    """One mistake in an expression: `message`, and where; lines and columns count from 1, columns in code points."""

    message: str
    start: int  # offset in code points into the expression's text
    end: int
    line: int
    column: int
    help: str | None = None
    reason: Reason = Reason.OTHER


class ExpressionError(RulewrightError):
    """An expression that does not parse or check."""

    def __init__(self, text: str, errors: Sequence[ExpressionMistake]) -> None:
        """Keep the author's `text` and every mistake found in it, in source order."""
        self.text = text
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.line}:{e.column}: {e.message}" for e in self.errors))


class DocumentError(RulewrightError):
    """Documents that hold errors."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Keep every diagnostic, sorted as given."""
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.span.path}:{d.span.line}: {d.message}" for d in self.diagnostics[:5]))


class UsageError(RulewrightError):
    """A command or a call that was used wrongly."""
