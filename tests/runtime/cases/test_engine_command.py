"""The runtime's own door for cases: a compiled scorecard scores without the compiler and its libraries."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace
from tests.runtime.test_main import WITHOUT_COMPILER
from tests.safe_cases import case, output, safe, write

from rulewright.cli import main as compiler
from rulewright_grammar import schema
from rulewright_runtime.__main__ import main
from rulewright_runtime.cases import case_plan as plans
from rulewright_runtime.cases import json_report
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.errors import PlanError, RuntimeFailure
from rulewright_runtime.plan.envelope import encode, seal


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1736937000")
    json_report.generation_time.cache_clear()
    assert compiler(["compile", "safe-v0", "-o", "safe.plan.json"]) == 0
    write(Path("cases", "b.json"), [case("T1"), case("T2", questions=["Whose fault is it?"], forbidden=["fault", "x"])])
    return tmp_path


@pytest.mark.parametrize("epoch", ["²", "9" * 30, "253402300800", "1e9", "today"])
def test_a_time_for_reports_that_is_none_is_refused(epoch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    json_report.generation_time.cache_clear()
    with pytest.raises(RuntimeFailure, match="expected the seconds since 1970"):
        json_report.generation_time()


def report(*words: str) -> dict[str, Any]:
    main(["score", "safe.plan.json", "cases", "--out", "r.json", *words])
    result: dict[str, Any] = json.loads(Path("r.json").read_text())
    return result


def test_a_compiled_scorecard_scores_where_the_compiler_can_not_be_imported(place: Path) -> None:
    words = ["score", "safe.plan.json", "cases/b.json", "--concern", "I25"]
    done = subprocess.run([sys.executable, "-c", WITHOUT_COMPILER, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    found = json.loads(done.stdout)
    assert [result["label"] for result in found["results"]] == ["Pass", "Review"]
    jsonschema.validate(found, schema("case_report"))


def test_both_doors_write_the_same_report(place: Path) -> None:
    compiler(["score", "--concern", "I25", "--batch", "b", "--output", "other.json", "--set", "CR_pass=0.9"])
    mine, other = report("--concern", "I25", "--set", "CR_pass=0.9"), json.loads(Path("other.json").read_text())
    assert mine["configuration"]["hash"] == other["configuration"]["hash"]
    assert {**mine, "configuration": None} == {**other, "configuration": None}


def test_a_plan_contains_the_settings_it_was_compiled_under(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {"archetypes": {"A": {"weights": {"AH": 3}}, "Unknown": {"strictAH": True}}, "metricIds": {"m": {}}}
    Path("safe.config.json").write_text(json.dumps({"thresholds": {"CR": {"pass": 0.7}}, "strictAH": False, **groups}))
    monkeypatch.setenv("SAFE_V0_AC_REVIEW", "0.25")
    cases = [case("T1"), case("T2", None, questions=["Whose fault is it?"], forbidden=["fault", "x"])]
    write(Path("cases", "b.json"), cases)
    assert compiler(["compile", "safe-v0", "-o", "safe.plan.json"]) == 0
    compiler(["score", "--concern", "I25", "--batch", "b", "--output", "other.json"])
    other = json.loads(Path("other.json").read_text())
    Path("safe.config.json").unlink()
    monkeypatch.setenv("SAFE_V0_AC_REVIEW", "1")  # no variable changes a compiled plan
    mine = report("--concern", "I25")
    del other["configuration"]["reportDir"]
    assert mine == other
    assert [result["label"] for result in mine["results"]] == ["Pass", "Fail"]
    shown = report("--set", "CR_pass=0.6")["configuration"]["parameters"]
    assert shown["CR_pass"] == {"value": 0.6, "source": "--set CR_pass"}
    assert shown["AC_review"] == {"value": 0.25, "source": "environment SAFE_V0_AC_REVIEW"}
    assert shown["AH_pass"] == {"value": 1.0, "source": "default"}


def test_settings_that_a_plan_can_not_have_are_refused_before_anything_runs(place: Path, capsys: Any) -> None:
    for chosen, message in [
        ({"foo": plans.SettingValue(1, "x")}, "unknown parameter `foo`"),
        ({"CR_pass": plans.SettingValue("much", "x")}, "must be a score from 0 to 1"),
        ({f"{name}_weight": plans.SettingValue(0, "f: weights") for name in ("CR", "AH", "AC")}, "(set by f: weights)"),
    ]:
        plan = seal(replace(safe().plan, choices=plans.Choices(archetypes={"A": chosen})))
        Path("safe.plan.json").write_bytes(encode(plan))
        assert main(["score", "safe.plan.json", "cases", "--out", "r.json"]) == 3
        said = capsys.readouterr().err
        assert message in said
        assert "archetype `A`: " in said


def test_switches_and_outputs_are_taken(place: Path) -> None:
    assert [r["scores"]["AH"] for r in report("--set", "strict_ah=true")["results"]] == [1.0, 0.0]
    apart = {key: value for key, value in case("T1").items() if key != "engine_output"}
    write(Path("cases", "b.json"), [apart])
    write(Path("out", "T1.json"), output(signals=["fever"]))
    assert report("--outputs", "out")["summary"]["pass"] == 1


def test_what_is_wrong_is_named_and_makes_the_exit_status_three(place: Path, capsys: Any) -> None:
    write(Path("cases", "b.json"), [case("T1"), "x"])
    assert main(["score", "safe.plan.json", "cases", "--out", "r.json"]) == 3
    assert capsys.readouterr().err == "error: cases/b.json:1: $[1]: a case must be an object with `test_id`\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "safe.plan.json"], "scoring needs a plan and files of cases"),
        (["score", "safe.plan.json", "cases", "--resume"], "unknown option `--resume`"),
        (["score", "safe.plan.json", "cases", "--set", "foo=1"], "unknown parameter `foo`"),
        (["score", "safe.plan.json", "cases", "--judge", "me"], "unknown judge `me`"),
        (["score", "cases/b.json", "cases"], "the plan can't be decoded: Expected `object`, got `array`"),
        (
            ["run", "safe.plan.json", "cases", "--out", "x"],
            "has the format `rulewright-cases`; expected `rulewright-plan`",
        ),
    ],
)
def test_wrong_words_are_refused(words: list[str], message: str, place: Path, capsys: Any) -> None:
    assert main(words) == 3
    assert message in capsys.readouterr().err


def test_a_plan_is_read_back_as_it_was_written() -> None:
    plan = seal(safe().plan)
    assert plans.decode(encode(plan)) == plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accepted": "Great"}, "refers to `Great`"),
        ({"inputs": ()}, "refers to `must_find`"),
        ({"version": 9}, "version 9"),
        ({"exits": (("Pass", 0),)}, "refers to `Fail`"),
    ],
)
def test_a_plan_that_no_compiler_writes_is_refused(change: dict[str, Any], message: str) -> None:
    changed: CaseScorecardPlan = seal(replace(safe().plan, **change))
    with pytest.raises(PlanError, match=message):
        plans.decode(encode(changed))


def test_a_scorecard_with_a_gap_in_its_labels_is_not_compiled(place: Path, capsys: Any) -> None:
    from tests.runtime.cases.test_counting import SHIPPED

    Path("gap.yaml").write_text(SHIPPED.replace("when: CR >= CR_pass", "when: CR > CR_pass"))
    assert compiler(["compile", "gap.yaml", "-o", "gap.plan.json"]) == 3
    assert "label-table-has-a-gap" in capsys.readouterr().err
    assert not Path("gap.plan.json").exists()
