"""Rows of a scorecard whose plan no compiler has made."""

import pytest
from msgspec.structs import replace
from tests.runtime.plans import check
from tests.runtime.programs import name, program
from tests.shipped_plans import shipped_plan

from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.verdicts import Finding, conclude


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
