"""Cases of a report labelled again: as `score` would label them, with exact breakpoints, and never by a guess."""

import json
import random
import shutil
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import every
from tests.safe_cases import case, write

from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.whatif.case_labels import relabelled
from rulewright_runtime.errors import InputError, PlanError

WORDS = [f"word{number}" for number in range(7)]


def cases(seed: int, count: int = 30) -> list[dict[str, Any]]:
    chance = random.Random(seed)

    def some(least: int) -> list[str]:
        return chance.sample(WORDS, chance.randint(least, len(WORDS)))

    return [
        case(
            f"c{number}",
            chance.choice(["A", "B"]),
            must=some(1),
            phrases=some(1),
            forbidden=some(1),
            signals=some(0),
            summary=" ".join(some(1)),
            questions=[" ".join(some(0)[:2])],
        )
        for number in range(count)
    ]


def scored(folder: Path, *options: str) -> dict[str, Any]:
    """The report of the batch, which is written too."""
    out = folder / f"report{len(options)}.json"
    words = ["score", "--cases", str(folder / "cases"), "--concern", "I25", "--batch", "*", "--exit-zero"]
    main([*words, "--format", "json", "--output", str(out), *options])
    report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return report


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with cases, their configuration and their report."""
    folder = tmp_path_factory.mktemp("batch")
    write(folder / "cases" / "I25" / "batch.json", cases(1))
    (folder / "safe.config.json").write_text('{"archetypes": {"B": {"thresholds": {"CR": {"pass": 0.9}}}}}')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        scored(folder)
    return folder


@pytest.fixture
def folder(batch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(batch, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "report0.json"


def labels(report: dict[str, Any]) -> dict[str, str]:
    return {each["test_id"]: each["label"] for each in report["results"]}


@pytest.mark.parametrize(
    "given",
    [{}, {"CR_pass": "1"}, {"CR_pass": "0.51"}, {"AH_review": "0.6", "AC_pass": "2/3"}, {"CR_weight": "3"}],
    ids=str,
)
def test_the_labels_are_those_that_scoring_again_gives(folder: Path, given: dict[str, str]) -> None:
    options = [f"--set={name}={float(Fraction(value))!r}" for name, value in given.items()]
    before, after = labels(json.loads(folder.read_text())), labels(scored(folder.parent, *options, "--verbose"))
    found = relabelled(folder, None, {name: repr(float(Fraction(value))) for name, value in given.items()})
    assert {flip["test_id"]: flip["after"] for flip in found["flips"]} == {
        name: label for name, label in after.items() if before[name] != label
    }
    assert (found["cases"], found["undecided"]) == (len(before), [])


@pytest.mark.parametrize("parameter", every(3, ["AH_review", "AC_pass", "CR_review"]))
def test_a_sweep_finds_every_value_at_which_a_label_changes(folder: Path, parameter: str) -> None:
    points = relabelled(folder, None, {}, parameter)["sweep"]["breakpoints"]
    assert points
    steps = sorted({Fraction(number, of) for of in range(1, 6) for number in range(of + 1)})
    middles = [(one + other) / 2 for one, other in pairwise(steps)]
    tried = sorted({Fraction(repr(round(float(value), 4))) for value in (*steps, *middles)})

    def changed(value: Fraction) -> dict[str, str]:
        found = relabelled(folder, None, {parameter: str(value)})["flips"]
        return {flip["test_id"]: flip["after"] for flip in found}

    known: dict[Fraction, dict[str, str]] = {}
    for value in tried:
        try:
            known[value] = changed(value)
        except PlanError:  # `score` refuses a threshold to pass below the one to fail
            continue
    values = sorted(known)
    for low, high in pairwise(values):
        differing = {
            name for name in known[low].keys() | known[high].keys() if known[low].get(name) != known[high].get(name)
        }
        between = [
            point
            for point in points
            if (low < Fraction(point["at"]).limit_denominator(99) <= high and point["side"] == "at")
            or (low <= Fraction(point["at"]).limit_denominator(99) < high and point["side"] == "after")
        ]
        assert {name for point in between for name in point["cases"]} == differing, (low, high)
        assert all(point["exact"] for point in between)


def test_what_was_not_recorded_is_not_guessed(folder: Path) -> None:
    for parameter in ("strict_ah", "fold"):
        with pytest.raises(UsageError, match=f"`{parameter}` changes what is found in a text"):
            relabelled(folder, None, {parameter: "true"})
    with pytest.raises(UsageError, match="`safe-v0` has no parameter `CR_pss`"):
        relabelled(folder, None, {"CR_pss": "1"})
    with pytest.raises(PlanError, match=r"`CR_pass` is 0.3"):
        relabelled(folder, None, {"CR_pass": "0.3"})
    with pytest.raises(UsageError, match="has no `min` and `max` to sweep between"):
        relabelled(folder, None, {}, "CR_weight")
    with pytest.raises(InputError, match=r"is not a JSON report of `rulewright score`"):
        relabelled(folder.parent / "cases" / "I25" / "batch.json", None, {})


def test_a_report_whose_label_is_not_that_of_its_scores_is_not_believed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = json.loads(folder.read_text())
    was = report["results"][0]["label"]
    report["results"][0]["label"] = now = "Pass" if was != "Pass" else "Fail"
    report["label_distribution"][was] -= 1
    report["label_distribution"][now] += 1
    folder.write_text(json.dumps(report))
    assert relabelled(folder, None, {})["undecided"] == ["c0"]
    capsys.readouterr()
    assert main(["whatif", str(folder)]) == 2
    assert "unknown: c0" in capsys.readouterr().out
    report["configuration"]["parameters"]["CR_pass"]["value"] = 0.1
    folder.write_text(json.dumps(report))
    with pytest.raises(UsageError, match=r"is not what .* was scored with; run `rulewright score` again"):
        relabelled(folder, None, {})


def test_another_scorecard_over_the_same_scores_labels_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rulewright.scoring.case_scorecards import find_scorecard

    shipped = find_scorecard("safe-v0")
    assert shipped is not None
    text = shipped.read_text(encoding="utf-8").replace("scorecard: safe-v0", "scorecard: lenient")
    mine = folder.parent / "lenient.yaml"
    mine.write_text(text.replace("{label: Review, when: AH < AH_pass}", "{label: Pass, when: AH < AH_pass}"))
    found = relabelled(folder, str(mine), {})
    assert found["flips"]
    assert {(flip["before"], flip["after"]) for flip in found["flips"]} == {("Review", "Pass")}
    capsys.readouterr()
    assert main(["whatif", str(folder), "--scorecard", str(mine), "--sweep", "AC_pass"]) == 1
    assert "sweep of AC_pass (0.8 now): " in capsys.readouterr().out
    mine.write_text(text.replace("contains_ci(recall, it)", "recall.contains(it)"))
    with pytest.raises(UsageError, match="`lenient` does not find and score the same as `safe-v0`"):
        relabelled(folder, str(mine), {})


def test_a_report_is_not_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(folder), "--profile", "p"]) == 3
    assert main(["rescore", str(folder), "--out", str(folder.parent / "new")]) == 3
    errors = capsys.readouterr().err
    assert "is a report of `score`, which has no profile, no project and no votes" in errors
    assert "is a report of `score`: run `score` again with `--set`" in errors
