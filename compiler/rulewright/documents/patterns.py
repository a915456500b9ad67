"""What is wrong with a regular expression, at the part of it that RE2 refuses."""

from __future__ import annotations

import re
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.load import Scalar, place
from rulewright_runtime.errors import PlanError

_LOOK_AROUND: Final = re.compile(r"\(\?<?[=!]")
_BACK_REFERENCE: Final = re.compile(r"\\[1-9]")
_HELP: Final = (
    (_LOOK_AROUND, "RE2 has no look-around: list what may stand there, or use a second pattern"),
    (_BACK_REFERENCE, "RE2 has no back-references: write the alternatives out"),
)


def invalid_regex(scalar: Scalar) -> Diagnostic | None:
    """The finding that RE2 refuses the expression in `scalar`; None where it takes it."""
    from rulewright_runtime.matching.regex import compile_regex  # only documents with expressions pay for the engine

    pattern = str(scalar.value)
    try:
        compile_regex(pattern)
    except PlanError as failure:
        reason = str(failure).partition("` is refused: ")[2]
        help = next((help for part, help in _HELP if part.search(pattern)), None)
        message = f"RE2 refuses the regular expression `{pattern}`: {reason}"
        start, end = _refused(pattern, reason)
        return error(place(scalar, start, end), message, code="invalid-regex", help=help)
    return None


def _refused(pattern: str, reason: str) -> tuple[int, int]:
    """Where the part stands that the engine names at the end of its reason; the whole pattern where it names none."""
    for found in (part.search(pattern) for part, _ in _HELP):
        if found is not None:
            return found.span()
    named = reason.rpartition(": ")[2]
    start = pattern.find(named) if named else -1
    return (start, start + len(named)) if start >= 0 else (0, len(pattern))
