"""`gates_only`: over all ways in which small plans may be answered, gates have the states of the whole run."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.folders import write_turns
from tests.model_server import chat, model_server
from tests.rounds import every
from tests.runtime.plans import asked, plan, talk
from tests.runtime.programs import const, program
from tests.runtime.runs.watched_run import judge
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import Engine, execute, results
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.question import TextSegment
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.runs.store import run
from rulewright_runtime.transcript_execution import TranscriptResult

ANSWERS = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE", "not a verdict")
BENCHMARK = ROOT / "benchmark"


class Answering:
    """Gives every check its answer, with a quote that occurs, and counts the questions."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers, self.asked = answers, 0

    def ask(self, request: JudgeRequest) -> str:
        self.asked += 1
        evidence = [{"role": "assistant", "turn": 1, "quote": "a reply of words"}]
        return json.dumps({"verdict": self.answers[request.check_id], "evidence": evidence})


def gated(*severities: str, card: str = "two-tier") -> Plan:
    """A plan of judged checks of these severities under a shipped scorecard."""
    scorecard = shipped_plan(profile="publish", scorecard=card).scorecard
    assert scorecard is not None
    checks = [
        asked(name=f"X{number}", severity=severity, hard_fail=severity == "S4_GATE", primary_bucket="AB"[number % 2])
        for number, severity in enumerate(severities)
    ]
    facts = {
        each.id: {"severity": each.severity, "primary_bucket": each.primary_bucket, "hard_fail": each.hard_fail}
        for each in checks
    }
    made = plan(*checks)
    known = {name: {**next(iter(scorecard.checks.values())), **fact} for name, fact in facts.items()}
    return seal(replace(made, scorecard=replace(scorecard, checks=known), severities=("S1", "S2", "S3", "S4_GATE")))


def row(engine: Engine, answers: dict[str, str]) -> tuple[TranscriptResult, int]:
    judge = Answering(answers)
    (result,) = results(engine, [talk("hello", "a reply of words")], judge)
    return result, judge.asked


PLANS = [("S4_GATE", "S4_GATE", "S2"), ("S4_GATE", "S2", "S4_GATE", "S4_GATE")]


@pytest.mark.parametrize("severities", PLANS)
def test_gates_have_the_states_of_the_whole_run_whatever_is_answered(severities: tuple[str, ...]) -> None:
    made = gated(*severities)
    engines = Engine(made), Engine(made, gates_only=True)
    asked_in_all, asked_of_all = 0, 0
    for answers in every(15, list(product(ANSWERS, repeat=len(severities)))):
        by_check = {check.id: answer for check, answer in zip(made.checks, answers, strict=True)}
        (whole, before), (skipped, after) = (row(engine, by_check) for engine in engines)
        states = [
            {name: gate["state"] for name, gate in (each.scores or {})["engine"]["gates"].items()}
            for each in (whole, skipped)
        ]
        assert states[0] == states[1], by_check
        assert _coverage_counts_only_what_was_asked(whole, skipped), by_check
        assert after <= before
        asked_in_all, asked_of_all = asked_in_all + after, asked_of_all + before
        left = {check.id for check in made.checks} - {verdict.check_id for verdict in skipped.verdicts}
        assert left <= set((skipped.scores or {}).get("left_out", ()))
        assert not left or (skipped.scores or {})["overall_score"] is None
    assert asked_in_all < 0.8 * asked_of_all


def _coverage_counts_only_what_was_asked(whole: TranscriptResult, skipped: TranscriptResult) -> bool:
    """Whether the outcomes agree, except where only answers that were skipped leave too few."""
    of_all, of_gates = ((each.scores or {})["engine"] for each in (whole, skipped))
    if of_all["outcome"] == of_gates["outcome"]:
        return True
    is_enough = of_gates["coverage"] is None and of_gates["coverage_at_most"] >= 0.8
    return (of_all["outcome"], of_gates["outcome"]) == ("undecided", "passed") and is_enough


def test_answers_of_skipped_checks_leave_no_transcript_undecided() -> None:
    made = gated("S4_GATE", "S4_GATE", *["S2"] * 8)
    answers = {check.id: "PASS" for check in made.checks} | {"X0": "NOT_APPLICABLE", "X1": "NOT_APPLICABLE"}
    for engine in Engine(made), Engine(made, gates_only=True):
        scores = row(engine, answers)[0].scores or {}
        assert scores["engine"]["outcome"] == "passed"


