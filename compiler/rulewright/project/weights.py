"""The weights that stand beside each other in a document: of dimensions, or of the metrics of a confidence loop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.documents.base import descend, numeric
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Mapping, Scalar

if TYPE_CHECKING:
    from rulewright.project import Project


def weights_of(document: ScorecardDocument | TaskDocument | Project) -> list[tuple[str, Scalar]]:
    """The weights that are written as finite numbers, each with the name of what it weighs; of a project those of its
    scoring file."""
    return [(name, scalar) for name, scalar in _written(document) if _is_weight(scalar)]


def _is_weight(scalar: Scalar | None) -> bool:
    number = None if scalar is None else scalar.value
    return isinstance(number, (int, float)) and not isinstance(number, bool) and math.isfinite(number)


def _written(document: ScorecardDocument | TaskDocument | Project) -> Iterator[tuple[str, Scalar]]:
    if isinstance(document, ScorecardDocument):
        found = [(rate.name, rate.weight) for rate in document.dimensions]
    elif isinstance(document, TaskDocument):
        metrics = document.metrics if document.on("confidence_loop") is not None else ()
        found = [(metric.type, numeric(metric.node, "weight")) for metric in metrics]
    else:
        below = descend(document.scoring.node, "quality_dimensions") if document.scoring else None
        entries = below.entries if isinstance(below, Mapping) else ()
        found = [(entry.name, numeric(entry.value, "weight")) for entry in entries]
    yield from ((name, scalar) for name, scalar in found if scalar is not None)
