"""Rule: one setting for two parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.case_scorecard import CaseScorecardDocument
from rulewright.load import Mapping, Scalar

KEYS: Final = ("environment", "file", "flag")


def setting_of_two_parameters(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """Two parameters have the same `environment`, `file` or `flag`.

    Why it matters: a user who sets one of them also sets the other, and can't set them apart.
    Instead: give each parameter its own name.
    """
    parameters = scorecard.get("parameters")
    seen: dict[tuple[str, object], tuple[str, Scalar]] = {}
    for entry in parameters.entries if isinstance(parameters, Mapping) else ():
        for key in KEYS:
            written = entry.value.get(key) if isinstance(entry.value, Mapping) else None
            if not isinstance(written, Scalar) or written.value is None:
                continue
            other, first = seen.setdefault((key, written.value), (entry.name, written))
            if first is not written:
                message = f"`{key}` sets `{other}` and `{entry.name}`: both name `{written.value}`"
                yield error(written, message, notes=[(first, "first used here")])
