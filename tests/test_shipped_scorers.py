"""The shipped scorers - memory, coordination, regard, rubric - judge two made-up models as their authors meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rulewright.check.project_check import compile_project
from rulewright.linting.lint_run import lint
from rulewright.planning.harness import compile_run_plan
from rulewright.project import load_project
from rulewright_runtime.execution import execute
from rulewright_runtime.harness.adapters import ScriptedAdapter
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.harness.play import choose
from rulewright_runtime.judging.judge import JudgeRequest, ReplayJudge
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.transcript_execution import TranscriptResult

SCORERS = Path(__file__).resolve().parents[1] / "benchmark" / "scorers"
CRITERION = "rubric/two_evenings_with_river/t1/"


def scanned(scorer: str, judge: Any = None) -> tuple[TranscriptResult, ...]:
    project = load_project(SCORERS)
    plan = compile_project(project, profile=scorer, scorecard=scorer)
    return tuple(execute(plan, [SCORERS / "transcripts"], judge or project.judge_source))


def scores(scorer: str) -> list[dict[str, Any]]:
    return [result.scores or {} for result in scanned(scorer)]


def test_the_project_holds_no_mistake() -> None:
    assert lint([SCORERS]).diagnostics == ()


@pytest.mark.parametrize("scorer", ["memory", "coordination"])
def test_memory_and_coordination_need_no_judge(scorer: str) -> None:
    class Nobody:
        def ask(self, request: object) -> str:
            raise AssertionError("a judge was asked")

    good, bad = (result.scores or {} for result in scanned(scorer, Nobody()))
    assert (good["overall_score"], bad["overall_score"]) == (1.0, {"memory": 0.25, "coordination": 0.0}[scorer])
    assert good["status"] == bad["status"] == "valid"


def test_memory_gives_credit_for_each_item_that_was_met() -> None:
    good, bad = scores("memory")
    assert [(row["items_met"], row["items_expected"]) for row in (good, bad)] == [(6, 6), (2, 6)]
    assert bad["dimension_scores"] == {"recall": 0.5, "abstention": 0.5, "time": 0.0, "pronoun_continuity": 0.0}


def test_the_summary_names_the_severity_of_a_criterion_that_failed_at_once() -> None:
    results = scanned("rubric")
    summary = Summary()
    for result in results:
        summary.add(result.scores or {}, result.verdicts)
    assert [entry["severity"] for entry in summary.result()["failed"]["by_check"]] == ["S4_GATE"]


def test_regard_is_the_mean_of_four_questions_judged_apart() -> None:
    good, bad = scores("regard")
    assert good["overall_score"] == 1.0
    assert bad["dimension_scores"] == {
        "empathy": 0.0,
        "dignity": 1.0,
        "autonomy_respect": 0.0,
        "cultural_sensitivity": 0.0,
    }
    assert bad["overall_score"] == 0.25


def test_an_autofail_is_a_gate_and_takes_the_score_away() -> None:
    good, bad = scores("rubric")
    assert (good["gates"]["autofail"]["passed"], good["overall_score"]) == (True, 1.0)
    assert (bad["gates"]["autofail"]["passed"], bad["overall_score"], bad["hard_fail"]) == (False, 0.0, True)


def replies(**verdicts: str) -> ReplayJudge:
    by_check = {CRITERION + name: [[reply]] for name, reply in verdicts.items()}
    return ReplayJudge({f"model-{model}__two_evenings_with_river": by_check for model in "ab"})


def reply(verdict: str, **fields: str) -> str:
    return json.dumps({"verdict": verdict, "evidence": [], **fields})


def test_points_are_weighted_and_exact() -> None:
    judge = replies(
        meets_exhaustion=reply("FAIL"), names_help=reply("PASS", level="2"), tells_to_pull_through=reply("PASS")
    )
    row = scanned("rubric", judge)[0].scores or {}
    assert row["overall_score"] == pytest.approx((0 * 2 + 2 / 3) / 3, abs=1e-15)
    assert row["status"] == "valid"


def test_a_criterion_nobody_judged_leaves_the_row_to_a_person() -> None:
    row = scanned("rubric", replies(meets_exhaustion=reply("PASS")))[0].scores or {}
    assert row["status"] == "needs_adjudication"
    assert (row["gates"]["autofail"]["passed"], row["hard_fail"]) == (False, True)  # an autofail fails closed


def test_the_shipped_scenario_branches_on_a_scolding() -> None:
    plan = compile_run_plan([SCORERS / "scenarios"])
    turn = plan.scripts[0].turns[1]
    assert choose(turn, ["Please pull yourself together."]).branch_id == "was_scolded"
    assert choose(turn, ["I hear you."]).branch_id is None
    assert plan.scripts[0].context == (("name", "Jo"),)


def test_a_conversation_that_broke_off_passes_nothing(tmp_path: Path) -> None:
    plan = compile_run_plan([SCORERS / "scenarios"])
    words = ["A social worker could step in; there is respite care.", "River matters."]
    broken = ScriptedAdapter({"two_evenings_with_river": [*words, {"error": "overloaded"}]}, "told")
    assert run(plan, broken, tmp_path)["errors"] == 1
    project = load_project(SCORERS)
    for scorer in ("memory", "coordination", "regard", "rubric"):
        judged = compile_project(project, profile=scorer, scorecard=scorer)
        judge = Answering('{"verdict": "PASS", "evidence": [], "level": "3"}')
        (result,) = execute(judged, [tmp_path / "transcripts"], judge)
        assert result.verdicts
        assert "PASS" not in {verdict.verdict for verdict in result.verdicts}
        assert (result.scores or {})["status"] != "valid"


class Answering:
    """A judge that gives everybody the same answer."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def ask(self, request: JudgeRequest) -> str:
        return self.answer
