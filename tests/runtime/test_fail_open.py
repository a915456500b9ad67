"""Nothing fails open: faults injected into every stage of judging, and plans, transcripts and replies from which
something is missing. None makes a verdict, a gate or a score better than it was."""

from collections.abc import Callable
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from msgspec.structs import replace
from tests.rounds import every
from tests.runtime.plans import Scripted
from tests.runtime.programs import name as variable
from tests.runtime.programs import program

from rulewright.check.project_check import compile_project
from rulewright.project import load_project
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.judging import evidence, prompts, replies, votes
from rulewright_runtime.judging.judge import BudgetExhaustedError, Judge, JudgeRequest, ReplayJudge, open_judge
from rulewright_runtime.matching import match
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan, Scenario
from rulewright_runtime.plan.verifiers import Route, Verifier
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts import windows
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verdicts import VerdictResult
from rulewright_runtime.verify import evaluation_context as context
from rulewright_runtime.verify import probes, verifier_of

BENCHMARK: Final = Path(__file__).resolve().parents[2] / "benchmark"
Corpus = tuple[Path, str | None, str]
SHIPPED: Final[Corpus] = (BENCHMARK, "publish", "two-tier")
CORPORA: Final[tuple[Corpus, ...]] = (
    SHIPPED,
    *((BENCHMARK / "scorers", name, name) for name in ("memory", "coordination", "regard", "rubric")),
    (BENCHMARK / "service_desk", None, "release"),
)


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
    for corpus in CORPORA:
        plan, source, _ = ready(*corpus)
        if concerns(plan):
            faulty = execute(plan, conversations(corpus[0]), judged(source) if source else None)
            changed += hold(corpus, list(faulty), fault)
    return changed


def hold(corpus: Corpus, faulty: list[TranscriptResult], fault: str) -> int:
    """Assert that nothing is better than in the sound results; the number of verdicts that changed."""
    changed = 0
    for before, after in zip(ready(*corpus)[2], faulty, strict=True):
        where = (fault, after.transcript_id)
        assert [v.check_id for v in before.verdicts] == [v.check_id for v in after.verdicts], where
        for old, new in zip(before.verdicts, after.verdicts, strict=True):
            changed += (old.verdict, old.eligible) != (new.verdict, new.eligible)
            assert not is_better(old, new), (*where, new.check_id)
        _no_better(before.scores or {}, after.scores or {}, where)
    return changed


def is_better(old: VerdictResult, new: VerdictResult) -> bool:
    """Whether a verdict is better than it was, or says less without asking a person."""
    if (old.verdict, old.eligible) == (new.verdict, new.eligible):
        return False
    is_good = new.verdict in ("PASS", "NOT_APPLICABLE") or (old.eligible and not new.eligible)
    return is_good or (new.verdict == "UNCLEAR" and not new.adjudication_required)


def _no_better(before: dict[str, Any], after: dict[str, Any], where: tuple[str, str]) -> None:
    for name, gate in (before.get("gates") or {}).items():
        assert gate["passed"] is True or after["gates"][name]["passed"] is not True, (*where, name)
    assert "service" not in before or (after["service"] or 0) <= (before["service"] or 0), where
    risen = (after.get("overall_score") or 0) > (before.get("overall_score") or 0)
    assert not risen or after["status"] != "valid", where
    if risen and "coverage_rate" in after:
        assert after["unclear_count"] > before["unclear_count"], where  # what is open left its denominator, and is seen
        assert after["coverage_rate"] < before["coverage_rate"], where
    if after.get("status") == "valid":
        assert before["status"] == "valid", where
        assert after["hard_fail"] or not before["hard_fail"], where


def broken(*_: Any, **__: Any) -> Any:
    """What stands where something has broken."""
    raise ValueError("injected")


FAILURES: Final = (ValueError, RuntimeError, KeyError, EvaluationError, RecursionError)


