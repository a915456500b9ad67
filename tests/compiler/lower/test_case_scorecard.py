"""Scorecards over cases: every mistake of a document is a finding at its place."""

import re
from pathlib import Path

import pytest
from tests.shared_data import ROOT

from rulewright.diagnostics import Diagnostic
from rulewright.documents.validation import validate
from rulewright.errors import DocumentError, UsageError
from rulewright.linting.lint_run import lint_text
from rulewright.load import load_text
from rulewright.proving.tables import case_findings
from rulewright.scoring.case_scorecards import load_scorecard
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Common
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scorecard import Parameter, parameter_value

TEXT = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text()


def found(text: str) -> list[Diagnostic]:
    from rulewright.load import Mapping

    root = load_text(text, "card.yaml").root
    assert isinstance(root, Mapping)
    return validate("case_scorecard", root) or case_findings(root)


MISTAKES = {
    "a text as phrase list": ("of: must_find,", "of: summary,", "`summary` is not an input of the type `strings`"),
    "a phrase list nobody declared": ("of: must_find,", "of: musts,", "`musts` is not an input of the type `strings`"),
    "a switch nobody declared": ("fold: fold, empty: 1}\n    score: share\n    passes: CR", "fold: CR_pass, empty: 1}\n"
                                 "    score: share\n    passes: CR", "`CR_pass` is not a parameter of the type `bool`"),
    "a default out of bounds": ("CR_pass: {type: score, default: 0.8", "CR_pass: {type: score, default: 8",
                                "must be a score from 0 to 1, found `8`"),
    "a negative weight": ("CR_weight: {type: number, default: 1.0", "CR_weight: {type: number, default: -1.0",
                          "must be at least 0"),
    "a score of another type": ("    score: share\n    passes: CR", "    score: \"'x'\"\n    passes: CR", "score"),
    "an unknown name in a row": ("AH < AH_pass}", "AH < AH_pas}", "AH_pas"),
    "a composite that is not a score": ("composite: wmean([CR, AH, AC], [CR_weight, AH_weight, AC_weight])",
                                     "composite: \"'x'\"", "`composite` must be a score that may be absent"),
    "a composite with a mistake": ("composite: wmean([CR,", "composite: wmean([CX,", "CX"),
    "a label that sets no exit status": ("exit: {Fail: 1, Review: 2, Pass: 0}", "exit: {Fail: 1, Pass: 0}",
                                         "`exit` does not know the label `Review`"),
    "an accepted label that no row gives": ("accepted: Pass", "accepted: Passed", "no row gives the label `Passed`"),
    "a judge of nothing": ("      of: questions", "      of: question", "unknown input `question`"),
    "a verdict that counts, and none that is undecided": (
        "      of: questions", "      of: questions\n      count: true", "a verdict that counts needs `unclear`"),
    "an undecided case that passes": (
        "      of: questions", "      of: questions\n      count: true\n      unclear: Pass", "than the accepted one"),
    "a similarity above 1": ("    score: share\n    passes: CR", "    semantic: {threshold: 2}\n    score: share\n"
                             "    passes: CR", "at most 1"),
    "a path to nowhere": ("from: output.signals", "from: outputs.signals", "does not match"),
    "an unknown key": ("accepted: Pass", "acepted: Pass\naccepted: Pass", "unknown key `acepted`"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_a_finding_at_its_place(old: str, new: str, message: str) -> None:
    assert old in TEXT
    findings = found(TEXT.replace(old, new, 1))
    assert any(message in each.message for each in findings), [each.message for each in findings]
    assert all(each.span.path == "card.yaml" and each.span.line > 0 for each in findings)


def test_the_shipped_scorecard_is_without_findings() -> None:
    assert found(TEXT) == []
    assert lint_text(TEXT, "card.yaml").diagnostics == ()


def test_a_scorecard_is_named_or_given_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT)
    assert load_scorecard(str(path)).plan == load_scorecard("safe-v0").plan
    assert isinstance(load_scorecard("safe-v0").plan, CaseScorecardPlan)
    with pytest.raises(UsageError, match="unknown scorecard `mine`"):
        load_scorecard("mine")


@pytest.mark.parametrize("text", ["", "scorecard: [", "- a\n", "scorecard: x\nover: cases\n"])
def test_a_broken_scorecard_is_refused_with_its_findings(text: str, tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    path.write_text(text)
    with pytest.raises((DocumentError, UsageError)) as refused:
        load_scorecard(str(path))
    assert str(refused.value)


VALUES = [
    ("score", "0.5", True), ("score", 1, True), ("score", "1.5", False), ("score", True, False), ("score", "x", False),
    ("number", 3, True), ("number", "x", False), ("number", float("inf"), False), ("number", False, False),
    ("integer", 3, True), ("integer", 3.5, False), ("bool", True, True), ("bool", "true", False),
    ("string", "x", True), ("string", 3, False),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "fits"), VALUES)
def test_a_parameter_takes_values_of_its_type_only(kind: str, value: object, fits: bool) -> None:
    default = {"score": "0", "number": 0.0, "integer": 0, "bool": False, "string": ""}[kind]
    parameter = Parameter("p", kind, default)  # type: ignore[arg-type]
    if fits:
        parameter_value(parameter, value)
    else:
        with pytest.raises(PlanError, match="parameter `p` must be"):
            parameter_value(parameter, value)


def test_the_bounds_of_a_parameter_are_inclusive() -> None:
    parameter = Parameter("p", "integer", 2, 1, 3)
    assert [parameter_value(parameter, value) for value in (1, None, 3)] == [1, 2, 3]
    for value, message in ((0, "at least 1"), (4, "at most 3")):
        with pytest.raises(PlanError, match=message):
            parameter_value(parameter, value)


def test_a_metric_that_names_nothing_counts_the_phrases_that_lower_its_score(tmp_path: Path) -> None:
    text = re.sub(r"    (?:details|common|words): .*\n", "", TEXT)
    assert [each.message for each in found(text)] == []
    (tmp_path / "safe-v0.yaml").write_text(text, encoding="utf-8")
    recall, forbidden, _ = load_scorecard(str(tmp_path / "safe-v0.yaml")).plan.metrics
    assert recall.common == Common("common_CR_missing", "missing", "phrase", "count", "CR missing", "phrases")
    assert forbidden.common == Common("common_AH_found", "found", "phrase", "count", "AH found", "phrases")
    assert recall.details == forbidden.details == (("found", "found"), ("missing", "missing"))
