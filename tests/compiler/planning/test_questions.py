"""What a plan says that a scan cannot exceed, no scan exceeds."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.commands.test_live_judge import project
from tests.runtime.plans import check, judging, talk
from tests.runtime.plans import plan as plan_of
from tests.runtime.programs import name, program
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

from rulewright.cli import main
from rulewright.documents.project_file import ModelPrice
from rulewright.planning.profiles import comparison_text
from rulewright.planning.questions import bound_of, questions_by_key
from rulewright.planning.scan import scan_plan
from rulewright.project import load_project
from rulewright_runtime.calls.budget import MESSAGE_TOKENS
from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.question import ReplyField, Unusable
from rulewright_runtime.plan.verifiers import PhasedVerifier
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader


class AtRandom:
    """A judge with any verdict, or none, which keeps what it was asked."""

    def __init__(self, seed: int) -> None:
        self.random, self.asked = random.Random(seed), list[JudgeRequest]()

    def ask(self, request: JudgeRequest) -> str | None:
        self.asked.append(request)
        verdict = self.random.choice(["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE", "nonsense"])
        return self.random.choice([None, f'{{"verdict": "{verdict}", "evidence": []}}', "no object"])


@pytest.fixture(scope="module")
def shipped() -> tuple[Any, list[Transcript]]:
    plan = shipped_plan()
    found = list(Reader(plan.scenarios).read([ROOT / "benchmark" / "transcripts"]))
    return plan, [each for each in found if isinstance(each, Transcript)][:6]


@pytest.mark.parametrize("seed", range(4))
def test_no_scan_of_the_shipped_checks_exceeds_its_bound(seed: int, shipped: tuple[Any, list[Transcript]]) -> None:
    plan, transcripts = shipped
    judge = AtRandom(seed)
    list(execute(plan, transcripts, judge))
    bound, known = bound_of(plan, transcripts, None), questions_by_key(plan, transcripts)
    assert len(judge.asked) > 20
    for each in judge.asked:
        place = (each.transcript_id, each.check_id, each.purpose, each.window)
        assert len(each.prompt.encode()) <= len(known[place].prompt.encode()), place
    sent = sum(len(each.prompt.encode()) + each.max_tokens for each in judge.asked)
    assert len(judge.asked) <= bound["calls"]
    assert sent * bound["attempts"] <= bound["tokens"]


def test_a_price_makes_a_bound_of_tokens_one_of_dollars(shipped: tuple[Any, list[Transcript]]) -> None:
    plan, transcripts = shipped
    bound = bound_of(plan, transcripts, ModelPrice(1.0, 1.0))
    assert bound["cost_usd"] == pytest.approx(bound["tokens"] / 1e6)


@pytest.mark.parametrize("unusable", [Unusable("UNCLEAR"), Unusable("FAIL")], ids=["any check", "a gate check"])
def test_the_bound_counts_for_each_question_the_most_votes_and_the_longest_replies(
    unusable: Unusable, tmp_path: Path
) -> None:
    fields = (ReplyField("violation", "boolean"),)
    confirm = judging(fields=fields, violates=program(name("reply.violation")), budgets=(40,), unusable=unusable)
    made = plan_of(check(PhasedVerifier("words", confirm, judging(repetitions=3, budgets=(9, 20)))))
    said = [talk("Stay.", "I promise.")]
    prompts = [each.prompt.encode() for each in questions_by_key(made, said).values()]
    attempts, calls = CallLimits().attempts, 3 * 2 * len(prompts)
    tokens = 3 * 2 * sum(len(each) + MESSAGE_TOKENS for each in prompts) + 3 * 40 * len(prompts)
    expected = {"calls": calls, "attempts": attempts, "tokens": attempts * tokens, "cost_usd": None}
    assert (len(prompts), bound_of(made, said, None)) == (2, expected)
    assert bound_of(made, [], None) == {**expected, "calls": 0, "tokens": 0}
    (tmp_path / "rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    estimate = scan_plan(load_project(tmp_path), made, said)
    assert estimate["llm_calls"] == {"lower": 1, "upper": 1 + 3 * 2}  # a confirmed candidate needs no sweep


def test_the_plan_names_the_bound_and_calls_an_estimate_an_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, "  source: openai:priced-model@http://127.0.0.1:9/v1\n")
    assert main(["plan", str(tmp_path / "t"), "--project", str(tmp_path), "--out", str(tmp_path / "o")]) == 0
    told = capsys.readouterr().out
    assert "judge model    priced-model" in told
    assert re.search(r"cannot exceed 9 calls, \d+\.\d{4} USD\n", told)
    assert load_project(tmp_path).pricing["priced-model"] == ModelPrice(1.0, 2.0)
    assert "cost           unknown (the profile has no `input_tokens_per_llm_call`)\n" in told
    project(tmp_path, "  source: openai:other-model@http://127.0.0.1:9/v1\n")
    assert main(["plan", str(tmp_path / "t"), "--project", str(tmp_path)]) == 0
    assert "cost           unknown (no price for the judge's model)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("calls", "usd", "told"),
    [
        (-89, -8.5, "a saves 89 calls and 8.5000 USD against b"),
        (1, None, "b saves 1 call and unknown USD against a"),
        (2, -0.5, "b saves 2 calls against a and costs 0.5000 USD more"),
        (-2, 0.5, "a saves 2 calls against b and costs 0.5000 USD more"),
    ],
)
def test_a_comparison_never_saves_less_than_nothing(calls: int, usd: float | None, told: str) -> None:
    figures = {"a": 10, "b": 99}
    comparison = {
        "first": "a", "second": "b", "planned_llm_calls": figures, "estimated_cost_usd": {"a": 1.0, "b": 9.5},
        "only_in": {"a": {}, "b": {}}, "open_gates": {"a": {}, "b": {}},
        "fewer_calls": {"W-1": [1, 0]}, "more_calls": {},
        "saved": {"llm_calls": calls, "cost_usd": usd},
    }  # fmt: skip
    assert comparison_text(comparison).endswith(f"W-1: 1 call in a, 0 in b\n{told}")
