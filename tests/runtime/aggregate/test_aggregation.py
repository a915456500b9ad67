"""Rows of a scorecard whose plan no compiler has made."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from tests.runtime.plans import check
from tests.runtime.programs import call, name, program
from tests.shipped_plans import shipped_plan

from rulewright_runtime.aggregate.aggregation import Scorecard, Summed
from rulewright_runtime.plan.part import Verdict
from rulewright_runtime.plan.scorecard import ListPlan
from rulewright_runtime.verdicts import EvidenceSpan, Finding, VerdictRecord, conclude


@pytest.mark.parametrize("path", ["rates.nothing", "counts.nothing", "lists.nothing"])
def test_an_output_that_names_no_part_of_the_row_is_undecided(path: str) -> None:
    plan = shipped_plan().scorecard
    assert plan is not None
    wrong = replace(plan.output[-1], value=program(name(path)))
    row = Scorecard(replace(plan, output=(*plan.output[:-1], wrong))).score([], None)
    assert row[wrong.name] is None
    assert [each["place"] for each in row["undecided"]] == [f"output.{wrong.name}"]


def test_a_scorecard_with_other_parameters_does_not_repeat_rows_of_the_first() -> None:
    plan = shipped_plan().scorecard
    assert plan is not None
    verdicts = [conclude(check(name=next(iter(plan.checks))), Finding("UNCLEAR", 0.0))]
    strict = Scorecard(plan, {"minimum_coverage": 1})
    lax = strict.having({"minimum_coverage": 0})
    assert strict.score(verdicts) != lax.score(verdicts)
    assert lax.score(verdicts) == Scorecard(plan, {"minimum_coverage": 0}).score(verdicts)


@pytest.mark.parametrize("project", ["invisiblebench/rulewright.yaml", "invisiblebench/seed.yaml"])
def test_verdicts_that_differ_only_in_what_no_condition_reads_are_summed_once(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = shipped_plan(project=project).scorecard
    assert plan is not None
    scorecard, sums, summed = Scorecard(plan), list[int](), Scorecard.summed

    def noted(self: Scorecard, verdicts: Sequence[VerdictRecord], **more: bool) -> Summed:
        sums.append(len(verdicts))
        return summed(self, verdicts, **more)

    monkeypatch.setattr(Scorecard, "summed", noted)

    def score(verdict: Verdict, code: str = "", **extra: object) -> dict[str, object]:
        finding = Finding(verdict, 1.0, code, extra=extra)
        return scorecard.score([conclude(check(name=name), finding) for name in plan.checks])

    first = score("PASS", votes_for=3)
    assert score("PASS", votes_for=2, all_verdicts=["PASS"]) == first
    assert len(sums) == 1
    assert score("FAIL", "lies") != score("FAIL", "harms"), "a list shows the code"
    assert len(sums) == 2


def test_a_list_of_whole_verdicts_shows_those_of_its_own_row() -> None:
    plan = shipped_plan().scorecard
    assert plan is not None
    whole = ListPlan("whole", program(call("_==_", name("v.verdict"), "FAIL")), (("failure", program(name("v"))),))
    shown = replace(plan.output[-1], name="whole", value=program(name("lists.whole")))
    scorecard = Scorecard(replace(plan, lists=(*plan.lists, whole), output=(*plan.output, shown)))
    for quote in ("one", "another"):
        finding = Finding("FAIL", 1.0, evidence=(EvidenceSpan("assistant", 1, quote),))
        row = scorecard.score([conclude(check(name=next(iter(plan.checks))), finding)])
        assert [each["quote"] for each in row["whole"][0]["failure"]["evidence"]] == [quote]
