"""The polarity table of the design, every row with every way to be undecidable. Whoever breaks a row breaks something
that is seen: every row is turned round once, and probes look at what the product then does at its own places."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.compiler.lower.test_scorecard import Record, lowered, shipped
from tests.runtime.plans import asked, check, judging, plan, talk
from tests.runtime.programs import Tree, call, loop, name, op, program
from tests.runtime.workflow.running import plan_of

from rulewright.documents.profile import read_profile
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.documents.typed_reader import read
from rulewright.load import load_text
from rulewright.lower.case_scorecard import requirements_of_defaults
from rulewright.lower.selection import select
from rulewright.planning.scan import scan_plan
from rulewright.project import load_project
from rulewright.scoring.case_scorecards import load_scorecard
from rulewright_runtime import polarity
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.cases.case_plan import Label, Requirement
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.errors import EvaluationError, JudgeError, PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.harness.harness_plan import ScriptBranch, ScriptTurn
from rulewright_runtime.harness.play import choose
from rulewright_runtime.ir import Program
from rulewright_runtime.judging import prompts, replies
from rulewright_runtime.plan.question import IfSegment, TextSegment
from rulewright_runtime.plan.verifiers import Ending, StateMachine, TraceVerifier, Transition
from rulewright_runtime.polarity import Decision, Polarity, boolean, condition
from rulewright_runtime.verify import decisions
from rulewright_runtime.workflow.gate import judge_evidence
from rulewright_runtime.workflow.machine import Guard, decide
from rulewright_runtime.workflow.task_context import TaskContext

MEANING = {Polarity.PERMITTING: False, Polarity.GUARDING: True, Polarity.EXEMPTING: False, Polarity.TABLE: False}

UNDECIDABLE: list[tuple[str, Tree, dict[str, Any], str]] = [
    ("an absent root", call("_>=_", name("score"), 0.8), {}, "no_such_name"),
    ("an absent field", call("_>=_", name("review.score"), 0.8), {"review": {}}, "no_such_key"),
    ("an absent field further in", call("_==_", name("a.b.c"), "GO"), {"a": {"b": {}}}, "no_such_key"),
    ("null in the path", call("_==_", name("a.b"), "GO"), {"a": None}, "no_such_overload"),
    ("null where a number belongs", call("_>=_", name("score"), 0.8), {"score": None}, "no_such_overload"),
    ("a text where a number belongs", call("_>=_", name("score"), 0.8), {"score": "0.9"}, "no_such_overload"),
    ("a bool where a number belongs", call("_>=_", name("score"), 0.8), {"score": True}, "no_such_overload"),
    ("a score out of range", call("_>=_", call("score", name("s")), 0.8), {"s": 1.5}, "not_a_score"),
    ("a score that is NaN", call("_>=_", call("score", name("s")), 0.8), {"s": float("nan")}, "not_a_score"),
    ("a division by zero", call("_>_", call("_/_", 1, name("n")), 0), {"n": 0}, "divide_by_zero"),
    ("an overflow", call("_>_", call("_+_", name("n"), 1), 0), {"n": 2**63 - 1}, "overflow"),
    ("a number for a condition", name("n"), {"n": 1}, "no_such_overload"),
    ("null for a condition", name("n"), {"n": None}, "no_such_overload"),
    ("a text for a condition", name("n"), {"n": "true"}, "no_such_overload"),
    ("a statistic of nothing", call("value", call("mean", name("xs"))), {"xs": []}, "no_value"),
    ("an optional for a condition", call("mean", name("xs")), {"xs": []}, "no_such_overload"),
    ("a loop over no list", loop("exists", name("xs"), True), {"xs": 3}, "no_such_overload"),
    ("a loop over nothing", loop("all", name("xs"), True), {}, "no_such_name"),
    ("an unknown function", call("no_such_function", 1), {}, "unknown_function"),
    ("one absent half of `and`", op("and", name("yes"), name("gone")), {"yes": True}, "no_such_name"),
    ("one absent half of `or`", op("or", name("gone"), name("no")), {"no": False}, "no_such_name"),
    ("a negated absent value", op("not", name("gone")), {}, "no_such_name"),
    ("a bad pattern", call("matches", "a", name("p")), {"p": "("}, "invalid_argument"),
]
IDS = [case[0] for case in UNDECIDABLE]


@pytest.mark.parametrize("place", list(Polarity))
@pytest.mark.parametrize(("tree", "bindings", "code"), [case[1:] for case in UNDECIDABLE], ids=IDS)
def test_an_undecidable_condition_means_what_its_place_says(
    place: Polarity, tree: Tree, bindings: dict[str, Any], code: str
) -> None:
    decision = condition(program(tree), place)(bindings)
    assert decision.holds is MEANING[place]
    assert decision.undecided is not None
    assert decision.undecided.startswith(f"{code}: ")
    if place != Polarity.TABLE:
        assert boolean(program(tree), place)(bindings) is MEANING[place]


@pytest.mark.parametrize("place", list(Polarity))
def test_a_decided_condition_has_no_reason_at_any_place(place: Polarity) -> None:
    tree = call("_>=_", name("score"), 0.8)
    assert condition(program(tree), place)({"score": 0.8}) == Decision(True)
    assert condition(program(tree), place)({"score": 0.7}) == Decision(False)


@pytest.mark.parametrize("place", list(Polarity))
def test_a_deciding_half_wins_over_an_absent_one(place: Polarity) -> None:
    assert condition(program(op("or", name("gone"), name("yes"))), place)({"yes": True}) == Decision(True)
    assert condition(program(op("and", name("gone"), name("no"))), place)({"no": False}) == Decision(False)


def test_a_table_has_no_form_without_the_reason() -> None:
    with pytest.raises(ValueError, match="needs the reason"):
        boolean(program(True), Polarity.TABLE)


BENCHMARK = Path(__file__).resolve().parents[2] / "benchmark"
UNKNOWN = program(name("nowhere"))


def turn_round(place: Polarity, monkeypatch: pytest.MonkeyPatch) -> None:
    table = cast("dict[Polarity, bool]", polarity.UNDECIDED_HOLDS)
    monkeypatch.setitem(table, place, not table[place])


def applies(**conditions: Any) -> decisions.Eligibility:
    return decisions.Decider(plan(check(**conditions)).checks).decide({"scenario": {}})[0]


def a_check_applies() -> bool:
    (result,) = execute(plan(check(applies=UNKNOWN)), [talk("hello", "always")])
    return result.verdicts[0].verdict == "FAIL"


def a_part_of_a_prompt_is_written() -> bool:
    question = judging(prompt=(IfSegment(UNKNOWN, (TextSegment("Be kind."),), ()),))
    return "Be kind." in prompts.filled(question.prompt, {})


def a_gate_stops() -> bool:
    card, _ = lowered(shipped("two-tier"))
    assert card is not None
    changed = replace(card, gates=tuple(replace(gate, stops=UNKNOWN) for gate in card.gates))
    return Scorecard(changed, {}).aggregate([Record("A1")])["gates"]["safety"]["passed"] is False


def a_planned_check_is_counted(**conditions: Program) -> bool:
    made = plan(asked(**conditions))
    return bool(scan_plan(load_project(BENCHMARK), made, [talk("hello", "hello")])["planned_llm_calls"])


def a_state_is_entered() -> bool:
    step = Transition(("calm",), "told", "words", when=UNKNOWN)
    machine = StateMachine("calm", ("calm", "told"), (step,), endings=(Ending("told", "FAIL", "told"),))
    (result,) = execute(plan(check(TraceVerifier("m")), machines={"m": machine}), [talk("hello", "always")])
    return bool(result.verdicts[0].extra["trace"]["end"] == "told")


def a_gate_of_a_task_opens() -> bool:
    task = plan_of("tasks: {build: {agent: dev, overlays: {policy_gate: {enabled: true}}}}").task("build")
    assert task.gate is not None
    open_minded = replace(task, gate=replace(task.gate, verdict=UNKNOWN))
    return judge_evidence(open_minded, TaskContext(), BENCHMARK, "now").verdict == "PASS"


def a_profile_selects() -> bool:
    profile = load_text("{include_all: true, select: 1 / 0 > 0}", "p.yaml").root
    return bool(select(read_profile(profile, "p"), load_project(BENCHMARK).checks, []))  # type: ignore[arg-type]


CASES = (BENCHMARK / "configs" / "scorecards" / "safe-v0.yaml").read_text()


def a_requirement_is_met_by_the_defaults() -> bool:
    text = re.sub(r"(?m)^requires:\n(  - .*\n)+", "requires:\n  - {that: 1 / 0 > 0, otherwise: no}\n", CASES)
    root = load_text(text, "card.yaml").root
    return all(met for _, met in requirements_of_defaults(read(CaseScorecardDocument, root)))


def cases_are_scored() -> bool:
    card = load_scorecard("safe-v0").plan
    try:
        CaseSettings(replace(card, requires=(Requirement(UNKNOWN, "no"),)), {})
    except PlanError:
        return False
    return True


def a_case_gets_a_label() -> bool:
    card = load_scorecard("safe-v0").plan
    changed = replace(card, labels=(Label("Pass", UNKNOWN), *card.labels))
    try:
        return CaseSettings(changed, {}).scorer(None, None).decide(((0, 0),) * len(card.metrics)).label == "Pass"
    except EvaluationError:
        return False


def a_reply_that_may_not_violate_is_taken() -> bool:
    class Judge:
        fields = (type("Field", (), {"name": "verdict", "type": "words", "words": ("PASS", "FAIL")}),)
        violates = UNKNOWN

    asked: Any = Judge()
    try:
        replies.checked({"verdict": "PASS"}, asked)
    except JudgeError:
        return False
    return True


def a_branch_is_taken() -> bool:
    turn = ScriptTurn(2, "go on", (ScriptBranch("b", UNKNOWN, "instead"),))
    return choose(turn, ["an answer"]).branch_id is not None


# What the product does with a condition that can't be decided, and whether it may.
PROBES: list[tuple[str, Polarity, Callable[[], bool], bool]] = [
    ("a workflow advances", Polarity.PERMITTING, lambda: decide(Guard((UNKNOWN,)), {})[0], False),
    ("a loop is left", Polarity.PERMITTING, lambda: decide(Guard((UNKNOWN,), "any"), {})[0], False),
    ("a branch of a conversation is taken", Polarity.PERMITTING, a_branch_is_taken, False),
    ("a part of a prompt is written", Polarity.PERMITTING, a_part_of_a_prompt_is_written, False),
    ("a machine enters a state", Polarity.PERMITTING, a_state_is_entered, False),
    ("a gate of a task opens", Polarity.PERMITTING, a_gate_of_a_task_opens, False),
    ("cases are scored", Polarity.PERMITTING, cases_are_scored, False),
    ("defaults meet a requirement", Polarity.PERMITTING, a_requirement_is_met_by_the_defaults, False),
    ("a gate stops", Polarity.GUARDING, a_gate_stops, True),
    ("a check is eligible", Polarity.GUARDING, lambda: applies(eligible=UNKNOWN).eligible, True),
    ("a check applies to a conversation", Polarity.GUARDING, a_check_applies, True),
    ("an eligible check is planned", Polarity.GUARDING, lambda: a_planned_check_is_counted(eligible=UNKNOWN), True),
    ("a profile selects a check", Polarity.GUARDING, a_profile_selects, True),
    ("a reply that passes is taken", Polarity.GUARDING, a_reply_that_may_not_violate_is_taken, False),
    ("a check is suppressed", Polarity.EXEMPTING, lambda: applies(suppressed=UNKNOWN).suppressed, False),
    ("a silenced check is planned", Polarity.EXEMPTING, lambda: a_planned_check_is_counted(suppressed=UNKNOWN), True),
    ("a row of a table gives its label", Polarity.TABLE, a_case_gets_a_label, False),
]
NAMES = [probe[0] for probe in PROBES]


@pytest.mark.parametrize(("place", "probe", "happens"), [probe[1:] for probe in PROBES], ids=NAMES)
def test_a_place_of_the_product_does_what_its_row_says(
    place: Polarity, probe: Callable[[], bool], happens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe() is happens
    for other in Polarity:
        with monkeypatch.context() as mutation:
            turn_round(other, mutation)
            assert probe() is (not happens if other == place else happens)


def test_every_row_has_a_place_in_the_product() -> None:
    assert {probe[1] for probe in PROBES} == set(Polarity) == set(polarity.UNDECIDED_HOLDS)


DECIDING = {
    "case_scorecard", "decisions", "applicable", "gate", "machine", "effects", "play", "prompts", "replies", "scoring",
    "selection", "trace",
    "scan_plan",  # of lint: the scenarios that a check's `when` reaches, decided as `decisions` does
    "gate_evidence", "workflow_values",  # of proofs: they decide as `gate` and `machine` do
}  # fmt: skip


def test_no_module_decides_by_a_place_without_a_probe_here() -> None:
    root = BENCHMARK.parent
    sources = [path for part in ("runtime", "compiler") for path in (root / part).rglob("*.py")]
    named = re.compile(r"\b(?:Place|Polarity)\.[A-Z]{4}")
    assert {path.stem for path in sources if named.search(path.read_text(encoding="utf-8"))} == {*DECIDING, "polarity"}


@pytest.mark.parametrize("broken", list(Polarity))
@pytest.mark.parametrize(("tree", "bindings", "code"), [case[1:] for case in UNDECIDABLE], ids=IDS)
def test_a_broken_row_is_seen_in_every_way_to_be_undecidable(
    broken: Polarity, tree: Any, bindings: dict[str, Any], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_round(broken, monkeypatch)
    for place in Polarity:
        decision = condition(program(tree), place)(bindings)
        assert (decision.holds is MEANING[place]) is (place != broken)
        assert str(decision.undecided).startswith(code)
        if place != Polarity.TABLE:
            assert boolean(program(tree), place)(bindings) is decision.holds


@pytest.mark.parametrize("place", list(Polarity))
def test_a_row_that_is_missing_stops_the_program_before_it_decides(
    place: Polarity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(cast("dict[Polarity, bool]", polarity.UNDECIDED_HOLDS), place)
    with pytest.raises(KeyError):
        condition(UNKNOWN, place)
