"""The scorecard over test cases: metrics, settings and a label table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rulewright.documents.base import Document, any_scalar, items, numeric, scalar, text, value
from rulewright.documents.scorecard import ParameterDocument
from rulewright.documents.typed_reader import At, Key, entries_of, mappings_in, read
from rulewright.load import Mapping, Node, Scalar


@dataclass(frozen=True, slots=True)
class SettingDocument(ParameterDocument):
    """A parameter, and the names under which it can be set."""

    environment: str | None
    file: str | None
    flag: str | None
    description: str


@dataclass(frozen=True, slots=True)
class MetricDocument:
    """One metric; `node` is its mapping."""

    name: Key
    node: Mapping
    of: Annotated[Scalar, At("share", "of")]
    found: Annotated[Scalar, At("share", "found")]
    when: Annotated[Scalar | None, At("share", "when")]
    fold: Annotated[str | None, At("share", "fold")]
    empty: Annotated[Scalar, At("share", "empty", by=any_scalar)]
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
    """One scorecard over cases. Expressions are kept as scalars, so that findings have exact spans."""

    name: Annotated[str, At("scorecard")]
    report_type: str
    title: str
    inputs: Annotated[tuple[tuple[str, str, str], ...], At(by=_inputs)]  # name, path, type
    metadata: Annotated[tuple[str, ...], At(by=_metadata)]
    settings: Annotated[tuple[SettingDocument, ...], At("parameters")]
    requires: Annotated[tuple[tuple[Scalar, str], ...], At(by=_requires)]
    texts: tuple[tuple[str, Scalar], ...]
    metrics: tuple[MetricDocument, ...]
    composite: Scalar | None
    labels: tuple[LabelDocument, ...]
    exits: Annotated[tuple[tuple[str, int], ...], At("exit", by=_exits)]
    accepted: str


def read_case_scorecard(root: Mapping) -> CaseScorecardDocument:
    """The model of a scorecard over cases; missing values and values of a wrong type read as absent."""
    return read(CaseScorecardDocument, root)


def _inputs(node: Node | None) -> tuple[tuple[str, str, str], ...]:
    return tuple((name, text(each, "from"), text(each, "type")) for name, each in mappings_in(node))


def _metadata(node: Node | None) -> tuple[str, ...]:
    return tuple(str(item.value) for item in items(node) if isinstance(item, Scalar))


def _requires(node: Node | None) -> tuple[tuple[Scalar, str], ...]:
    return tuple((that, text(each, "otherwise")) for each in items(node) if (that := scalar(each, "that")) is not None)


def _exits(node: Node | None) -> tuple[tuple[str, int], ...]:
    return tuple((name, status) for name, each in entries_of(node) if isinstance(status := value(each), int))
