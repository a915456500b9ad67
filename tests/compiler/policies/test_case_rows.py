"""The cases of a stored report that two scorecards label differently are those that scoring them anew would show."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.compiler.policies.test_policy_diff import SAFE

from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.policies.cases import exact
from rulewright.policies.compare import policy_diff
from rulewright_runtime.errors import InputError

CASES = Path("benchmark/safe").resolve()
ROW = "{label: Review, when: AH < AH_pass}"


def scored(scorecard: Path, report: Path) -> dict[str, str]:
    """The label of every case by `rulewright score`."""
    given = ["--concern", "I25", "--batch", "I25_batch_*", "--allow-errors", "--exit-zero", "--format", "json"]
    where = ["--cases", str(CASES / "cases"), "--outputs", str(CASES / "outputs"), "--output", str(report)]
    assert main(["score", *given, *where, "--scorecard", str(scorecard)]) == 0
    return {each["test_id"]: each["label"] for each in json.loads(report.read_bytes())["results"]}


@pytest.mark.parametrize(
    "row",
    [
        "{label: Fail, when: AH < AH_pass}",
        "{label: Fail, when: AH < AH_pass || CR <= score(1) - 0.2}",
        "{label: Fail, when: AH < AH_pass || CR + AC < 1.6 && CR > 0.66666}",
        "{label: Review, when: composite < AH_pass}",
    ],
)
def test_the_cases_that_flip_are_those_that_score_labels_again(tmp_path: Path, row: str) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(SAFE.read_text(encoding="utf-8").replace(ROW, row), encoding="utf-8")
    before, after = (scored(path, tmp_path / f"{path.stem}.json") for path in (SAFE, other))
    flips = policy_diff(SAFE, other, report=tmp_path / f"{SAFE.stem}.json")["flips"]
    assert {each["test_id"]: (each["before"], each["after"].partition(":")[0]) for each in flips} == {
        name: (label, after.get(name, "an error")) for name, label in before.items() if label != after.get(name)
    }
    assert flips


def test_a_report_says_nothing_of_cases_that_would_be_scored_differently(tmp_path: Path) -> None:
    report, other = tmp_path / "report.json", tmp_path / "other.yaml"
    scored(SAFE, report)
    text = SAFE.read_text(encoding="utf-8")
    for written, changed in (("score: share\n", "score: 1 - share\n"), ("(signals + [summary])", "([summary])")):
        other.write_text(text.replace(written, changed, 1), encoding="utf-8")
        with pytest.raises(UsageError, match="run `rulewright score` with each of the scorecards"):
            policy_diff(SAFE, other, report=report)


def test_a_case_for_which_a_judge_counted_is_named_and_not_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    one = {"test_id": "T-1", "scores": {"CR": 1.0, "AH": 1.0, "AC": 1.0}, "label": "Fail"}
    judged = {**one, "judged": {"AH": {"verdict": "FAIL", "counted": True}}}
    report.write_text(json.dumps({"results": [one, judged]}), encoding="utf-8")
    assert main(["policy-diff", str(SAFE), str(SAFE), "--run", str(report)]) == 0
    assert "unknown: T-1: a judge or matches by meaning counted" in capsys.readouterr().out


def test_a_file_that_is_not_a_report_is_refused(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    for text, error in (("[]", InputError), ('{"results": [{"test_id": 1}]}', InputError), ("", InputError)):
        report.write_text(text, encoding="utf-8")
        with pytest.raises(error):
            policy_diff(SAFE, SAFE, report=report)
    report.write_text('{"results": [{"test_id": "T", "label": "Pass", "scores": {"CR": 1.0}}]}', encoding="utf-8")
    with pytest.raises(UsageError, match="no score of `AH`"):
        policy_diff(SAFE, SAFE, report=report)


def test_a_recorded_score_is_the_share_that_it_was() -> None:
    for whole in (3, 7, 97, 1_000, 999_983):
        for part in (0, 1, whole // 3, whole - 1, whole):
            found = exact(part / whole)
            assert Fraction(found.numerator, found.denominator) == Fraction(part, whole)
