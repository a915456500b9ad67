"""Rule: one setting for two parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import descend, entries, repeated
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.load import Scalar

KEYS: Final = ("environment", "file", "flag")


def setting_of_two_parameters(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """Two parameters have the same `environment`, `file` or `flag`.

    Why it matters: a user who sets one of them also sets the other, and can't set them apart.
    Instead: give each parameter its own name.
    """
    named = [
        (key, entry.name, written)
        for entry in entries(scorecard.node, "parameters")
        for key in KEYS
        if isinstance(written := descend(entry.value, key), Scalar) and written.value is not None
    ]
    for (key, name, written), (_, other, first) in repeated(named, lambda each: (each[0], each[2].value)):
        message = f"`{key}` sets `{other}` and `{name}`: both name `{written.value}`"
        yield error(written, message, notes=[(first, "first used here")])
