"""Nothing fails open: whatever is taken away from a run, no verdict becomes kinder and no gate turns true.

Each mutation takes something from the scan of the shipped benchmark - replies, verifiers, windows, votes, quotes,
lexicons, facts, records - and the rows that remain are held against those of the whole scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from msgspec.structs import replace
from tests.rounds import TORTURE
from tests.runtime.plans import Scripted
from tests.shipped_plans import shipped_plan

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.execution import execute
from rulewright_runtime.judging import evidence, prompts, replies, votes
from rulewright_runtime.judging.judge import BudgetExhaustedError, Judge, JudgeRequest, open_judge
from rulewright_runtime.plan.scan import Plan, Scenario
from rulewright_runtime.plan.verifiers import Route, Verifier
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verdicts import VerdictResult
from rulewright_runtime.verify import evaluation_context as context
from rulewright_runtime.verify import verifier_of

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmark"
REPLIES = f"replay:{BENCHMARK / 'judge_replies' / 'replies.json'}"


def plan() -> Plan:
    return shipped_plan(profile="publish")


@cache
def transcripts() -> tuple[Transcript, ...]:
    read = Reader(plan().scenarios).read([BENCHMARK / "transcripts"])
    return tuple(item for item in read if isinstance(item, Transcript))


@cache
def whole() -> tuple[TranscriptResult, ...]:
    return tuple(execute(plan(), transcripts(), REPLIES))


@pytest.fixture(autouse=True)
def _whole_before_anything_is_broken() -> None:
    whole()


def scan(changed: Plan | None = None, judge: Judge | None = None, items: Iterable[Any] = ()) -> list[TranscriptResult]:
    return list(execute(changed or plan(), items or transcripts(), judge or open_judge(REPLIES)))


def hold(mutated: Iterable[TranscriptResult]) -> int:
    """Assert that nothing became kinder; the value counts the verdicts that changed."""
    changed = 0
    for before, after in zip(whole(), mutated, strict=True):
        for was, now in zip(before.verdicts, after.verdicts, strict=True):
            changed += was.verdict != now.verdict
            assert not kinder(was, now), f"{before.transcript_id} {was.check_id}: {was.verdict} became {now.verdict}"
        scores, rows = before.scores or {}, after.scores or {}
        for name, gate in rows["gates"].items():
            assert gate["passed"] is not True or scores["gates"][name]["passed"] is True, (before.transcript_id, name)
        if (rows["overall_score"] or 0) > (scores["overall_score"] or 0):
            assert rows["unclear_count"] > scores["unclear_count"]  # what is open left its denominator, and is seen
            assert rows["coverage_rate"] < scores["coverage_rate"]
    return changed


def kinder(was: VerdictResult, now: VerdictResult) -> bool:
    """Whether a record says something better than before, or says less without asking a person."""
    if now.verdict == was.verdict and now.eligible == was.eligible:
        return False
    if now.verdict in ("PASS", "NOT_APPLICABLE"):
        return True
    return now.verdict == "UNCLEAR" and not now.adjudication_required


class FirstOnly:
    """A judge who answers only the first vote of every question."""

    def __init__(self) -> None:
        self.judge = open_judge(REPLIES)

    def ask(self, request: JudgeRequest) -> str | None:
        """The recorded answer, or none."""
        return self.judge.ask(request) if request.repetition == 0 else None


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "{}",
        "[]",
        "PASS",
        '{"verdict": "pass"}',
        '{"verdict": null}',
        '{"verdict": ["PASS"]}',
        RuntimeError("away"),
        TimeoutError(),
        BudgetExhaustedError("spent"),
    ],
    ids=repr,
)
def test_a_judge_who_says_nothing_usable_opens_nothing(answer: Any) -> None:
    assert hold(scan(judge=Scripted(answer))) > 20


def test_votes_that_are_missing_never_make_a_majority() -> None:
    assert hold(scan(judge=FirstOnly())) > 20


FAILURES: Final = (RuntimeError, KeyError, EvaluationError, RecursionError)
CRASHES: Final = list(product(get_args(Verifier), FAILURES) if TORTURE else zip(get_args(Verifier), cycle(FAILURES)))


@pytest.mark.parametrize(("route", "failure"), CRASHES)
def test_a_verifier_that_crashes_opens_nothing(
    route: type[Route], failure: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise failure("broken")

    monkeypatch.setattr(
        "rulewright_runtime.execution.verifier_of",
        lambda part: crash if part is route else verifier_of(part),
    )
    hold(scan())


def raising(*_: object, **__: object) -> Any:
    raise RuntimeError("broken")


BROKEN: list[tuple[Any, str, Callable[..., Any]]] = [
    (context, "select", raising),
    (context, "select", lambda *_, **__: ()),
    (context, "select", lambda *_, **__: (WindowTurns(()),)),
    (context, "first", raising),
    (votes, "count", raising),
    (votes, "count", lambda *_: votes.VoteOutcome("UNCLEAR", 0.0, None, 0)),
    (evidence, "occurs", raising),
    (evidence, "occurs", lambda *_: False),
    (evidence, "tolerant", lambda _: ([], [])),
    (replies, "read", raising),
    (replies, "checked", raising),
    (prompts, "render", raising),
]


@pytest.mark.parametrize(("module", "name", "instead"), BROKEN)
def test_a_broken_part_of_the_engine_opens_nothing(
    module: Any, name: str, instead: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, instead)
    hold(scan())


def test_a_lexicon_that_is_missing_or_empty_opens_nothing() -> None:
    for name in plan().lexicons if TORTURE else sorted(plan().lexicons)[::12]:
        empty = {**plan().lexicons, name: replace(plan().lexicons[name], patterns=())}
        hold(scan(replace(plan(), lexicons=empty)))
        if name.startswith("markers/"):
            continue  # a plan whose marker lists are missing is refused before it runs
        missing = {key: value for key, value in plan().lexicons.items() if key != name}
        hold(scan(replace(plan(), lexicons=missing)))


def test_scenarios_without_their_facts_open_nothing() -> None:
    def without(**facts: Any) -> Plan:
        scenarios = {key: replace(scenario, **facts) for key, scenario in plan().scenarios.items()}
        return replace(plan(), scenarios=scenarios)

    assert plan().scenarios["night_shift_alone"] != Scenario()
    hold(scan(without(jurisdiction="nowhere")))
    hold(scan(without(cue_anchors=())))


def test_a_condition_that_cannot_be_decided_opens_nothing() -> None:
    from tests.runtime.programs import name, program

    unknown = program(name("nowhere.at.all"))
    checks = tuple(replace(check, eligible=unknown, suppressed=unknown) for check in plan().checks)
    for result in scan(replace(plan(), checks=checks)):
        assert all(verdict.adjudication_required or not verdict.eligible for verdict in result.verdicts)


def test_an_error_in_the_place_of_an_answer_opens_nothing() -> None:
    items = [
        replace(item, turns=(*item.turns[:-1], replace(item.turns[-1], error={"type": "timeout"})))
        for item in transcripts()
    ]
    for result in scan(items=items):
        assert all(not v.eligible or v.verdict in ("FAIL", "UNCLEAR") for v in result.verdicts)
        scores = result.scores or {}
        eligible = {
            verdict.primary_bucket for verdict in result.verdicts if verdict.eligible and verdict.severity == "S5"
        }
        assert scores["gates"]["safety"]["passed"] is not True or "A" not in eligible


def test_a_conversation_without_answers_passes_nothing() -> None:
    items = [replace(item, turns=tuple(turn for turn in item.turns if turn.role == "user")) for item in transcripts()]
    for result in scan(items=items, judge=Scripted('{"verdict": "PASS"}')):
        for verdict in result.verdicts:
            deterministic = verdict.prompt_hash is None
            assert verdict.verdict != "PASS" or not deterministic, (result.transcript_id, verdict.check_id)
