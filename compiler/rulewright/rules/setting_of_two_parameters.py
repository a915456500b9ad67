"""Rule: one setting for two parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import descend, entries
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.load import Scalar

KEYS: Final = ("environment", "file", "flag")


def setting_of_two_parameters(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """Two parameters have the same `environment`, `file` or `flag`.

    Why it matters: a user who sets one of them also sets the other, and can't set them apart.
    Instead: give each parameter its own name.
    """
    seen: dict[tuple[str, object], tuple[str, Scalar]] = {}
    for entry in entries(scorecard.node, "parameters"):
        for key in KEYS:
            written = descend(entry.value, key)
            if not isinstance(written, Scalar) or written.value is None:
                continue
            other, first = seen.setdefault((key, written.value), (entry.name, written))
            if first is not written:
                message = f"`{key}` sets `{other}` and `{entry.name}`: both name `{written.value}`"
                yield error(written, message, notes=[(first, "first used here")])
