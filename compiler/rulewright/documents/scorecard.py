"""The scorecard document: what an author may write under `scorecard:`, as a typed model with places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic, Span
    from rulewright.load import Node, Scalar


@dataclass(frozen=True, slots=True)
class ParameterDocument:
    """A declared setting: type, default and bounds as written."""

    name: str
    type: str
    default: Scalar
    minimum: Scalar | None
    maximum: Scalar | None
    span: Span


@dataclass(frozen=True, slots=True)
class GateDocument:
    """`gates: {name: {of, stops, undecided, empty: {not_eligible, not_run}}}`."""

    name: str
    of: Scalar
    stops: Scalar
    undecided: Scalar
    not_eligible: str
    not_run: str


@dataclass(frozen=True, slots=True)
class DimensionDocument:
    """`dimensions: {name: {rate|every: {of, hit, miss, exclude, error, empty}, weight}}`."""

    name: str
    kind: str
    of: Scalar
    hit: tuple[str, ...]
    miss: tuple[str, ...]
    exclude: tuple[str, ...]
    error: str
    empty: Scalar
    weight: Scalar | None
    span: Span


@dataclass(frozen=True, slots=True)
class ListDocument:
    """`lists: {name: {of, each: {field: expression}}}`."""

    name: str
    of: Scalar
    each: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class ScorecardDocument:
    """One scorecard file. Expressions stay scalars, so that a mistake is shown at its exact place."""

    name: str
    span: Span
    parameters: tuple[ParameterDocument, ...]
    gates: tuple[GateDocument, ...]
    dimensions: tuple[DimensionDocument, ...]
    counts: tuple[tuple[str, Scalar], ...]
    lists: tuple[ListDocument, ...]
    variables: tuple[tuple[str, Scalar], ...]
    output: tuple[tuple[str, Scalar], ...]


def read_scorecard(root: Node | None) -> tuple[ScorecardDocument | None, list[Diagnostic]]:
    """The document of a loaded scorecard file, or None with the diagnostics that say why not."""
    raise NotImplementedError
