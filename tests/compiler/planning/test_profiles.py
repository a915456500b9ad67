"""Profiles side by side, and what the shipped ones select."""

import json
from functools import cache
from pathlib import Path

import pytest
from tests.shipped_plans import shipped_plan

from rulewright.cli import main
from rulewright.project import Project, load_project
from rulewright_runtime.plan.judge_needs import needs_judge
from rulewright_runtime.plan.question import Judging

ROOT = Path(__file__).parents[3]
BENCHMARK = ROOT / "benchmark"


@cache
def project() -> Project:
    return load_project(BENCHMARK)


def asked(profile: str) -> dict[str, Judging]:
    plan = shipped_plan(profile)
    return {check.id: judging for check in plan.checks for judging in check.verifier.judgings()}


def test_smoke_asks_no_judge() -> None:
    assert needs_judge(shipped_plan("smoke")) == []


def test_publish_and_full_ask_as_often_as_the_checks_say_and_full_may_stop_early() -> None:
    benchmark = project()
    for profile, adaptive in (("publish", False), ("full", True)):
        found = asked(profile)
        written = {check.id: check.routing.repetitions for check in benchmark.checks if check.id in found}
        assert {name: judging.repetitions for name, judging in found.items()} == written
        plain = [judging.adaptive_stop for judging in found.values() if not judging.fields]
        assert plain
        assert set(plain) == {adaptive}


def test_dev_asks_for_fewer_votes_where_a_check_names_them() -> None:
    benchmark = project()
    for name, judging in asked("dev").items():
        check = benchmark.check(name)
        assert check is not None
        own = check.routing.dev_repetitions
        assert judging.repetitions == (check.routing.repetitions if own is None else own)


def test_a_comparison_says_what_is_left_out_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["plan", str(BENCHMARK / "transcripts"), "--project", str(BENCHMARK), "--out", str(tmp_path)]
    assert main([*argv, "--compare", "publish", "smoke"]) == 0
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    left_out = found["only_in"]["publish"]
    assert left_out
    assert found["only_in"]["smoke"] == {}
    assert all(f"only in publish: {check} (" in shown for check in left_out)
    assert found["planned_llm_calls"]["smoke"] == 0
    assert found["saved"]["llm_calls"] == found["planned_llm_calls"]["publish"] > 0
    assert found["saved"]["cost_usd"] == pytest.approx(found["estimated_cost_usd"]["publish"])
    assert "smoke leaves the gate `safety` undecided where these apply: " in shown
    assert found["open_gates"]["publish"] == {}


def test_a_profile_saves_nothing_against_itself(tmp_path: Path) -> None:
    argv = ["plan", str(BENCHMARK / "transcripts"), "--project", str(BENCHMARK), "--out", str(tmp_path)]
    assert main([*argv, "--compare", "full", "full"]) == 0
    found = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert (found["saved"], found["only_in"]) == ({"llm_calls": 0, "cost_usd": 0.0}, {"full": {}})


def test_an_unknown_profile_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["plan", str(BENCHMARK / "transcripts"), "--project", str(BENCHMARK), "--out", str(tmp_path)]
    assert main([*argv, "--compare", "publish", "smok"]) == 3
    assert "did you mean `smoke`?" in capsys.readouterr().err
