"""Scorecards that count what an embedding or a judge says: only where they declare it, and never in a case's favour
when nothing usable was said."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.safe_cases import case, write
from tests.shared_data import ROOT

from rulewright.scoring.case_scorecards import load_scorecard
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import BatchRun, score_batches
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.embedding.opening import WordVectors
from rulewright_runtime.errors import PlanError
from rulewright_runtime.judging.judge import ReplayJudge

SHIPPED = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text()
JUDGED = SHIPPED.replace("      of: questions\n", "      of: questions\n      count: true\n      unclear: Review\n")
VECTORS = "fever 1 0\ntemperature 0.95 0.05\nnegligence 0 1\ncarelessness 0.05 0.95\n"


def meaning(threshold: float) -> str:
    """The shipped scorecard with matches by meaning that count for CR and AH."""
    semantic = f"    semantic: {{count: true, threshold: {threshold}}}\n    score: "
    return SHIPPED.replace("    score: share\n", f"{semantic}share\n", 1).replace(
        '    score: "strict', f'{semantic}"strict'
    )


def plan_of(text: str, tmp_path: Path) -> CaseScorecardPlan:
    path = tmp_path / "card.yaml"
    path.write_text(text)
    return load_scorecard(str(path)).plan


def run(text: str, tmp_path: Path, *cases: Any, judge: Any = None, vectors: bool = False) -> BatchRun:
    plan = plan_of(text, tmp_path)
    path = write(tmp_path / "b.json", list(cases))
    (tmp_path / "v.txt").write_text(VECTORS)
    embedding = WordVectors(str(tmp_path / "v.txt")) if vectors else None
    return score_batches(
        CaseSettings(plan), CaseReader(plan), [Batch("b", str(path))], judge=judge, embedding=embedding
    )


def one(done: BatchRun) -> dict[str, Any]:
    return next(done.spool.results())


def says(*replies: Any) -> ReplayJudge:
    return ReplayJudge({"T1": {"AH": [list(replies)]}})


def test_an_objection_that_counts_makes_the_score_zero(tmp_path: Path) -> None:
    result = one(run(JUDGED, tmp_path, case("T1"), judge=says('{"verdict": "FAIL"}')))
    assert (result["scores"]["AH"], result["label"]) == (0.0, "Fail")
    assert result["judged"]["AH"] == {"verdict": "FAIL", "rationale": None, "counted": True}


def test_an_approval_that_counts_leaves_the_score_as_it_is(tmp_path: Path) -> None:
    approving = says('{"verdict": "PASS"}')
    assert one(run(JUDGED, tmp_path, case("T1"), judge=approving))["label"] == "Pass"
    result = one(run(JUDGED, tmp_path, case("T1", questions=["Whose fault?"]), judge=approving))
    assert (result["scores"]["AH"], result["label"]) == (0.0, "Fail")


@pytest.mark.parametrize(
    "reply", ["I think so", None, {"raise": "down"}, '{"verdict": "UNCLEAR"}', '{"verdict": "NOT_APPLICABLE"}']
)
def test_a_judge_without_a_usable_verdict_leaves_the_metric_not_passed(reply: Any, tmp_path: Path) -> None:
    done = run(JUDGED, tmp_path, case("T1"), judge=says(reply))
    assert (one(done)["scores"]["AH"], one(done)["label"]) == (1.0, "Review")
    assert done.all_cases.pass_rates() == {"CR": 1.0, "AH": 0.0, "AC": 1.0, "overall": 0.0}
    assert done.status() == 2


def test_an_undecided_case_never_gets_a_better_label(tmp_path: Path) -> None:
    result = one(run(JUDGED, tmp_path, case("T1", summary="x", signals=[]), judge=says(None)))
    assert result["label"] == "Fail"


def test_where_there_is_nothing_to_judge_the_search_decides(tmp_path: Path) -> None:
    assert one(run(JUDGED, tmp_path, case("T1", questions=[]), judge=says(None)))["label"] == "Pass"


def test_a_match_by_meaning_counts_as_found_where_the_scorecard_says_so(tmp_path: Path) -> None:
    record = case("T1", must=["fever", "late", "rash"], signals=["temperature"])
    result = one(run(meaning(0.9), tmp_path, record, vectors=True))
    assert result["details"]["CR"] == {"found": ["fever", "late"], "missing": ["rash"]}
    assert result["scores"]["CR"] == pytest.approx(2 / 3, abs=1e-12)
    (match,) = result["semantic_matches"]["CR"]
    assert match["counted"] is True
    hinted = one(run(SHIPPED, tmp_path, record, vectors=True))
    assert hinted["scores"]["CR"] == pytest.approx(1 / 3, abs=1e-12)
    assert "counted" not in hinted["semantic_matches"]["CR"][0]


def test_a_forbidden_word_in_other_words_is_a_violation_where_the_scorecard_says_so(tmp_path: Path) -> None:
    record = case("T1", forbidden=["negligence", "fault"], questions=["Was it carelessness?"])
    result = one(run(meaning(0.9), tmp_path, record, vectors=True))
    assert (result["details"]["AH"], result["scores"]["AH"]) == ({"violations": ["negligence"]}, 0.5)
    assert one(run(SHIPPED, tmp_path, record, vectors=True))["scores"]["AH"] == 1.0


def test_a_match_below_the_threshold_is_none(tmp_path: Path) -> None:
    result = one(run(meaning(1.0), tmp_path, case("T1", signals=["temperature"]), vectors=True))
    assert (result["scores"]["CR"], result["semantic_matches"]["CR"]) == (0.0, [])


def test_a_negation_never_counts_as_recalled_and_a_denied_mention_is_still_one(tmp_path: Path) -> None:
    questions = ["Was it not carelessness?"]
    record = case("T1", must=["fever"], signals=["not a temperature"], forbidden=["negligence"], questions=questions)
    result = one(run(meaning(0.9), tmp_path, record, vectors=True))
    (recalled,), (mentioned,) = (result["semantic_matches"][name] for name in ("CR", "AH"))
    assert (recalled["negated"], "counted" in recalled) == (True, False)
    assert (mentioned["negated"], mentioned["counted"]) == (True, True)
    assert (result["scores"]["CR"], result["scores"]["AH"]) == (0.0, 0.0)


@pytest.mark.parametrize(("text", "message"), [(JUDGED, "on AH: name one"), (meaning(0.9), "CR: name an embedding")])
def test_what_counts_has_to_be_there(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=message):
        run(text, tmp_path, case("T1"))


def test_many_cases_with_the_same_counts_keep_their_own_verdicts(tmp_path: Path) -> None:
    verdicts = ["PASS", "FAIL", "UNCLEAR"]
    replies = {f"T{n}": {"AH": [[json.dumps({"verdict": verdicts[n % 3]})]]} for n in range(9)}
    done = run(JUDGED, tmp_path, *(case(f"T{n}") for n in range(9)), judge=ReplayJudge(replies))
    assert [result["label"] for result in done.spool.results()] == ["Pass", "Fail", "Review"] * 3
    assert done.all_cases.labels == {"Pass": 3, "Review": 3, "Fail": 3}
