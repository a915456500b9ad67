"""`rulewright score --baseline`: what became better and worse since an earlier report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from tests.compiler.commands.score_in_place import batch, elsewhere, report, score
from tests.safe_cases import case, safe

from rulewright.cli import main
from rulewright_grammar import schema
from rulewright_runtime.aggregate.inference import mcnemar
from rulewright_runtime.cases.baseline import Baseline, _sign_test, compare

__all__ = ["elsewhere"]


def test_a_baseline_shows_flips_and_a_regression_sets_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", *(case(f"T{n}") for n in range(8)))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch(
        "b",
        *(case(f"T{n}", questions=["fault?"], forbidden=["fault", "x"]) if n < 7 else case(f"N{n}") for n in range(8)),
    )
    words = ["--batch", "b", "--baseline", "base.json"]
    section = report(*words)["comparison"]
    assert (section["paired"], section["added"], section["missing"], section["worse"]) == (7, 1, 1, 7)
    assert section["flips"][0] == {"test_id": "T0", "before": "Pass", "after": "Review"}
    assert section["tests"]["AH"] == {"falls": 7, "rises": 0, "p_value": 2 / 2**7, "worse": True}
    assert section["mean_changes"]["AH"] == pytest.approx(-0.5)  # over the pairs
    assert section["regression"] is True
    assert section["same_settings"] is True
    assert report(*words, "--strict-ah")["comparison"]["same_settings"] is False
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "Since the baseline: REGRESSION (7 worse, 0 better of 7 paired; 1 added; 1 missing)" in shown
    assert "  AH: 7 fell, 0 rose (p = 0.0156)\n" in shown
    assert "  PASS -> REVIEW  T0\n" in shown
    assert score(*words, "--exit-zero") == 0
    batch("b", *(case(f"T{n}") for n in range(8)))
    assert report(*words)["comparison"]["regression"] is False
    assert score(*words) == 0


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "", '{"results": 7}', '{"results": [{"test_id": "T1"}]}', '{"results": [}', '{"results": []} x',
     '{"results": [], "batch_id": []}'],
)  # fmt: skip
def test_a_baseline_that_is_not_a_report_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("base.json").write_text(text)
    assert score("--batch", "b", "--baseline", "base.json") == 3
    assert "base.json: is not a JSON report of `rulewright score`" in capsys.readouterr().err


def test_a_baseline_without_batches_is_compared_by_test_id() -> None:
    batch("b", case("T1"), case("T2"))
    result = {"label": "Pass", "scores": {"CR": 1, "AH": 1, "AC": 0.5}}
    Path("base.json").write_text(json.dumps({"results": [{"test_id": name, **result} for name in ("T1", "T3")]}))
    section = report("--batch", "b", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["added"], section["missing"]) == (1, 1, 1)
    assert section["tests"]["AC"]["rises"] == 1


def test_a_few_improvements_are_not_a_regression(tmp_path: Path) -> None:
    batch("b", case("T1", summary="nothing"))
    report("--batch", "b")
    old = Baseline("out.json")
    good = {
        "test_id": "T1",
        "batch_id": "b",
        "label": "Pass",
        "scores": dict.fromkeys(("CR", "AH", "AC", "composite"), 1),
    }
    section = compare(safe().plan, old, [good])
    assert (section["better"], section["regression"]) == (1, False)


def test_a_baseline_of_a_batch_with_another_name_is_compared_by_test_id() -> None:
    batch("monday", case("T1"), case("T2"))
    report("--batch", "monday")
    Path("out.json").rename("base.json")
    batch("tuesday", case("T2", summary="nothing"), case("T1"))
    section = report("--batch", "tuesday", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["worse"], section["added"], section["missing"]) == (2, 1, 0, 0)
    assert score("--batch", "tuesday", "--baseline", "base.json") == 1


def test_test_ids_that_several_batches_share_are_not_paired_by_guess() -> None:
    batch("a_1", case("T1"))
    batch("a_2", case("T1", summary="nothing"))
    report("--batch", "a_*")
    Path("out.json").rename("base.json")
    batch("b", case("T1"))
    section = report("--batch", "b", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["added"], section["missing"]) == (0, 1, 2)


def test_a_baseline_without_any_pair_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("N1"))
    assert score("--batch", "b", "--baseline", "base.json") == 3
    assert score("--batch", "b", "--baseline", "base.json", "--exit-zero") == 3
    captured = capsys.readouterr()
    assert "error: `base.json` contains none of these cases\n" in captured.err
    assert "Since the baseline: NOT COMPARED (0 worse, 0 better of 0 paired; 1 added; 1 missing)" in captured.out


def test_a_missing_case_that_did_not_pass_is_a_regression_and_is_shown_everywhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    review: Any = {"questions": ["Whose fault?"], "forbidden": ["fault", "x"]}
    batch("b", case("T1"), case("T2", **review), case("T3", **review), case("T4"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("T1"), case("N1"))
    words = ["--batch", "b", "--baseline", "base.json"]
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "(0 worse, 0 better of 1 paired; 1 added; 3 missing, 2 of which did not pass)" in shown
    for line in ("missing REVIEW  T2", "missing PASS  T4", "added PASS  N1"):
        assert f"  {line}\n" in shown
    result = report(*words)
    jsonschema.Draft202012Validator(schema("case_report")).validate(result)
    section = result["comparison"]
    assert (section["missing_not_passed"], section["regression"]) == (2, True)
    assert section["missing_cases"][0] == {"test_id": "T2", "batch_id": "b", "label": "Review"}
    assert section["added_cases"] == [{"test_id": "N1", "batch_id": "b", "label": "Pass"}]
    for form in ("md", "html"):
        score(*words, "--output", f"r.{form}")
        page = Path(f"r.{form}").read_text("utf-8")
        for said in ("Since the baseline", "Missing since the baseline", "Added since the baseline", "T4", "N1"):
            assert said in page
    batch("b", case("T1"), case("T2", **review), case("T3", **review))
    assert score(*words) == 2  # only one that passed is gone


def test_a_case_that_can_no_longer_be_scored_is_worse_and_not_missing() -> None:
    batch("b", case("T1"), case("T2"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("T1"), case("T2") | {"error": "no"})
    words = ["--batch", "b", "--baseline", "base.json", "--allow-errors"]
    section = report(*words)["comparison"]
    assert (section["paired"], section["missing"], section["worse"]) == (2, 0, 1)
    assert section["flips"] == [{"test_id": "T2", "before": "Pass", "after": "Error"}]
    assert score(*words) == 1


def test_cases_that_occur_twice_are_paired_in_their_order() -> None:
    batch("b", case("T1"), case("T1"), case("T2"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    section = report("--batch", "b", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["added"], section["missing"]) == (3, 0, 0)


def test_a_baseline_with_a_doubled_key_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1", summary="nothing"))
    report("--batch", "b")
    text = Path("out.json").read_text("utf-8")
    for old, new in (
        ('"label":"Fail"', '"label":"Fail","label":"Pass"'),
        ('"batch_id": "b",', '"batch_id": "b", "batch_id": "c",'),
    ):
        assert old in text
        Path("base.json").write_text(text.replace(old, new, 1))
        assert score("--batch", "b", "--baseline", "base.json") == 3
        assert "base.json: duplicate key" in capsys.readouterr().err


def _cut(report: dict[str, Any]) -> None:
    report["results"] = report["results"][:1]


def _doubled(report: dict[str, Any]) -> None:
    report["results"] = [report["results"][0]] * 2


def _empty(report: dict[str, Any]) -> None:
    report["results"] = []


def _better(report: dict[str, Any]) -> None:
    report["results"][1] |= {"label": "Pass", "scores": dict.fromkeys(report["results"][1]["scores"], 1.0)}


def _higher(report: dict[str, Any]) -> None:
    report["results"][1]["scores"]["CR"] = 0.1


@pytest.mark.parametrize("damage", [_cut, _doubled, _empty, _better, _higher])
def test_a_report_with_other_results_than_it_counts_is_refused(
    damage: Callable[[dict[str, Any]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1"), case("T2", summary="nothing"))
    whole = report("--batch", "b")
    Path("base.json").write_text(json.dumps(whole), encoding="utf-8")
    assert main(["whatif", "base.json"]) == 0
    damage(whole)
    Path("base.json").write_text(json.dumps(whole), encoding="utf-8")
    capsys.readouterr()
    assert main(["whatif", "base.json"]) == score("--batch", "b", "--baseline", "base.json") == 3
    assert capsys.readouterr().err.count("error: base.json: ") == 2


def test_a_report_without_a_scored_case_is_not_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", {**case("T1"), "engine_output": None})
    assert score("--batch", "b", "--format", "json", "--output", "base.json") == 3
    assert main(["whatif", "base.json"]) == 3
    assert "base.json: contains no scored case" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "tag", "message"),
    [
        (["--baseline", "base.json"], 1, "failure", "1 case: 1 Pass, 0 Review, 0 Fail; worse than the baseline."),
        (["--concern", "I99"], 3, "error", "0 cases: 0 Pass, 0 Review, 0 Fail."),
    ],
)
def test_junit_is_red_where_only_the_run_fails(words: list[str], status: int, tag: str, message: str) -> None:
    batch("b", case("T1"), case("T2", questions=["fault?"], forbidden=["fault", "x"]))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("T1"))
    assert score("--batch", "b", *words, "--format", "junit", "--output", "out.xml") == status
    suites = ElementTree.parse("out.xml").getroot()
    (told,) = suites.findall(f".//testcase[@name='outcome']/{tag}")
    assert told.get("message") == message
    numbers = {name: int(suites.get(name, "")) for name in ("tests", "errors", "failures", "skipped")}
    counted = {"tests": len(list(suites.iter("testcase"))), "errors": 0, "failures": 0, "skipped": 0}
    assert numbers == {**counted, f"{tag}s": 1}


def test_the_approximation_for_many_pairs_is_near_the_exact_test() -> None:
    test = _sign_test(1100, 1000)
    assert test == {
        "falls": 1100,
        "rises": 1000,
        "p_value": pytest.approx(mcnemar(1100, 1000), abs=1e-4),
        "worse": True,
    }
    assert _sign_test(1050, 1050)["p_value"] == 1.0
