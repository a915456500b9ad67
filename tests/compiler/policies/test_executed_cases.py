"""Scorecards over cases that differ otherwise than in conditions are shown by cases, which both have scored."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.compiler.policies.test_policy_diff import SAFE

from rulewright.cli import main
from rulewright.policies.compare import policy_diff


def scored(scorecard: Path, witness: Mapping[str, object], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The label of a witness's case by `rulewright score` under its settings; "" where it refuses either."""
    (folder / "cases.json").write_text(json.dumps([witness["case"]]))
    given = folder / "settings.json"
    given.write_text(json.dumps(witness.get("settings file", {})))
    environment = witness.get("environment", {})
    assert isinstance(environment, dict)
    words = ["--set", str(witness["--set"])] if "--set" in witness else []
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        where = [
            "--cases",
            str(folder),
            "--concern",
            "any",
            "--batch",
            "cases",
            "--config",
            str(given),
            "--output",
            str(report),
        ]
        main(["score", "--scorecard", str(scorecard), "--format", "json", *where, *words])
    results = json.loads(report.read_bytes())["results"] if report.exists() else []
    return results[0].get("label") or "" if results else ""


@pytest.mark.parametrize(
    ("written", "changed", "place"),
    [
        ("default: false\n    environment: SAFE_V0_FOLD", "default: true\n    environment: SAFE_V0_FOLD",
         "metrics.CR.score"),
        ("contains_ci(asked, it)", "contains_ci(it, asked)", "labels"),
        ("contains_ci(summary, it)", "contains_ci(recall, it)", "metrics.AC.score"),
        ("share: {of: must_contain, ", "share: {of: must_find, ", "metrics.AC.score"),
        ("when: size(questions) > 0, ", "", "labels"),
        ("(signals + [summary]).join(' ')", "signals.join(' ')", "metrics.CR.score"),
        ("fold: fold, empty: 0", "fold: fold, empty: 1", "labels"),
        ("  - case.title\n", "", "labels"),
        ("event_summary.must_contain_phrases", "event_summary.phrases", "labels"),
        ("file: thresholds.AH.review", "file: thresholds.AH.least", "parameters.AH_review.file"),
        ("environment: SAFE_V0_AH_REVIEW, ", "", "parameters.AH_review.environment"),
        ("CR_weight + AH_weight + AC_weight > 0.0", "CR_weight + AH_weight > 0.0", "requires"),
        ("AC_weight: {type: number, default: 1.0, min: 0", "AC_weight: {type: number, default: 1.0, min: 1",
         "parameters.AC_weight"),
    ],
)  # fmt: skip
def test_a_case_shows_what_no_condition_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, changed: str, place: str
) -> None:
    text = SAFE.read_text(encoding="utf-8")
    assert written in text
    other = tmp_path / "other.yaml"
    other.write_text(text.replace(written, changed), encoding="utf-8")
    found = policy_diff(SAFE, other)
    assert found["verdict"] == "different"
    assert place in [each["place"] for each in found["regions"]]
    for number, region in enumerate(found["regions"]):
        if "case" in region["witness"] and not region["place"].startswith("metrics."):
            folder = tmp_path / str(number)
            folder.mkdir()
            for path, said in ((SAFE, region["before"]), (other, region["after"])):
                expected = "" if said.startswith("refused") else said
                assert scored(path, region["witness"], folder, monkeypatch) == expected, region


def test_a_judge_that_counts_is_shown_by_its_verdict(tmp_path: Path) -> None:
    text = SAFE.read_text(encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text(
        text.replace("      of: questions\n", "      of: questions\n      count: true\n      unclear: Review\n"),
        "utf-8",
    )
    found = policy_diff(SAFE, other)
    (shown,) = [each["witness"] for each in found["regions"] if (each["before"], each["after"]) == ("Pass", "Review")]
    assert shown["judge"]["AH"] in ("UNCLEAR", "NOT_APPLICABLE")


def test_settings_that_change_no_case_stay_undecided(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(SAFE.read_text(encoding="utf-8").replace("suggest an answer", "hint at an answer"), "utf-8")
    found = policy_diff(SAFE, other)
    assert (found["verdict"], found["regions"]) == ("undecided", [])
