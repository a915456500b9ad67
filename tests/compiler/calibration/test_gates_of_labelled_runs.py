"""What labels say about a gate of a run, whether they are of this run or of another one."""

import json
from pathlib import Path

import pytest
from tests.compiler.calibration.labelled_runs import SCORECARD, Named, calibrated, item, labelled, refused, scanned
from tests.compiler.small_project import write
from tests.folders import write_turns

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright_runtime.runs.store import run


def test_labels_of_another_run_of_the_same_rules_decide_a_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = scanned(tmp_path / "here", "you", 15)
    there = scanned(tmp_path / "there", "you", 8)
    path = labelled(tmp_path / "g.csv", range(20))  # m8 and m9 fail, and the word list did not find it there
    words = ["--measured-on", str(there), "--require", "held=0.1"]
    code, found = calibrated(here, path, capsys, *words)
    (gate,) = found["gates"]
    assert (code, gate["status"], gate["unmeasured"], gate["next"]) == (1, "failed", [], None)
    assert gate["corrected"]["low"] > 0.1
    code, found = calibrated(here, labelled(path, range(8)), capsys, *words)  # of one verdict, which says little alone
    (gate,) = found["gates"]
    assert (code, gate["status"], gate["unmeasured"]) == (2, "inconclusive", ["W-1"])
    other = scanned(tmp_path / "other", "thou", 4)
    assert refused("calibrate", str(here), "--gold", str(path), "--measured-on", str(other))
    assert "the rules of `W-1` differ" in capsys.readouterr().err


def test_a_gate_that_every_answer_stops_fails_whatever_the_labels_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = SCORECARD.replace("stops: v.verdict == FAIL", "stops: 'v.verdict in [PASS, FAIL]'")
    here = scanned(tmp_path, "you", 10, scorecard=every)
    code, found = calibrated(here, labelled(tmp_path / "g.csv", range(15)), capsys, "--require", "held=0.5")
    (gate,) = found["gates"]
    assert (code, gate["recorded"], gate["corrected"]) == (1, 1.0, {"value": 1.0, "low": 1.0, "high": 1.0})


PART = "part: {description: part of the checks, include_all: true, select: 'check.id != \"W-2\"'}\n"
SCRIPT = {
    "scenario_id": "night",
    "title": "One night",
    "category": "empathy",
    "turns": [{"turn_number": number, "user_message": "Hello"} for number in (1, 2)],
}


@pytest.mark.parametrize(("profile", "script"), [("part", None), (None, SCRIPT)])
def test_a_gate_that_a_scan_leaves_undecided_is_not_met_by_labels_of_its_other_checks(
    profile: str | None, script: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "name: rude\nprimary_bucket: F\nseverity: S3\nscope: universal\n"
    rule += "routing: {route: lexicon_only, deterministic_precheck: you}\n"
    files = {
        "checks/W-1.yaml": f"id: W-1\n{rule}",
        "lexicons/you.yaml": "patterns:\n  - you must\n",
        "configs/scorecards/quality.yaml": SCORECARD,
        "rulewright.yaml": "project: p\nscorecard: quality\nscorecards: configs/scorecards\n",
    }
    if profile:
        files |= {"checks/W-2.yaml": f"id: W-2\n{rule}", "configs/profiles.yaml": PART}
    if script:
        files["scenarios/night.json"] = json.dumps(script)
    plan = compile_project(write(tmp_path / "p", files), profile=profile)
    for number in range(20):
        write_turns(tmp_path / "said" / f"m{number}__night.jsonl", "Hello", "Hi")
    run(plan, [tmp_path / "said"], tmp_path / "run")
    path = labelled(tmp_path / "g.csv", range(20, 20), *(f"{item(number)},PASS,ann,report" for number in range(20)))
    code, found = calibrated(tmp_path / "run", path, capsys, "--require", "held=0.2")
    (gate,) = found["gates"]
    assert (code, gate["status"], gate["transcripts"]) == (2, "inconclusive", 20)
    assert (gate["corrected"]["low"], gate["corrected"]["high"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("name", "prompt", "said"),
    [
        ("other", "Is it rude?", "other judges answered (name differ)"),
        ("same", "Is it very rude?", "the prompts of `W-1` differ"),
    ],
)
def test_labels_of_another_judge_or_prompt_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, prompt: str, said: str
) -> None:
    here = scanned(tmp_path / "here", "you", 10, Named("same"))
    there = scanned(tmp_path / "there", "you", 10, Named(name), prompt)
    path = labelled(tmp_path / "g.csv", range(20))
    assert main(["calibrate", str(here), "--gold", str(path), "--measured-on", str(here)]) == 0
    capsys.readouterr()
    assert refused("calibrate", str(here), "--gold", str(path), "--measured-on", str(there))
    assert said in capsys.readouterr().err
