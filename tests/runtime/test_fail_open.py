"""Faults injected into every stage of judging: none makes a verdict, a gate or a score better than it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.runtime.plans import Scripted

from rulewright.check.project_check import compile_project
from rulewright.project import load_project
from rulewright_runtime.execution import execute
from rulewright_runtime.judging import evidence, prompts, replies, votes
from rulewright_runtime.judging.judge import Judge, JudgeRequest, ReplayJudge, open_judge
from rulewright_runtime.matching import match
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.verifiers import Route, Verifier
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts import windows
from rulewright_runtime.verify import evaluation_context as context
from rulewright_runtime.verify import probes, verifier_of

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmark"
CORPORA = (
    (BENCHMARK, "publish", "two-tier"),
    *((BENCHMARK / "scorers", name, name) for name in ("memory", "coordination", "regard", "rubric")),
    (BENCHMARK / "service_desk", None, "release"),
)
GOOD = ("PASS", "NOT_APPLICABLE")


@cache
def ready(folder: Path, profile: str | None, scorecard: str) -> tuple[Plan, str, tuple[TranscriptResult, ...]]:
    """A plan, its judge, and what it says when nothing goes wrong."""
    project = load_project(folder)
    plan = compile_project(project, profile=profile, scorecard=scorecard)
    source = project.judge_source or ""
    return plan, source, tuple(execute(plan, conversations(folder), source or None))


def conversations(folder: Path) -> list[Path]:
    """What the project judges."""
    return [each for name in ("transcripts", "chats") if (each := folder / name).is_dir()]


def compare(
    fault: str,
    judged: Callable[[str], Judge | str] = lambda source: source,
    concerns: Callable[[Plan], bool] = lambda plan: True,
) -> int:
    """Judge the shipped corpora and hold them against the sound results; the number of verdicts that changed."""
    changed = 0
    for folder, profile, scorecard in CORPORA:
        plan, source, sound = ready(folder, profile, scorecard)
        if not concerns(plan):
            continue
        faulty = execute(plan, conversations(folder), judged(source) if source else None)
        for before, after in zip(sound, faulty, strict=True):
            where = (fault, after.transcript_id)
            assert [v.check_id for v in before.verdicts] == [v.check_id for v in after.verdicts], where
            for old, new in zip(before.verdicts, after.verdicts, strict=True):
                changed += (old.verdict, old.eligible) != (new.verdict, new.eligible)
                assert not (old.verdict in ("FAIL", "UNCLEAR") and new.verdict in GOOD), (*where, new.check_id)
                assert not (old.eligible and not new.eligible), (*where, new.check_id)
                assert new.verdict != "UNCLEAR" or new.adjudication_required, (*where, new.check_id)
            _no_better(before.scores or {}, after.scores or {}, where)
    return changed


def _no_better(before: dict[str, Any], after: dict[str, Any], where: tuple[str, str]) -> None:
    for name, gate in (before.get("gates") or {}).items():
        assert gate["passed"] is True or after["gates"][name]["passed"] is not True, (*where, name)
    assert "service" not in before or (after["service"] or 0) <= (before["service"] or 0), where
    if after.get("status") == "valid":
        assert before["status"] == "valid", where
        assert after["hard_fail"] or not before["hard_fail"], where
        risen = (after["overall_score"] or 0) > (before["overall_score"] or 0)
        assert not risen, where


def broken(*_: Any, **__: Any) -> Any:
    """What stands where something has broken."""
    raise ValueError("injected")


@pytest.mark.parametrize("part", get_args(Verifier))
def test_a_verifier_that_crashes_makes_nothing_better(part: type[Route], monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in CORPORA:
        ready(*corpus)
    usual = verifier_of
    monkeypatch.setattr(
        "rulewright_runtime.execution.verifier_of", lambda asked: broken if asked is part else usual(asked)
    )
    used = lambda plan: any(isinstance(check.verifier, part) for check in plan.checks)  # noqa: E731
    assert compare(part.__name__, concerns=used) > 0


STAGES = (
    (votes, "count"),
    (replies, "read"),
    (evidence, "occurs"),
    (prompts, "render"),
    (context, "select"),
    (context, "first"),
    (probes, "find"),
    (windows, "_whole"),
    (match, "_form"),
)


@pytest.mark.parametrize(("module", "function"), STAGES, ids=[function for _, function in STAGES])
def test_a_stage_that_crashes_makes_nothing_better(module: Any, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in CORPORA:
        ready(*corpus)
    monkeypatch.setattr(ReplayJudge, "reads_prompts", True)  # as a model does
    monkeypatch.setattr(module, function, broken)
    assert compare(function) > 0


ABSENCES = (
    TimeoutError("none"),
    None,
    "",
    "[]",
    "{}",
    '{"verdict": "PASS"',
    '{"verdict": null, "evidence": []}',
    "PASS",
)


@pytest.mark.parametrize("answer", ABSENCES, ids=repr)
def test_a_judge_that_says_nothing_makes_nothing_better(answer: Any) -> None:
    assert compare(repr(answer), lambda _: Scripted(answer)) > 0


class Forgetful:
    """A judge that leaves out every n-th answer."""

    def __init__(self, judge: Judge, every: int) -> None:
        self.judge, self.every, self.asked = judge, every, 0

    def ask(self, request: JudgeRequest) -> str | None:
        self.asked += 1
        return None if self.asked % self.every == 0 else self.judge.ask(request)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_replies_that_get_lost_make_nothing_better(every: int) -> None:
    compare(f"every {every}", lambda source: Forgetful(open_judge(source), every))


def test_evidence_that_is_an_empty_list_makes_nothing_better(monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in CORPORA:
        ready(*corpus)
    usual = replies.read
    monkeypatch.setattr(replies, "read", lambda raw, judging: {**usual(raw, judging), "evidence": []})
    compare("no evidence")