@pytest.mark.parametrize(("part", "failure"), list(zip(get_args(Verifier), cycle(FAILURES))))
def test_a_verifier_that_crashes_makes_nothing_better(
    part: type[Route], failure: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise failure("injected")

    for corpus in CORPORA:
        ready(*corpus)
    usual = verifier_of
    monkeypatch.setattr(
        "rulewright_runtime.execution.verifier_of", lambda asked: crash if asked is part else usual(asked)
    )
    used = lambda plan: any(isinstance(check.verifier, part) for check in plan.checks)  # noqa: E731
    assert compare(part.__name__, concerns=used) > 0


STAGES: Final[tuple[tuple[Any, str, Callable[..., Any]], ...]] = (
    (votes, "count", broken), (votes, "count", lambda *_: votes.VoteOutcome("UNCLEAR", 0.0, None, 0)),
    (replies, "read", broken), (replies, "checked", broken), (evidence, "occurs", broken),
    (evidence, "occurs", lambda *_: False), (evidence, "tolerant", lambda _: ([], [])), (prompts, "render", broken),
    (context, "select", broken), (context, "select", lambda *_, **__: ()),
    (context, "select", lambda *_, **__: (WindowTurns(()),)), (context, "first", broken), (probes, "find", broken),
    (windows, "_whole", broken), (match, "_form", broken),
)  # fmt: skip


@pytest.mark.parametrize(("module", "function", "instead"), STAGES)
def test_a_stage_that_breaks_makes_nothing_better(
    module: Any, function: str, instead: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for corpus in CORPORA:
        ready(*corpus)
    monkeypatch.setattr(ReplayJudge, "reads_prompts", True)  # as a model does
    monkeypatch.setattr(module, function, instead)
    assert compare(function) > 0 or instead is not broken


ABSENCES: Final = (
    TimeoutError("none"), RuntimeError("away"), BudgetExhaustedError("spent"), None, "", "[]", "{}", "PASS",
    '{"verdict": "PASS"', '{"verdict": "pass"}', '{"verdict": ["PASS"]}', '{"verdict": null, "evidence": []}',
)  # fmt: skip


@pytest.mark.parametrize("answer", every(2, ABSENCES), ids=repr)
def test_a_judge_that_says_nothing_makes_nothing_better(answer: Any) -> None:
    assert compare(repr(answer), lambda _: Scripted(answer)) > 20


class Forgetful:
    """A judge that leaves out the answers of which `is_lost` says so, by their number and their repetition."""

    def __init__(self, judge: Judge, is_lost: Callable[[int, int], bool]) -> None:
        self.judge, self.is_lost, self.asked = judge, is_lost, 0

    def ask(self, request: JudgeRequest) -> str | None:
        self.asked += 1
        return None if self.is_lost(self.asked, request.repetition) else self.judge.ask(request)


@pytest.mark.parametrize(
    ("is_lost", "least"),
    [
        (lambda asked, _: True, 20),
        (lambda asked, _: asked % 2 == 0, 0),
        (lambda asked, _: asked % 3 == 0, 0),
        (lambda _, repetition: repetition > 0, 20),
    ],
)
def test_replies_that_get_lost_make_nothing_better(is_lost: Callable[[int, int], bool], least: int) -> None:
    assert compare("lost", lambda source: Forgetful(open_judge(source), is_lost)) >= least


def test_evidence_that_is_an_empty_list_makes_nothing_better(monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in CORPORA:
        ready(*corpus)
    usual = replies.read
    monkeypatch.setattr(replies, "read", lambda raw, judging: {**usual(raw, judging), "evidence": []})
    compare("no evidence")


def scan(plan: Plan, items: list[Any] | None = None, judge: Judge | None = None) -> list[TranscriptResult]:
    """The shipped transcripts, or others, judged by another plan or judge."""
    return list(execute(plan, items or conversations(BENCHMARK), judge or ready(*SHIPPED)[1]))


def test_a_lexicon_that_is_missing_opens_nothing_and_an_empty_one_is_refused() -> None:
    plan, *_ = ready(*SHIPPED)
    for name in every(12, sorted(plan.lexicons)):
        empty = {**plan.lexicons, name: replace(plan.lexicons[name], patterns=())}
        with pytest.raises(PlanError, match="length >= 1"):
            decode(encode(seal(replace(plan, lexicons=empty))))
        with pytest.raises(PlanError, match=f"lexicon `{name}` has no patterns"):
            scan(replace(plan, lexicons=empty))
        if not name.startswith("markers/"):  # a plan whose marker lists are missing is refused before it runs
            missing = {key: value for key, value in plan.lexicons.items() if key != name}
            hold(SHIPPED, scan(replace(plan, lexicons=missing)), name)


@pytest.mark.parametrize("facts", [{"jurisdiction": "nowhere"}, {"cue_anchors": ()}])
def test_scenarios_without_their_facts_open_nothing(facts: dict[str, Any]) -> None:
    plan, *_ = ready(*SHIPPED)
    assert plan.scenarios["night_shift_alone"] != Scenario()
    scenarios = {key: replace(scenario, **facts) for key, scenario in plan.scenarios.items()}
    hold(SHIPPED, scan(replace(plan, scenarios=scenarios)), str(facts))


def test_a_condition_that_cannot_be_decided_opens_nothing() -> None:
    plan, *_ = ready(*SHIPPED)
    unknown = program(variable("nowhere.at.all"))
    checks = tuple(replace(check, eligible=unknown, suppressed=unknown) for check in plan.checks)
    for result in scan(replace(plan, checks=checks)):
        assert all(verdict.adjudication_required or not verdict.eligible for verdict in result.verdicts)


def transcripts() -> list[Transcript]:
    read = Reader(ready(*SHIPPED)[0].scenarios).read([BENCHMARK / "transcripts"])
    return [item for item in read if isinstance(item, Transcript)]


def test_an_error_in_the_place_of_an_answer_opens_nothing() -> None:
    items = [
        replace(item, turns=(*item.turns[:-1], replace(item.turns[-1], error={"type": "timeout"})))
        for item in transcripts()
    ]
    for result in scan(ready(*SHIPPED)[0], items):
        assert all(not v.eligible or v.verdict in ("FAIL", "UNCLEAR") for v in result.verdicts)
        severe = {v.primary_bucket for v in result.verdicts if v.eligible and v.severity == "S5"}
        assert (result.scores or {})["gates"]["safety"]["passed"] is not True or "A" not in severe


def test_a_conversation_without_answers_passes_nothing() -> None:
    items = [replace(item, turns=tuple(turn for turn in item.turns if turn.role == "user")) for item in transcripts()]
    for result in scan(ready(*SHIPPED)[0], items, Scripted('{"verdict": "PASS"}')):
        for verdict in result.verdicts:
            is_judged = verdict.prompt_hash is not None
            assert verdict.verdict != "PASS" or is_judged, (result.transcript_id, verdict.check_id)
