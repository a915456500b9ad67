from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar
from rulewright.rules.suspicious.review_above_pass import THRESHOLD

LEAST: Final = 0.1


def threshold_of_zero(document: ScorecardDocument | CaseScorecardDocument | TaskDocument) -> Findings:
    """A threshold of confidence, coverage, similarity or a metric, or a pass rate, is 0 or below a tenth.

    Why it matters: nothing is below 0, so the loop ends, the gate passes and the row is valid whatever was measured.
    A decimal point in the wrong place (`0.095`) has nearly the same effect. `scan` refuses a pass rate of 0.
    Instead: write the share that is required, or remove the key or the overlay.
    """
    for name, scalar in _thresholds(document):
        if isinstance(scalar.value, (int, float)) and not isinstance(scalar.value, bool) and 0 <= scalar.value < LEAST:
            met = "every score meets" if scalar.value == 0 else "nearly every score meets"
            yield warning(scalar, f"{met} a `{name}` of {scalar.raw}")


def _thresholds(document: ScorecardDocument | CaseScorecardDocument | TaskDocument) -> Iterator[tuple[str, Scalar]]:
    """The thresholds, each with the name of its key or parameter."""

    found: list[tuple[str, Scalar | None]]
    if isinstance(document, ScorecardDocument):
        found = [("coverage.minimum", document.minimum_coverage)]
        found += [(f"gates.{gate.name}.pass_rate", gate.pass_rate) for gate in document.gates]
        named = {written.text for _, written in found if written is not None}
        found += [(each.name, each.default) for each in document.parameters if each.name in named]
    elif isinstance(document, CaseScorecardDocument):
        found = [(f"metrics.{each.name}.semantic.threshold", each.semantic_threshold) for each in document.metrics]
        limits = [THRESHOLD.fullmatch(each.passes.text) for each in document.metrics if each.passes is not None]
        passing = {each[3] for each in limits if each is not None and each[2].startswith(">")}
        found += [(each.name, each.default) for each in document.settings if each.name in passing]
    else:
        loop, gate = document.on("confidence_loop"), document.on("policy_gate")
        found = [
            ("threshold", None if loop is None else loop.number("threshold")),
            ("coverage_threshold", None if gate is None else gate.number("coverage_threshold")),
        ]
    yield from ((name, scalar) for name, scalar in found if scalar is not None)
