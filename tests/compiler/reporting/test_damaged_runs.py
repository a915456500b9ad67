"""No command decides from a run whose files are not those that the scan wrote, with or without a manifest."""

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compiler.reporting.test_leaderboard import BAD, GOOD, answers, plan, scan
from tests.rounds import every

from rulewright.cli import main
from rulewright.reporting.stored_run import open_run
from rulewright_runtime.plan.file import decode
from rulewright_runtime.runs.folder import write_manifest
from rulewright_runtime.runs.store import run

Damage = Callable[[Path, Path], None]


def _lines(name: str, change: Callable[[list[bytes]], list[bytes]]) -> Damage:
    def damage(place: Path, _: Path) -> None:
        path = place / name
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return damage


def _other(name: str) -> Damage:
    def damage(place: Path, other: Path) -> None:
        shutil.copyfile(other / name, place / name)

    return damage


def _summary(change: Callable[[dict[str, Any]], object]) -> Damage:
    def damage(place: Path, _: Path) -> None:
        summary = json.loads((place / "summary.json").read_bytes())
        change(summary)
        (place / "summary.json").write_text(json.dumps(summary), encoding="utf-8")

    return damage


def _flipped(line: bytes) -> bytes:
    return line.replace(b'"verdict":"FAIL"', b'"verdict":"PASS"').replace(b'"failed"', b'"passed"')


