"""Rule: a weight of 0."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.workflow import TaskDocument
from rulewright.project.weights import weights_of


def weight_of_zero(task: TaskDocument) -> Iterator[Diagnostic]:
    """A metric of a confidence loop has the weight 0, but others do not.

    Why it matters: it is measured, but never changes the confidence.
    Instead: give it a weight above 0, or remove it.
    """
    weights = weights_of(task)
    if any(float(str(scalar.value)) > 0 for _, scalar in weights):  # where all are 0, other findings say so
        for name, scalar in weights:
            if float(str(scalar.value)) == 0:
                yield warning(scalar, f"`{name}` has the weight 0, so it never counts")
