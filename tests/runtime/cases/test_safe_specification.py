"""SAFE v0, sentence by sentence: what the specification says of scores, thresholds, labels and sums."""

import random
from pathlib import Path
from typing import Any

import pytest
from tests.safe_cases import case, safe, settings, write

from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import BatchRun, report_head, score_batches

FOUR = ["policy", "fault", "blame", "error"]


def run(folder: Path, *cases: Any, **given: Any) -> BatchRun:
    path = write(folder / "I25_batch_1.json", list(cases))
    return score_batches(settings(**given), CaseReader(safe().plan, "I25"), [Batch("I25_batch_1", str(path))])


def scored(folder: Path, given: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    (result,) = run(folder, case("T1", **changes), **(given or {})).spool.results()
    return result


def head(done: BatchRun) -> dict[str, Any]:
    stamp = "2025-01-15T10:30:00Z"
    return report_head(done, batch_id="I25_batch_1", concern_id="I25", generated_at=stamp, about={})


SCORES: list[tuple[str, str, dict[str, Any], float]] = [
    ("found by all that must be found", "CR", {"must": ["fever", "rash"], "signals": ["Fever"], "summary": "x"}, 0.5),
    ("signals and summary are one corpus", "CR", {"must": ["fever", "late"]}, 1.0),
    ("the case of letters does not matter", "CR", {"must": ["FEVER AT"]}, 1.0),
    ("a substring is enough", "CR", {"must": ["eve"]}, 1.0),
    ("nothing must be found", "CR", {"must": []}, 1.0),
    ("an empty output", "CR", {"signals": [], "summary": ""}, 0.0),
    ("two of four forbidden terms", "AH", {"forbidden": FOUR, "questions": ["Whose fault?", "A POLICY?"]}, 0.5),
    ("a term in two questions is one violation", "AH", {"forbidden": FOUR, "questions": ["fault", "Fault"]}, 0.75),
    ("nothing is forbidden", "AH", {"forbidden": [], "questions": ["Whose fault?"]}, 1.0),
    ("no questions", "AH", {"questions": []}, 1.0),
    ("a forbidden term in the summary is none", "AH", {"summary": "fault"}, 1.0),
    ("half of the phrases", "AC", {"phrases": ["late", "night"]}, 0.5),
    ("the summary alone counts", "AC", {"phrases": ["fever"]}, 0.0),
    ("no phrase is asked for", "AC", {"phrases": []}, 1.0),
    ("an empty summary", "AC", {"summary": ""}, 0.0),
]


@pytest.mark.parametrize(("sentence", "metric", "changes", "score"), SCORES, ids=[row[0] for row in SCORES])
def test_a_metric_is_scored_as_specified(
    sentence: str, metric: str, changes: dict[str, Any], score: float, tmp_path: Path
) -> None:
    assert scored(tmp_path, **changes)["scores"][metric] == score


def test_strict_ah_is_0_at_the_first_violation_and_off_by_default(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"forbidden": FOUR, "questions": ["Whose fault?"]}
    assert scored(tmp_path, **changes)["scores"]["AH"] == 0.75
    assert scored(tmp_path, {"strict_ah": True}, **changes)["scores"]["AH"] == 0.0
    assert scored(tmp_path, {"strict_ah": True})["scores"]["AH"] == 1.0


def test_the_composite_is_the_weighted_mean_with_equal_weights_by_default(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"must": ["fever", "rash"], "phrases": ["late", "x", "y", "z"]}  # 0.5, 1, 0.25
    assert scored(tmp_path, **changes)["scores"]["composite"] == pytest.approx(1.75 / 3)
    weighted = scored(tmp_path, {"AH_weight": 1.5}, **changes)["scores"]["composite"]
    assert weighted == pytest.approx((0.5 + 1.5 + 0.25) / 3.5)


LABELS = [
    (10, 0, 10, "Pass"),
    (8, 0, 8, "Pass"),  # the threshold itself passes
    (7, 0, 10, "Review"),
    (10, 0, 7, "Review"),
    (10, 1, 10, "Review"),  # any forbidden term
    (5, 5, 5, "Review"),
    (4, 0, 10, "Fail"),
    (10, 6, 10, "Fail"),
    (10, 0, 4, "Fail"),
    (4, 5, 7, "Fail"),  # Fail outweighs Review
]


@pytest.mark.parametrize(("cr", "violations", "ac", "label"), LABELS)
def test_labels_follow_the_thresholds_as_specified(
    cr: int, violations: int, ac: int, label: str, tmp_path: Path
) -> None:
    found = [f"s{n}" for n in range(10)]
    said = " ".join([*(f"s{n}" for n in range(cr)), *(f"p{n}" for n in range(ac))])
    result = scored(
        tmp_path,
        must=found,
        phrases=[f"p{n}" for n in range(10)],
        forbidden=[f"f{n}" for n in range(10)],
        signals=[],
        summary=said,
        questions=[" ".join(f"f{n}" for n in range(violations)) or "Why?"],
    )
    assert result["scores"] | {"composite": 0} == {
        "CR": cr / 10,
        "AH": 1 - violations / 10,
        "AC": ac / 10,
        "composite": 0,
    }
    assert result["label"] == label


def test_a_result_holds_what_was_found_missing_and_violated(tmp_path: Path) -> None:
    result = scored(tmp_path, must=["fever", "rash"], phrases=["late", "x"], questions=["fault?"])
    assert result["details"] == {
        "CR": {"found": ["fever"], "missing": ["rash"]},
        "AH": {"violations": ["fault"]},
        "AC": {"found": ["late"], "missing": ["x"]},
    }
    assert (result["test_id"], result["archetype"], set(result["scores"])) == (
        "T1",
        "A",
        {"CR", "AH", "AC", "composite"},
    )


def batch() -> list[dict[str, Any]]:
    cases = [
        case("T1", "A"),
        case("T2", "A", must=["fever", "rash"], phrases=["late", "x"]),
        case("T3", "B", questions=["fault?"], forbidden=["fault", "blame"]),
        case("T4", "B", summary="nothing", phrases=["x"]),
    ]
    return [*cases, *(case(f"T{n}", None) for n in range(5, 9))]


def test_a_batch_report_sums_up_as_specified(tmp_path: Path) -> None:
    report = head(run(tmp_path, *batch()))
    assert (report["report_type"], report["batch_id"], report["concern_id"]) == ("SAFE_v0", "I25_batch_1", "I25")
    assert report["generated_at"] == "2025-01-15T10:30:00Z"
    counts = {"total_cases": 8, "pass": 5, "review": 2, "fail": 1}
    assert {name: report["summary"][name] for name in counts} == counts
    assert report["summary"]["overall_pass_rate"] == 5 / 8
    means = {"CR": (7 + 0.5) / 8, "AH": (7 + 0.5) / 8, "AC": (6 + 0.5) / 8}
    assert {name: report["mean_scores"][name] for name in means} == pytest.approx(means)
    assert {name: report["pass_rates"][name] for name in means} == {"CR": 7 / 8, "AH": 7 / 8, "AC": 6 / 8}
    by = report["by_archetype"]
    assert {name: (part["count"], part["pass_rate"]) for name, part in by.items()} == {
        "A": (2, 0.5),
        "B": (2, 0.0),
        "Unknown": (4, 1.0),
    }
    assert (by["A"]["mean_CR"], by["B"]["mean_AH"], by["A"]["mean_AC"]) == (0.75, 0.75, 0.75)


def test_the_failure_analysis_names_the_worst_five_and_the_common_misses(tmp_path: Path) -> None:
    analysis = head(run(tmp_path, *batch()))["failure_analysis"]
    worst = analysis["worst_performers"]
    assert [each["test_id"] for each in worst][:3] == ["T2", "T4", "T3"]
    assert len(worst) <= 5
    assert analysis["common_CR_misses"] == [{"signal": "rash", "miss_count": 1}]
    assert analysis["common_AH_violations"] == [{"term": "fault", "count": 1}]
    assert analysis["common_AC_misses"] == [{"phrase": "x", "miss_count": 2}]


def test_an_empty_batch_has_no_mean_that_looks_like_one(tmp_path: Path) -> None:
    report = head(run(tmp_path))
    assert report["summary"]["total_cases"] == 0
    assert report["mean_scores"] == {"CR": 0, "AH": 0, "AC": 0, "composite": 0}
    assert report["summary"]["overall_pass_rate"] == 0


def test_the_order_of_cases_changes_no_mean(tmp_path: Path) -> None:
    cases = batch()
    first = head(run(tmp_path, *cases))["mean_scores"]
    random.Random(1).shuffle(cases)
    assert head(run(tmp_path, *cases))["mean_scores"] == first
