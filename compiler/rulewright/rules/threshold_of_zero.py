"""Rule: a threshold of 0 or nearly 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar

LEAST: Final = 0.1


def threshold_of_zero(document: ScorecardDocument | TaskDocument) -> Iterator[Diagnostic]:
    """A confidence threshold, a bound of coverage or a minimum of resolved checks is 0, or below a tenth.

    Why it matters: nothing is below 0, so the loop ends, the gate passes and the row is valid whatever was measured.
    A decimal point in the wrong place (`0.095`) has nearly the same effect.
    Instead: write the share that is required, or remove the key or the overlay.
    """
    for name, scalar in _thresholds(document):
        if isinstance(scalar.value, (int, float)) and not isinstance(scalar.value, bool) and 0 <= scalar.value < LEAST:
            met = "every score meets" if scalar.value == 0 else "nearly every score meets"
            yield warning(scalar, f"{met} a `{name}` of {scalar.raw}")


def _thresholds(document: ScorecardDocument | TaskDocument) -> Iterator[tuple[str, Scalar]]:
    """The thresholds, each with the name of its key or parameter."""

    found: list[tuple[str, Scalar | None]]
    if isinstance(document, ScorecardDocument):
        written = document.minimum_coverage
        named = None if written is None else str(written.value)
        defaults = [(each.name, each.default) for each in document.parameters if each.name == named]
        found = [("coverage.minimum", written), *defaults]
    else:
        loop, gate = document.on("confidence_loop"), document.on("policy_gate")
        found = [
            ("threshold", None if loop is None else loop.number("threshold")),
            ("coverage_threshold", None if gate is None else gate.number("coverage_threshold")),
        ]
    yield from ((name, scalar) for name, scalar in found if scalar is not None)
