"""The scoring file (default units of analysis, gates, dimensions and their weights) and the prices of judges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rulewright.documents.base import Document, descend, items, numeric, texts
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Mapping, Scalar, plain
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from rulewright.project import Project


@dataclass(frozen=True, slots=True, eq=False)
class Scoring(Document):
    """A scoring file. Scorecards read all other keys as plain data through `fields`."""

    unit_by_bucket: dict[str, str]
    gate_buckets: frozenset[str]
    gate_severities: frozenset[str]

    @property
    def fields(self) -> JsonObject:
        """All keys of the document as plain data."""
        written: JsonObject = plain(self.node)
        return written


def read_scoring(node: Mapping) -> Scoring:
    """The model of a scoring file's mapping."""
    units = descend(node, "unit_of_analysis_by_bucket")
    gates = descend(node, "gates")
    each = [entry.value for entry in gates.entries] if isinstance(gates, Mapping) else []
    return Scoring(
        node,
        {key: unit for key, unit in plain(units).items() if isinstance(unit, str)}
        if isinstance(units, Mapping)
        else {},
        frozenset(bucket for gate in each for bucket in texts(gate, "mode_buckets")),
        frozenset(severity for gate in each for severity in texts(gate, "hard_fail_on_severity")),
    )


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars per million tokens."""

    input: float
    output: float


def read_pricing(node: Mapping) -> dict[str, ModelPrice]:
    """Prices by model; entries that are not a pair of numbers are skipped."""
    prices = {}
    for entry in node.entries:
        pair = [item.value for item in items(entry.value) if isinstance(item, Scalar)]
        numbers = [float(n) for n in pair if isinstance(n, (int, float)) and not isinstance(n, bool)]
        if len(numbers) == 2:
            prices[entry.name] = ModelPrice(*numbers)
    return prices


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
        dimensions = descend(document.scoring.node, "quality_dimensions") if document.scoring else None
        entries = dimensions.entries if isinstance(dimensions, Mapping) else ()
        weights = [(entry.name, numeric(entry.value, "weight")) for entry in entries]
    yield from ((name, scalar) for name, scalar in weights if scalar is not None)
