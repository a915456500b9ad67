"""How large a value may grow while an expression runs: an error, never a full memory or a hang."""

from __future__ import annotations

from typing import Final

from rulewright_runtime.errors import EvaluationError

MAX_TEXT: Final = 10_000_000  # code points or bytes
MAX_LIST: Final = 1_000_000
MAX_STEPS: Final = 3_000_000  # of nested loops, and of functions that compare every element with every other


def check_text(length: int) -> None:
    """Refuse a text or bytes of that length, before it is made."""
    if length > MAX_TEXT:
        raise EvaluationError(f"a text would be longer than {MAX_TEXT}", "limit")


def check_list(length: int) -> None:
    """Refuse a list of that length, before it is made."""
    if length > MAX_LIST:
        raise EvaluationError(f"a list would be longer than {MAX_LIST}", "limit")


def check_steps(steps: int) -> None:
    """Refuse work of that many steps."""
    if steps > MAX_STEPS:
        raise EvaluationError(f"more than {MAX_STEPS} steps", "limit")
