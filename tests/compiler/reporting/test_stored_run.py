"""A stored run is read whole, or refused where a line of it is damaged."""

import gc
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.folders import reseal
from tests.shared_data import ROOT

import rulewright
from rulewright.errors import UsageError
from rulewright.reporting import stored_run
from rulewright.reporting.stored_run import read_run

LIVE = ROOT / "benchmark" / "live"


def rewrite(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    rows = [json.dumps(change(json.loads(line))) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a judge whose replies are not answers."""
    folder = tmp_path_factory.mktemp("runs") / "run"

    class Silent:
        def ask(self, request: rulewright.JudgeRequest) -> str | None:
            return None

    rulewright.scan(str(LIVE), LIVE / "recorded" / "transcripts", folder, judge=Silent())
    return folder


def test_a_verdict_without_a_check_is_refused(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    rewrite(tmp_path / "run" / "verdicts.jsonl", lambda row: {k: v for k, v in row.items() if k != "check_id"})
    reseal(tmp_path / "run")
    with pytest.raises(UsageError, match="`check_id`"):
        read_run(tmp_path / "run")


def test_reading_a_run_leaves_the_garbage_collector_as_it_was(run: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(run, damaged)
    (damaged / "verdicts.jsonl").write_text("{\n", encoding="utf-8")
    reseal(damaged)
    before = gc.get_threshold()
    assert read_run(run).verdicts
    with pytest.raises(UsageError, match="not a row of a run"):
        read_run(damaged)
    assert gc.get_threshold() == before


def test_a_doubled_key_is_refused(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    path = folder / "verdicts.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    doubled = first.replace('"eligible":', '"eligible":false,"eligible":', 1)
    path.write_text("\n".join([doubled, *rest]) + "\n", encoding="utf-8")
    reseal(folder)
    with pytest.raises(UsageError, match="duplicate key `eligible`"):
        read_run(folder)


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("summary.json", {"outcomes": None}, "this is not a summary of a run: `outcomes` is missing"),
        ("scores.jsonl", {"engine": {}}, "has no outcome; scan it again"),
        ("verdicts.jsonl", {"transcript_id": "nobody"}, "`nobody` has no row in `scores.jsonl`"),
    ],
)
def test_rows_that_belong_to_no_run_are_refused(
    run: Path, tmp_path: Path, part: str, change: dict[str, Any], said: str
) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    if part == "summary.json":
        found = json.loads((folder / part).read_text(encoding="utf-8"))
        (folder / part).write_text(json.dumps({**found, **change}), encoding="utf-8")
    else:
        rewrite(folder / part, lambda row: {**row, **change})
    reseal(folder)
    with pytest.raises(UsageError, match=said):
        read_run(folder)


def test_verdicts_are_the_same_however_many_of_them_are_shared(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = read_run(run).verdicts
    monkeypatch.setattr(stored_run, "MAX_SHARED", 1)
    assert read_run(run).verdicts == shared
