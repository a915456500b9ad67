"""The scorecard over test cases: metrics, settings and a label table, as a typed model with places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rulewright.documents.base import Document, descend, items, numeric, optional_text, scalar, text, value
from rulewright.load import Mapping, Node, Scalar


@dataclass(frozen=True, slots=True)
class SettingDocument:
    """A parameter, and where it can be set."""

    name: str
    type: str
    default: Scalar
    minimum: Scalar | None
    maximum: Scalar | None
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
    when: Scalar | None
    fold: str | None
    empty: Scalar
    score: Scalar
    passes: Scalar
    fails: Scalar | None
    flagged: Scalar | None
    details: tuple[tuple[str, str], ...]
    judge_prompt: Scalar | None
    judge_of: Scalar | None
    judge_counts: bool
    judge_unclear: str | None
    semantic_threshold: Scalar | None
    semantic_counts: bool


@dataclass(frozen=True, slots=True)
class LabelDocument:
    """A row of the label table."""

    label: str
    when: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class CaseScorecardDocument(Document):
    """One scorecard over cases. Expressions stay scalars, so that a mistake is shown at its exact place."""

    name: str
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
    return CaseScorecardDocument(
        node=root,
        name=text(root, "scorecard"),
        report_type=text(root, "report_type"),
        title=text(root, "title"),
        inputs=tuple((name, text(node, "from"), text(node, "type")) for name, node in _below(root, "inputs")),
        metadata=tuple(str(item.value) for item in items(root, "metadata") if isinstance(item, Scalar)),
        settings=tuple(_settings(root)),
        requires=tuple(_requires(root)),
        texts=tuple(_expressions(root, "texts")),
        metrics=tuple(_metrics(root)),
        composite=scalar(root, "composite"),
        labels=tuple(_labels(root)),
        exits=tuple(_exits(root)),
        accepted=text(root, "accepted"),
    )


def _below(node: Node, *steps: str) -> Iterator[tuple[str, Mapping]]:
    found = descend(node, *steps)
    if isinstance(found, Mapping):
        for entry in found.entries:
            if isinstance(entry.value, Mapping):
                yield entry.name, entry.value


def _expressions(node: Node, *steps: str) -> Iterator[tuple[str, Scalar]]:
    found = descend(node, *steps)
    if isinstance(found, Mapping):
        for entry in found.entries:
            if isinstance(entry.value, Scalar) and isinstance(entry.value.value, str):
                yield entry.name, entry.value


def _scalar(node: Node, key: str) -> Scalar | None:
    found = descend(node, key)
    return found if isinstance(found, Scalar) else None


def _settings(root: Mapping) -> Iterator[SettingDocument]:
    for name, node in _below(root, "parameters"):
        default = _scalar(node, "default")
        if default is not None:
            yield SettingDocument(
                name=name,
                type=text(node, "type"),
                default=default,
                minimum=numeric(node, "min"),
                maximum=numeric(node, "max"),
                environment=optional_text(node, "environment"),
                file=optional_text(node, "file"),
                flag=optional_text(node, "flag"),
                description=text(node, "description"),
            )


def _requires(root: Mapping) -> Iterator[tuple[Scalar, str]]:
    for node in items(root, "requires"):
        that = scalar(node, "that")
        if that is not None:
            yield that, text(node, "otherwise")


def _metrics(root: Mapping) -> Iterator[MetricDocument]:
    for name, node in _below(root, "metrics"):
        of, found, empty = scalar(node, "share", "of"), scalar(node, "share", "found"), descend(node, "share", "empty")
        score, passes = scalar(node, "score"), scalar(node, "passes")
        if of and found and isinstance(empty, Scalar) and score and passes:
            yield MetricDocument(
                name=name,
                node=node,
                of=of,
                found=found,
                when=scalar(node, "share", "when"),
                fold=optional_text(node, "share", "fold"),
                empty=empty,
                score=score,
                passes=passes,
                fails=scalar(node, "fails"),
                flagged=scalar(node, "flagged"),
                details=tuple((key, str(which.value)) for key, which in _expressions(node, "details")),
                judge_prompt=scalar(node, "judge", "prompt"),
                judge_of=scalar(node, "judge", "of"),
                judge_counts=value(node, "judge", "count") is True,
                judge_unclear=optional_text(node, "judge", "unclear"),
                semantic_threshold=numeric(node, "semantic", "threshold"),
                semantic_counts=value(node, "semantic", "count") is True,
            )


def _labels(root: Mapping) -> Iterator[LabelDocument]:
    for node in items(root, "labels"):
        when = scalar(node, "when")
        if when is not None:
            yield LabelDocument(text(node, "label"), when)


def _exits(root: Mapping) -> Iterator[tuple[str, int]]:
    found = descend(root, "exit")
    if isinstance(found, Mapping):
        for name in found.keys:
            status = value(found, name)
            if isinstance(status, int):
                yield name, status
