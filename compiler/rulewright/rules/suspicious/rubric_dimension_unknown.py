from collections.abc import Iterator

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend, items, scalar
from rulewright.documents.scenario import ScenarioDocument, ScoringDimension
from rulewright.load import Mapping, Scalar
from rulewright.spelling import did_you_mean


def rubric_dimension_unknown(scenario: ScenarioDocument) -> Findings:
    """A rubric names a dimension that looks like a misspelling of a declared or known one.

    Why it matters: the dimension decides the bucket in which a criterion counts, and an unknown one counts in bucket C.
    Instead: correct the dimension, or add it to `scoring_dimensions`.
    """
    declared = descend(scenario.node, "scoring_dimensions")
    is_declared = isinstance(declared, Mapping)
    known = tuple(declared.keys) if isinstance(declared, Mapping) else tuple(ScoringDimension)
    for named in _dimensions(scenario):
        name = named.text
        help = did_you_mean(name, known)
        if help and name not in known:
            notes = [(scenario.key_place("scoring_dimensions"), "they are declared here")] if is_declared else []
            yield warning(named, f"unknown dimension: `{name}`", notes=notes, help=help)


def _dimensions(scenario: ScenarioDocument) -> Iterator[Scalar]:
    for turn in scenario.turns:
        for node in turn.nodes:
            for key in ("rubric", "autofail_rubric"):
                for item in items(node, key):
                    found = scalar(item, "dimension")
                    if found is not None:
                        yield found