ROWS: Final = ("verdicts.jsonl", "scores.jsonl")
DAMAGES: Final[dict[str, Damage]] = {
    **{f"the first line of {name} is deleted": _lines(name, lambda lines: lines[1:]) for name in ROWS},
    **{f"the last line of {name} is deleted": _lines(name, lambda lines: lines[:-1]) for name in ROWS},
    **{f"{name} is empty": _lines(name, lambda _: []) for name in ROWS},
    **{f"a line of {name} is doubled": _lines(name, lambda lines: [*lines, lines[-1]]) for name in ROWS},
    **{f"a line of {name} replaces another": _lines(name, lambda lines: [lines[1], *lines[1:]]) for name in ROWS},
    **{f"two lines of {name} are swapped": _lines(name, lambda lines: [*lines[1::-1], *lines[2:]]) for name in ROWS},
    **{f"{name} is cut": _lines(name, lambda lines: [*lines[:-1], lines[-1][:-9]]) for name in ROWS},
    **{f"a failure in {name} is a pass": _lines(name, lambda lines: list(map(_flipped, lines))) for name in ROWS},
    "a score is better": _lines(ROWS[1], lambda lines: [each.replace(b":0.0", b":1.0") for each in lines]),
    "a confidence is higher": _lines(ROWS[0], lambda lines: [each.replace(b"0.9", b"0.8") for each in lines]),
    **{f"{name} is of another run": _other(name) for name in (*ROWS, "plan.json", "summary.json")},
    "the summary names another plan": _summary(lambda summary: summary.update(plan="0" * 64)),
    "the summary hides a failure": _summary(lambda summary: summary["outcomes"].update(failed=0, passed=4)),
    "the summary hides a refusal": _summary(lambda summary: summary["refused"].update(count=0)),
    "the summary raises a mean": _summary(lambda summary: summary["overall_score"].update(mean=1.0)),
    "the summary counts no call": _summary(lambda summary: summary.update(judge_calls=7)),
    "a figure of the summary is not a number": _summary(lambda summary: summary["incomplete"].update(count=True)),
    "the summary is older": _summary(lambda summary: summary.update(version=2)),
    "the summary has no version": _summary(lambda summary: summary.pop("version")),
}
REMOVED: Final = ((), ("manifest.json",), ("manifest.json", "inputs.jsonl"))
COMMANDS: Final[dict[str, Callable[[str], list[str]]]] = {
    "adjudicate": lambda run: ["adjudicate", run],
    "calibrate": lambda run: ["calibrate", run, "--gold", f"{run}/../gold.csv"],
    "diff": lambda run: ["diff", run, run],
    "export": lambda run: ["export", run, "--format", "every-eval-ever"],
    "gold": lambda run: ["gold", run, "--draw", "2"],
    "leaderboard": lambda run: ["leaderboard", run],
    "report": lambda run: ["report", run, "--format", "json"],
    "rescore": lambda run: ["rescore", run, "--out", f"{run}/../again"],
    "whatif": lambda run: ["whatif", run],
    "why": lambda run: ["why", run],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs: one with failures and a refused input, one of another plan."""
    folder = tmp_path_factory.mktemp("runs")
    said = answers("a", GOOD, BAD) | answers("b", BAD, GOOD) | {("c", "day"): ""}
    made = plan(folder / "p")
    scanned = scan(folder / "a", made, said)
    (folder / "refused.jsonl").write_text("{\n", encoding="utf-8")
    one = folder / "one"
    run(made, [scanned.parent / "said", folder / "refused.jsonl"], one)
    other = scan(folder / "b", plan(folder / "q", "never"), answers("a", GOOD, GOOD) | answers("b", GOOD, GOOD))
    return one, other


def _copy(runs: tuple[Path, Path], to: Path, *removed: str) -> Path:
    shutil.copytree(runs[0], to / "run")
    (to / "gold.csv").write_text("id,target,annotator,split\na__day/W-1,PASS,ana,report\n", encoding="utf-8")
    for name in removed:
        (to / "run" / name).unlink()
    return to / "run"


@pytest.mark.parametrize(("damage", "removed"), every(5, list(product(DAMAGES, REMOVED))))
def test_a_damaged_run_is_refused_by_every_command(
    runs: tuple[Path, Path], tmp_path: Path, damage: str, removed: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _copy(runs, tmp_path, *removed)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    DAMAGES[damage](folder, runs[1])
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} != before
    for name, command in COMMANDS.items():
        assert (name, main(command(str(folder)))) == (name, 3)
        found = capsys.readouterr()
        assert (found.out, "error: " in found.err) == ("", True)
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_manifest_that_is_written_again_hides_no_damage(
    runs: tuple[Path, Path], tmp_path: Path, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _copy(runs, tmp_path)
    made = decode((folder / "plan.json").read_bytes())
    damage(folder, runs[1])
    write_manifest(folder, made)
    for name, command in COMMANDS.items():
        assert (name, main(command(str(folder)))) == (name, 3)
        assert "error: " in capsys.readouterr().err


def test_a_run_without_a_manifest_is_read_by_its_log(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = _copy(runs, tmp_path)
    wanted = [(main(command(str(whole))), capsys.readouterr().out) for command in COMMANDS.values()]
    shutil.rmtree(tmp_path / "again")
    (whole / "manifest.json").unlink()
    got = [(main(command(str(whole))), capsys.readouterr().out) for command in COMMANDS.values()]
    told = [name for name, one, other in zip(COMMANDS, wanted, got, strict=True) if one != other]
    assert told == ["export"]  # every other command says the same; an export names the run's id, which the manifest has
    assert {status for status, _ in got} <= {0, 1, 2, 3}


@pytest.mark.parametrize("way", ["rescored", "adjudicated", "forgotten"])
def test_a_derived_run_has_a_log_of_its_own_rows(
    runs: tuple[Path, Path], tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a transcript is also removed from the working folder
    folder = _copy(runs, tmp_path)
    derived = tmp_path / "derived"
    command = {
        "rescored": ["rescore", str(folder), "--out", str(derived)],
        "adjudicated": [
            *("adjudicate", str(folder), "--decide", "c__day", "W-1", "FAIL"),
            *("--why", "she said so", "--by", "ana", "--out", str(derived)),
        ],
        "forgotten": ["cache", "prune", "--transcript", "a__day", "--ledger", str(tmp_path / "ledger"), str(folder)],
    }[way]
    main(command)
    found = folder if way == "forgotten" else derived
    (found / "manifest.json").unlink()
    assert open_run(found).summary["transcripts"] == (4 if way == "forgotten" else 5)


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"adjudicate", "report"}))
def test_a_run_without_transcripts_is_not_a_success(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "refused.jsonl").write_text("{\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text("id,target,annotator,split\n", encoding="utf-8")
    run(plan(tmp_path / "p"), [tmp_path / "refused.jsonl"], tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    assert main(COMMANDS[name](str(tmp_path / "run"))) == (1 if name == "leaderboard" else 3)
    assert "1 input refused" in "".join(capsys.readouterr())
    assert sorted(tmp_path.rglob("*")) == before


def test_the_page_of_a_run_without_transcripts_shows_what_was_refused(tmp_path: Path) -> None:
    (tmp_path / "refused.jsonl").write_text("{\n", encoding="utf-8")
    run(plan(tmp_path / "p"), [tmp_path / "refused.jsonl"], tmp_path / "run")
    assert main(["report", str(tmp_path / "run")]) == 3
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.index("1 input refused</h2>") < page.index("About the run</h2>")
    assert "no gate" not in page
    assert "Transcripts</h2>" not in page


def test_drawing_no_item_to_label_is_refused(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _copy(runs, tmp_path)
    assert main(["gold", str(folder), "--draw", "9", "--out", str(tmp_path / "known.csv")]) == 0
    again = [
        "gold", str(folder), "--draw", "9", "--known", str(tmp_path / "known.csv"), "--out", str(tmp_path / "b.csv"),
    ]  # fmt: skip
    assert main(again) == 3
    assert "no verdict is left to label" in capsys.readouterr().err
    assert not (tmp_path / "b.csv").exists()
