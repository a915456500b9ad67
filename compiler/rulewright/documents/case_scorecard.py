"""The scorecard over test cases: metrics, settings and a label table, as a typed model with places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from rulewright.documents.base import Document, any_scalar, descend, items, numeric, scalar, text, value
from rulewright.documents.typed_reader import At, entries_of, expressions_in, mappings_in, read
from rulewright.load import Mapping, Scalar


@dataclass(frozen=True, slots=True)
class SettingDocument:
    """A parameter, and where it can be set."""

    name: str
    type: str
    default: Scalar
    minimum: Annotated[Scalar | None, At("min", by=numeric)]
    maximum: Annotated[Scalar | None, At("max", by=numeric)]
    environment: str | None
    file: str | None
    flag: str | None
    description: str


@dataclass(frozen=True, slots=True)
class MetricDocument:
    """One metric; `node` is its mapping."""

    name: str
    node: Mapping
    of: Scalar
    found: Scalar
    when: Annotated[Scalar | None, At("share", "when")]
    fold: Annotated[str | None, At("share", "fold")]
    empty: Scalar
    score: Scalar
    passes: Scalar
    fails: Scalar | None
    flagged: Scalar | None
    details: tuple[tuple[str, str], ...]
    judge_prompt: Annotated[Scalar | None, At("judge", "prompt")]
    judge_of: Annotated[Scalar | None, At("judge", "of")]
    judge_counts: Annotated[bool, At("judge", "count")]
    judge_unclear: Annotated[str | None, At("judge", "unclear")]
    semantic_threshold: Annotated[Scalar | None, At("semantic", "threshold", by=numeric)]
    semantic_counts: Annotated[bool, At("semantic", "count")]


@dataclass(frozen=True, slots=True)
class LabelDocument:
    """A row of the label table."""

    label: str
    when: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class CaseScorecardDocument(Document):
    """One scorecard over cases. Expressions stay scalars, so that a mistake is shown at its exact place."""

    name: Annotated[str, At("scorecard")]
    report_type: str
    title: str
    inputs: tuple[tuple[str, str, str], ...]  # name, path, type
    metadata: tuple[str, ...]
    settings: tuple[SettingDocument, ...]
    requires: tuple[tuple[Scalar, str], ...]
    texts: tuple[tuple[str, Scalar], ...]
    metrics: tuple[MetricDocument, ...]
    composite: Scalar | None
    labels: tuple[LabelDocument, ...]
    exits: tuple[tuple[str, int], ...]
    accepted: str


def read_case_scorecard(root: Mapping) -> CaseScorecardDocument:
    """The model of a scorecard over cases; what is missing or of a wrong type reads as absent."""
    return read(
        CaseScorecardDocument,
        root,
        inputs=tuple((name, text(node, "from"), text(node, "type")) for name, node in mappings_in(root.get("inputs"))),
        metadata=tuple(str(item.value) for item in items(root, "metadata") if isinstance(item, Scalar)),
        settings=tuple(_settings(root)),
        requires=tuple(_requires(root)),
        texts=tuple(expressions_in(root.get("texts"))),
        metrics=tuple(_metrics(root)),
        labels=tuple(_labels(root)),
        exits=tuple(_exits(root)),
    )


def _settings(root: Mapping) -> Iterator[SettingDocument]:
    for name, node in mappings_in(root.get("parameters")):
        default = any_scalar(node.get("default"))
        if default is not None:
            yield read(SettingDocument, node, name=name, default=default)


def _requires(root: Mapping) -> Iterator[tuple[Scalar, str]]:
    for node in items(root, "requires"):
        that = scalar(node, "that")
        if that is not None:
            yield that, text(node, "otherwise")


def _metrics(root: Mapping) -> Iterator[MetricDocument]:
    for name, node in mappings_in(root.get("metrics")):
        of, found, empty = scalar(node, "share", "of"), scalar(node, "share", "found"), descend(node, "share", "empty")
        score, passes = scalar(node, "score"), scalar(node, "passes")
        if of and found and isinstance(empty, Scalar) and score and passes:
            details = tuple((key, str(which.value)) for key, which in expressions_in(node.get("details")))
            yield read(
                MetricDocument,
                node,
                name=name,
                node=node,
                of=of,
                found=found,
                empty=empty,
                score=score,
                passes=passes,
                details=details,
            )


def _labels(root: Mapping) -> Iterator[LabelDocument]:
    for node in items(root, "labels"):
        when = scalar(node, "when")
        if when is not None:
            yield LabelDocument(text(node, "label"), when)


def _exits(root: Mapping) -> Iterator[tuple[str, int]]:
    for name, node in entries_of(root.get("exit")):
        status = value(node)
        if isinstance(status, int):
            yield name, status
