"""Attacks on a ranking: what nobody answered, what nobody asked, and what somebody else judged never lifts a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.reporting.leaderboard import leaderboard
from rulewright_runtime.judging.judge import JudgeRecord
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import is_unproven
from rulewright_runtime.runs.store import run

BENCHMARK = ROOT / "benchmark"
REPLIES = json.loads((BENCHMARK / "judge_replies" / "replies.json").read_text(encoding="utf-8"))
HARNESS = ["unrecorded"]


class Replayed:
    """Answers as the recorded replies do, but for failures that it swallows, or for everything."""

    def __init__(self, swallow: str = "", name: str = "one") -> None:
        self._swallow, self.record = swallow, JudgeRecord("python", name)

    def ask(self, request: Any) -> str | None:
        if self._swallow == "everything":
            raise OSError("connection refused")
        known = REPLIES.get(request.transcript_id, {})
        repetitions = known.get(f"{request.check_id}/{request.purpose}/{request.window}") or known.get(request.check_id)
        attempts = repetitions[request.repetition] if repetitions and request.repetition < len(repetitions) else [None]
        reply = attempts[min(request.attempt, len(attempts) - 1)]
        silent = not isinstance(reply, str) or (self._swallow and '"FAIL"' in reply)
        return None if silent else str(reply)


def plan(profile: str = "publish") -> Plan:
    return shipped_plan(profile=profile)


def scanned(folder: Path, judge: Any, profile: str = "publish", model: str = "") -> Path:
    run(plan(profile), sorted((BENCHMARK / "transcripts").glob(f"{model}*.jsonl")), folder, judge=judge)
    return folder


def models(board: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {model["model"]: model for model in board["models"]}


def test_unanswered_failures_never_raise_a_rank_or_a_lower_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = models(leaderboard([scanned(tmp_path / "honest", Replayed())], HARNESS))
    silent = models(leaderboard([scanned(tmp_path / "silent", Replayed("failures"))], HARNESS))
    for name, model in honest.items():
        assert silent[name]["bounds"]["low"] <= model["bounds"]["low"] + 1e-12
        assert silent[name]["ranks"][1] >= model["ranks"][1]
        assert silent[name]["rank"] >= model["rank"]
    assert any(model["unresolved"] for model in silent.values())
    assert main(["leaderboard", str(tmp_path / "silent"), "--harness", "unrecorded"]) != 0
    shown = capsys.readouterr().out
    assert "with missing answers; the score is an interval" in shown


def test_an_outage_is_no_hard_fail_of_a_valid_row(tmp_path: Path) -> None:
    folder = scanned(tmp_path / "run", Replayed("everything"))
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    out = [row for row in rows if is_unproven(row["engine"])]
    assert out
    for row in out:
        assert row["status"] != "valid"
        assert {"failed", "passed"} <= set(row["engine"]["bounds"]["outcomes"])
        assert row["engine"]["bounds"]["overall_score"]["high"] > row["overall_score"]


def test_a_run_without_the_checks_of_a_gate_is_not_ranked_beside_one_with_them(tmp_path: Path) -> None:
    published = scanned(tmp_path / "publish", Replayed(), model="model-b")
    smoke = scanned(tmp_path / "smoke", None, "smoke", model="model-a")
    with pytest.raises(UsageError, match="can't be compared: their plans differ"):
        leaderboard([published, smoke], HARNESS)


def test_a_run_of_another_judge_is_not_ranked_beside_it(tmp_path: Path) -> None:
    one = scanned(tmp_path / "one", Replayed(), model="model-a")
    other = scanned(tmp_path / "other", Replayed(name="another"), model="model-b")
    with pytest.raises(UsageError, match="they were judged by python one and python another; use one judge"):
        leaderboard([one, other], HARNESS)
