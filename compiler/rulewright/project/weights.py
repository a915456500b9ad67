"""The weights of a document that are summed together: of dimensions, or of a confidence loop's metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rulewright.documents.base import entries, numeric
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar
from rulewright.project import Project


def weights_of(document: ScorecardDocument | TaskDocument | Project) -> list[tuple[str, Scalar]]:
    """Return the weights that are finite numbers, each with the name of its dimension or metric; of a project those of
    its scoring file."""
    return [(name, scalar) for name, scalar in _weight_scalars(document) if _is_weight(scalar)]


def _is_weight(scalar: Scalar | None) -> bool:
    number = None if scalar is None else scalar.value
    return isinstance(number, (int, float)) and not isinstance(number, bool) and math.isfinite(number)


def _weight_scalars(document: ScorecardDocument | TaskDocument | Project) -> Iterator[tuple[str, Scalar]]:
    if isinstance(document, ScorecardDocument):
        weights = [(rate.name, rate.weight) for rate in document.dimensions]
    elif isinstance(document, TaskDocument):
        metrics = document.metrics if document.on("confidence_loop") is not None else ()
        weights = [(metric.type, numeric(metric.node, "weight")) for metric in metrics]
    else:
        dimensions = entries(document.scoring.node, "quality_dimensions") if document.scoring else ()
        weights = [(entry.name, numeric(entry.value, "weight")) for entry in dimensions]
    yield from ((name, scalar) for name, scalar in weights if scalar is not None)
