"""The weights of a document that are summed together: of dimensions, criteria, or a confidence loop's metrics."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, TypeAlias

from rulewright.documents.base import entries, numeric
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar
from rulewright.project import Project

WEIGHTED: Final = re.compile(r"\bwmean\(\[[^\]]*\], *\[([\w, ]*)\]\)")
NAME: Final = re.compile(r"\w+")
Weighing: TypeAlias = "CaseScorecardDocument | ScorecardDocument | ScenarioDocument | TaskDocument | Project"


def weights_of(document: Weighing) -> list[tuple[str, float, Scalar]]:
    """Return the weights that are finite numbers, each with the name of its dimension, criterion or metric and its
    scalar; of a project those of its scoring file."""
    found = [(name, _number(scalar), scalar) for name, scalar in _weight_scalars(document)]
    return [(name, number, scalar) for name, number, scalar in found if number is not None]


def _number(scalar: Scalar) -> float | None:
    """The number that a scalar is, or that an expression in it consists of."""
    with suppress(ValueError):
        number = math.nan if isinstance(scalar.value, bool) else scalar.as_float
        return number if math.isfinite(number) else None
    return None


def _weight_scalars(document: Weighing) -> Iterator[tuple[str, Scalar]]:
    if isinstance(document, ScorecardDocument):
        weights = [(rate.name, rate.weight) for rate in document.dimensions]
    elif isinstance(document, ScenarioDocument):
        criteria = [each for turn in document.turns for each in turn.rubric if each.kind != "autofail"]
        weights = [(each.id, numeric(each.node, "weight")) for each in criteria]
    elif isinstance(document, CaseScorecardDocument):
        listed = None if document.composite is None else WEIGHTED.search(document.composite.text)
        names = [] if listed is None else NAME.findall(listed[1])
        weights = [(each.name, numeric(each.default)) for each in document.settings if each.name in names]
    elif isinstance(document, TaskDocument):
        metrics = document.metrics if document.on("confidence_loop") is not None else ()
        weights = [(metric.type, numeric(metric.node, "weight")) for metric in metrics]
    else:
        dimensions = entries(document.scoring.node, "quality_dimensions") if document.scoring else ()
        weights = [(entry.name, numeric(entry.value, "weight")) for entry in dimensions]
    yield from ((name, scalar) for name, scalar in weights if scalar is not None)
