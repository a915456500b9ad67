"""The scoring file (default units of analysis, gates, dimensions and their weights) and the prices of judges."""

from __future__ import annotations

from dataclasses import dataclass

from rulewright.documents.base import Document, descend, entries, items, texts
from rulewright.load import Mapping, Scalar, plain
from rulewright_runtime.strict_json import JsonObject


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
    units = plain(descend(node, "unit_of_analysis_by_bucket"))
    gates = [entry.value for entry in entries(node, "gates")]
    return Scoring(
        node,
        {key: unit for key, unit in units.items() if isinstance(unit, str)} if isinstance(units, dict) else {},
        frozenset(bucket for gate in gates for bucket in texts(gate, "mode_buckets")),
        frozenset(severity for gate in gates for severity in texts(gate, "hard_fail_on_severity")),
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
