"""A run that an earlier version wrote, in which the id of a check was `mode_id`, reads like one of today."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.shared_data import ROOT

import rulewright
from rulewright.errors import UsageError
from rulewright.reporting.adjudication import adjudicate, original, read_decisions, waiting
from rulewright.reporting.gather import gather
from rulewright.reporting.stored_run import read_run
from rulewright_runtime import strict_json

LIVE = ROOT / "benchmark" / "live"


def earlier(value: Any) -> Any:
    if isinstance(value, dict):
        return {"mode_id" if key == "check_id" else key: earlier(item) for key, item in value.items()}
    return [earlier(item) for item in value] if isinstance(value, list) else value


def rewrite(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    rows = [json.dumps(change(json.loads(line))) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of a judge whose replies are no answers, and the same as an earlier version wrote it."""
    today = tmp_path_factory.mktemp("runs") / "today"

    class Silent:
        def ask(self, request: rulewright.JudgeRequest) -> str | None:
            return None

    rulewright.scan(str(LIVE), LIVE / "recorded" / "transcripts", today, judge=Silent())
    before = today.with_name("before")
    shutil.copytree(today, before)
    joined = ("scenario_id", "model")
    rewrite(before / "verdicts.jsonl", lambda row: {k: v for k, v in earlier(row).items() if k not in joined})
    rewrite(before / "scores.jsonl", earlier)
    summary = json.loads((before / "summary.json").read_text(encoding="utf-8"))
    (before / "summary.json").write_text(json.dumps({**earlier(summary), "version": 2}), encoding="utf-8")
    (before / "manifest.json").unlink()  # edited: as a run of a version that wrote no manifest
    assert "check_id" not in "".join(path.read_text(encoding="utf-8") for path in before.glob("[sv]*.json*"))
    return today, before


def test_an_earlier_run_is_read_like_one_of_today(runs: tuple[Path, Path]) -> None:
    today, before = runs
    pages = [gather(folder) for folder in runs]
    for page in pages:
        del page["run"], page["summary"]["version"]
    assert pages[0] == pages[1]
    frames = [[{**row, "run": "", "run_id": ""} for row in rulewright.load_run(folder).records()] for folder in runs]
    assert frames[0] == frames[1]
    assert {row["check_id"] for row in frames[1]} == {"gives-a-next-step"}
    assert waiting(original(today)) == waiting(original(before)) != []
    stored = [[list(found) for found in read_run(folder).verdicts.values()] for folder in runs]
    assert stored[0] == stored[1]


def test_an_earlier_run_and_its_decisions_are_adjudicated(runs: tuple[Path, Path], tmp_path: Path) -> None:
    summaries = []
    for folder, key in zip(runs, ("check_id", "mode_id"), strict=True):
        item = waiting(original(folder))[0]
        line = {
            "transcript_id": item.transcript_id,
            key: item.check_id,
            "verdict": "FAIL",
            "by": "Ada",
            "why": "no step",
        }
        decisions = tmp_path / f"{key}.jsonl"
        decisions.write_text(json.dumps(line) + "\n", encoding="utf-8")
        summary = adjudicate(folder, tmp_path / key, list(read_decisions(decisions)))
        summaries.append({**summary, "adjudicated": None})
    assert summaries[0] == summaries[1]
    names = ("verdicts.jsonl", "scores.jsonl")
    assert [(tmp_path / "check_id" / name).read_bytes() for name in names] == [
        (tmp_path / "mode_id" / name).read_bytes() for name in names
    ]


def test_a_verdict_without_a_check_is_refused(runs: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(runs[0], tmp_path / "run")
    (tmp_path / "run" / "manifest.json").unlink()
    rewrite(tmp_path / "run" / "verdicts.jsonl", lambda row: {k: v for k, v in row.items() if k != "check_id"})
    with pytest.raises(UsageError, match="`check_id`"):
        read_run(tmp_path / "run")


def test_reading_a_run_leaves_the_garbage_collector_on(runs: tuple[Path, Path], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(runs[0], damaged)
    (damaged / "manifest.json").unlink()
    (damaged / "verdicts.jsonl").write_text("{\n", encoding="utf-8")
    assert read_run(runs[0]).verdicts
    assert gc.isenabled()
    with pytest.raises(UsageError, match="not verdicts of a run"):
        read_run(damaged)
    assert gc.isenabled()


def test_a_quote_without_a_rationale_hides_no_doubled_key(runs: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs[0], folder)
    (folder / "manifest.json").unlink()  # the lines are edited
    path = folder / "verdicts.jsonl"
    first, second, *rest = path.read_text(encoding="utf-8").splitlines()
    quoting = {**json.loads(first), "evidence": [{"role": "user", "turn": 1, "quote": "please stay"}]}
    path.write_text("\n".join([json.dumps(quoting), second, *rest]) + "\n", encoding="utf-8")
    (before, *_), *_ = [list(verdicts.values()) for verdicts in read_run(folder).verdicts.values()]
    assert [(span.quote, span.rationale) for span in before.evidence] == [("please stay", None)]
    doubled = second.replace('"eligible":', '"eligible":false,"eligible":', 1)
    path.write_text("\n".join([json.dumps(quoting), doubled, *rest]) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="duplicate key `eligible`"):
        read_run(folder)


def test_the_lines_of_a_run_show_without_a_second_decoding_that_no_key_is_doubled(
    runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs[0], folder)
    (folder / "manifest.json").unlink()
    span = {"role": "user", "turn": 1, "quote": "please stay", "rationale": None}
    rewrite(folder / "verdicts.jsonl", lambda row: {**row, "scenario_id": None, "evidence": [span]})

    def refuse(*_: object) -> None:
        raise AssertionError("the lines are decoded again")

    monkeypatch.setattr(strict_json.Decoder, "_check_lines", refuse)
    (verdict, *_), *_ = [list(verdicts.values()) for verdicts in read_run(folder).verdicts.values()]
    assert [each.quote for each in verdict.evidence] == ["please stay"]