def test_a_score_may_be_anything_while_checks_are_skipped() -> None:
    made = gated("S4_GATE", "S4_GATE", "S2", "S2")
    for answer, unknown in ("PASS", []), ("UNCLEAR", ["X0"]):
        scores = row(Engine(made, gates_only=True), {"X0": answer, "X1": "PASS"})[0].scores or {}
        bounds = scores["engine"]["bounds"]
        assert (bounds["unknown"], bounds["exact"]) == ([*unknown, "X2", "X3"], False)
        assert (bounds["outcomes"] == ["passed"], bounds["decided_by"]) == (not unknown, unknown)
        assert bounds["overall_score"] == {"low": 0.0, "high": 1.0, "absent": True}


def test_a_dimension_may_be_anything_while_its_checks_are_skipped() -> None:
    made = gated("S4_GATE", "S4_GATE", "S2")
    assert made.scorecard is not None
    checks = {**made.scorecard.checks, "X2": {**made.scorecard.checks["X2"], "primary_bucket": "C"}}
    made = seal(replace(made, scorecard=replace(made.scorecard, checks=checks)))
    scores = row(Engine(made, gates_only=True), {"X0": "PASS", "X1": "PASS"})[0].scores or {}
    dimensions = scores["engine"]["bounds"]["dimensions"]
    assert dimensions["communication_quality"] == {"low": 0.0, "high": 1.0, "absent": True}
    assert dimensions["boundary_integrity"] == {"low": None, "high": None, "absent": True}


@pytest.mark.parametrize("answer", ["PASS", "NOT_APPLICABLE", "FAIL", "UNCLEAR"])
def test_a_gate_with_a_pass_rate_has_the_states_of_the_whole_run(tmp_path: Path, answer: str) -> None:
    made = gated("S4_GATE", "S4_GATE", *["S2"] * 8)
    assert made.scorecard is not None
    gates = tuple(replace(gate, pass_rate=program(const(0.9))) for gate in made.scorecard.gates)
    made = seal(replace(made, scorecard=replace(made.scorecard, gates=gates)))
    write_turns(tmp_path / "m__s.jsonl", "hello", "a reply of words")
    answers = {check.id: "PASS" for check in made.checks} | {"X1": answer}
    states = []
    for name, gates_only in (("whole", False), ("gates", True)):
        out = tmp_path / name
        judge = Answering(answers)
        summary = run(made, [tmp_path / "m__s.jsonl"], out, judge=judge, gates_only=gates_only)
        found = {name: gate["states"] for name, gate in summary["unresolved"]["gates"].items()}
        states.append((found, exit_status(summary)))
    assert states[0] == states[1]


def test_a_plan_without_gates_is_refused() -> None:
    with pytest.raises(PlanError, match="needs a scorecard with a gate"):
        list(execute(plan(asked()), [], Answering({}), gates_only=True))


def test_a_live_run_asks_less_and_writes_the_same_at_any_concurrency(tmp_path: Path) -> None:
    made = gated("S4_GATE", "S2", "S4_GATE")
    made = seal(
        replace(
            made,
            checks=tuple(
                replace(each, verifier=replace(each.verifier, judging=_asking(each.verifier, each.id)))
                for each in made.checks
            ),
        )
    )
    for number in range(12):
        write_turns(tmp_path / f"m{number}__s.jsonl", *[f"a reply of words {number}"] * 2)

    def handler(asked: dict[str, Any], _: int) -> Any:
        said = asked["messages"][0]["content"]
        fails = "words 3" in said or ("words 5" in said and "X2" in said)
        evidence = [{"role": "assistant", "turn": 1, "quote": "a reply of words"}]
        return chat(json.dumps({"verdict": "FAIL" if fails else "PASS", "evidence": evidence}))

    contents = []
    for concurrency in (1, 64):
        with model_server(handler) as server:
            live = judge(server, tmp_path / f"l{concurrency}.sqlite3", limits=CallLimits(concurrency=concurrency))
            run(made, sorted(tmp_path.glob("*.jsonl")), tmp_path / f"run{concurrency}", judge=live, gates_only=True)
            assert len(server.requests) == 12 * 2 - 1
        files = ("verdicts.jsonl", "scores.jsonl", "replies.jsonl")
        replies = (tmp_path / f"run{concurrency}" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(replies) == 23
        contents.append([(tmp_path / f"run{concurrency}" / name).read_bytes() for name in files[:2]])
    assert contents[0] == contents[1]
    summary = json.loads((tmp_path / "run1" / "summary.json").read_bytes())
    assert summary["gates_only"] is True
    assert summary["left_out"] == {"X1": 12, "X2": 1}


def _asking(verifier: Any, name: str) -> Any:
    return replace(verifier.judging, prompt=(TextSegment(f"{name}?"),))
