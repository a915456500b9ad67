"""The scorecards: over verdicts, which become gates, rates, flags and scores, and over test cases, which get labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Findings, Guess, error
from rulewright.documents.base import Document, any_scalar, descend, items, numeric, scalar, text, value
from rulewright.documents.typed_reader import At, Key, as_meant, entries_of, expressions_in, mappings_in, read
from rulewright.load import Mapping, Node, Scalar
from rulewright_runtime.aggregate.outcome import RESERVED
from rulewright_runtime.plan.part import VERDICTS

ROOTS: Final = (
    "v", "scoring", "gates", "undecided", "dimensions", "weights", "rates", "counts", "lists", "flags", "verdicts",
)  # fmt: skip


class ParameterDocument(Struct, frozen=True):
    """A declared setting: type, default and bounds as written."""

    name: Key
    type: str
    default: Annotated[Scalar, At(by=any_scalar)]
    minimum: Annotated[Scalar | None, At("min", by=numeric)]
    maximum: Annotated[Scalar | None, At("max", by=numeric)]


class GateDocument(Struct, frozen=True):
    """A gate; `not_eligible` and `not_run` are its results without an eligible verdict, `left_out` the meaning of a
    check that applies and that the profile does not run, `pass_rate` the share of a run that must pass it."""

    name: Key
    of: Scalar
    stops: Scalar
    undecided: Scalar
    not_eligible: Annotated[str, At("empty", "not_eligible")]
    not_run: Annotated[str, At("empty", "not_run")]
    left_out: Annotated[str, At(usual="open")]
    pass_rate: Annotated[Scalar | None, At(by=any_scalar)]


class RateDocument(Struct, frozen=True):
    """A structured aggregate; `kind` is `rate` or `every`; only dimensions have a weight."""

    name: Key
    kind: str
    of: Scalar
    hit: tuple[str, ...]
    miss: tuple[str, ...]
    exclude: tuple[str, ...]
    error: str
    empty: Scalar
    weight: Scalar | None
    credit: Scalar | None


class ListDocument(Struct, frozen=True):
    """A list of records of the verdicts that meet a condition."""

    name: Key
    of: Scalar
    each: tuple[tuple[str, Scalar], ...]


class ScorecardDocument(Document, frozen=True, eq=False):
    """One scorecard file. Expressions are kept as scalars, so that findings have exact spans."""

    name: Annotated[str, At("scorecard")]
    parameters: tuple[ParameterDocument, ...]
    gates: tuple[GateDocument, ...]
    minimum_coverage: Annotated[Scalar | None, At("coverage", "minimum", by=any_scalar)]
    dimensions: tuple[RateDocument, ...]
    rates: tuple[RateDocument, ...]
    counts: tuple[tuple[str, Scalar], ...]
    lists: tuple[ListDocument, ...]
    raised: Annotated[tuple[str, ...], At("flags", "raised")]
    clear: Annotated[tuple[str, ...], At("flags", "clear")]
    unknown: Annotated[tuple[str, ...], At("flags", "unknown")]
    variables: Annotated[tuple[tuple[str, Scalar], ...], At(by=_variables)]
    output: tuple[tuple[str, Scalar], ...]
    headline: Scalar | None
    label: Scalar | None

    def shows(self, output: str) -> bool:
        """Whether an output is the headline of reports."""
        return self.headline is not None and self.headline.value == output


def read_scorecard(root: Node | None) -> tuple[ScorecardDocument | None, list[Diagnostic]]:
    """The model of a scorecard, and the findings that its schema can't express: verdicts without a meaning, duplicate
    names. Missing values and values of a wrong type read as absent; None if the root is not a mapping.
    """
    if not isinstance(root, Mapping):
        return None, []
    root = as_meant(root, "scorecard")
    document = read(
        ScorecardDocument, root, dimensions=tuple(_rates(root, "dimensions")), rates=tuple(_rates(root, "rates"))
    )
    return document, [*_meanings(document), *_names(document)]


def _variables(node: Node | None) -> tuple[tuple[str, Scalar], ...]:
    return tuple(pair for item in items(node) for pair in expressions_in(item))


def _rates(root: Mapping, key: str) -> Iterator[RateDocument]:
    for name, node in mappings_in(root.get(key)):
        for kind in ("rate", "every"):
            of, empty = scalar(node, kind, "of"), descend(node, kind, "empty")
            if of and isinstance(empty, Scalar):
                below, weight = node.get(kind), any_scalar(node.get("weight"))
                yield read(RateDocument, below, name=name, kind=kind, of=of, empty=empty, weight=weight)
                break


def _meanings(document: ScorecardDocument) -> Findings:
    for key in ("dimensions", "rates"):
        for rate in getattr(document, key):
            yield from _partition(document, (key, rate.name, rate.kind), ("hit", "miss", "exclude"))
    if document.get("flags") is not None:
        yield from _partition(document, ("flags",), ("raised", "clear", "unknown"))


def _partition(document: ScorecardDocument, steps: tuple[str, ...], lists: tuple[str, ...]) -> Findings:
    what, named = ".".join(steps[:2]), [item for key in lists for item in items(document.get(*steps, key))]
    places = {
        verdict: [item for item in named if isinstance(item, Scalar) and item.value == verdict] for verdict in VERDICTS
    }
    lacking = [name for name, at in places.items() if not at]
    doubled = [name for name, at in places.items() if len(at) > 1]
    instead = Guess(lacking[0]) if len(lacking) == len(doubled) == 1 else None
    for verdict in doubled:
        first, second, *_ = places[verdict]
        if instead is not None and first in items(document.get(*steps, lists[0])) and verdict == "FAIL":
            first, second = second, first  # a FAIL is not a hit
        message, notes = f"`{what}` lists `{verdict}` twice", [(first, "also listed here")]
        yield error(second, message, code="verdict-without-meaning", notes=notes, help=instead)
    for verdict in lacking if instead is None else ():
        message = f"`{what}` does not list `{verdict}`"
        yield error(document.place(*steps, lists[-1]), message, code="verdict-without-meaning")


def _names(document: ScorecardDocument) -> Findings:
    taken = dict.fromkeys(ROOTS, "a root that every scorecard has")
    for parameter in document.parameters:
        if parameter.name in taken:
            place = document.key_place("parameters", parameter.name)
            yield error(place, f"`{parameter.name}` is {taken[parameter.name]}", code="name-taken")
        taken[parameter.name] = "a parameter"
    for name, written in document.variables:
        if name in taken:
            yield error(written, f"`{name}` is {taken[name]}", code="name-taken")
        taken[name] = "already a variable"
    for name, written in document.output:
        if name in RESERVED:
            message = f"`{name}` is a field that the engine writes into every row"
            yield error(written, message, code="name-taken", help="choose another name for the output")
    dimensions = {rate.name for rate in document.dimensions}
    for rate in document.rates:
        if rate.name in dimensions:
            yield error(document.key_place("rates", rate.name), f"`{rate.name}` is a dimension", code="name-taken")


class SettingDocument(ParameterDocument, frozen=True):
    """A parameter, and the names under which it can be set."""

    environment: str | None
    file: str | None
    flag: str | None
    description: str


class MetricDocument(Struct, frozen=True):
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


class LabelDocument(Struct, frozen=True):
    """A row of the label table."""

    label: str
    when: Scalar


class CaseScorecardDocument(Document, frozen=True, eq=False):
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


def _inputs(node: Node | None) -> tuple[tuple[str, str, str], ...]:
    return tuple((name, text(each, "from"), text(each, "type")) for name, each in mappings_in(node))


def _metadata(node: Node | None) -> tuple[str, ...]:
    return tuple(item.text for item in items(node) if isinstance(item, Scalar))


def _requires(node: Node | None) -> tuple[tuple[Scalar, str], ...]:
    return tuple((that, text(each, "otherwise")) for each in items(node) if (that := scalar(each, "that")) is not None)


def _exits(node: Node | None) -> tuple[tuple[str, int], ...]:
    return tuple((name, status) for name, each in entries_of(node) if isinstance(status := value(each), int))
