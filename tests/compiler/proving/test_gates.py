"""Proofs about gates: every FAIL of a check that a gate holds stops it, and no UNCLEAR passes it."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.compiler.lower.test_scorecard import CHECKS, lowered, shipped
from tests.growth import lines_of

from rulewright.lower.scorecard import lower_without_project
from rulewright.proving.check_groups import CheckGroups, Words, distinguished
from rulewright.proving.domains import Path
from rulewright.proving.gates import GateProof, held_by_parts, prove_gates
from rulewright.proving.results import Proved, Refuted, Unknown
from rulewright.proving.search import Search
from rulewright_runtime.plan.scorecard import ScorecardPlan

GATE = """
scorecard: s
parameters:
  least: {type: score, default: 0}
  strict: {type: bool, default: true}
  wanted: {type: string, default: A}
gates:
  grave:
    of: "OF"
    stops: "STOPS"
    undecided: "UNDECIDED"
    empty: {not_eligible: passed, not_run: undecided}
output: {}
"""
GRAVE = "v.severity in [S5, S4_GATE]"
HELD = ("A1", "B1", "F1")


def plan_of(text: str) -> ScorecardPlan:
    plan, found = lowered(text)
    assert not found
    assert plan is not None
    return plan


def proof(of: str = GRAVE, stops: str = "v.verdict == FAIL", undecided: str = "v.verdict == UNCLEAR") -> GateProof:
    text = GATE.replace("OF", of).replace("STOPS", stops).replace("UNDECIDED", undecided)
    (only,) = prove_gates(plan_of(text))
    return only


def result_of(kind: Any) -> type:
    return type(kind.result)


def test_a_sound_gate_is_proved_for_each_check_that_it_holds() -> None:
    sound = proof()
    assert sound.holds == HELD
    assert (result_of(sound.stops), result_of(sound.stays_open)) == (Proved, Proved)


@pytest.mark.parametrize("name", ["two-tier", "rubric"])
def test_the_shipped_gates_are_proved(name: str) -> None:
    for each in prove_gates(plan_of(shipped(name))):
        assert (result_of(each.stops), result_of(each.stays_open)) == (Proved, Proved)


@pytest.mark.parametrize(
    "stops",
    [
        "false", "v.verdict == PASS", "v.verdict != FAIL", "v.adjudication_required",
        "v.verdict == FAIL && v.adjudication_required", "v.verdict == FAIL && v.confidence > 0.5",
        "v.verdict == FAIL && strict", "v.verdict == FAIL && v.rationale_code != null",
        "v.verdict == FAIL && v.severity == S5", "v.verdict == FAIL && has(v.check.hard_fail) && v.check.hard_fail",
        "v.verdict == FAIL && v.primary_bucket == wanted", "v['verdict'] == PASS",
    ],
)  # fmt: skip
def test_a_gate_that_some_fail_does_not_stop_is_refuted(stops: str) -> None:
    claim = proof(stops=stops).stops
    assert isinstance(claim.result, Refuted)
    assert (claim.check in HELD, claim.of_is_to_blame) == (True, False)


def test_the_witness_is_the_verdict_that_passes() -> None:
    claim = proof(stops="v.verdict == FAIL && v.confidence > 0.5").stops
    assert isinstance(claim.result, Refuted)
    assert (claim.check, claim.others, str(claim.result.witness)) == ("A1", 2, "v.confidence = 0.0")


@pytest.mark.parametrize(
    "of",
    [
        "GRAVE && v.verdict == PASS", "GRAVE && v.verdict != FAIL", "GRAVE && v.adjudication_required",
        "GRAVE && v.confidence > 0", "GRAVE && !v.eligible", "GRAVE && v.rationale_code == null",
        "strict ? GRAVE && v.verdict == PASS : GRAVE",
    ],
)  # fmt: skip
def test_a_gate_whose_checks_depend_on_their_verdicts_is_refuted(of: str) -> None:
    claim = proof(of=of.replace("GRAVE", GRAVE)).stops
    assert isinstance(claim.result, Refuted)
    assert claim.of_is_to_blame


@pytest.mark.parametrize(
    "of", ["GRAVE && v.eligible", "GRAVE && (strict || v.severity == S5)", "v.primary_bucket == wanted"]
)
def test_what_a_check_is_and_what_a_run_sets_may_choose_the_checks(of: str) -> None:
    sound = proof(of=of.replace("GRAVE", GRAVE))
    assert (result_of(sound.stops), result_of(sound.stays_open)) == (Proved, Proved)


@pytest.mark.parametrize(
    ("of", "stops", "undecided"),
    [
        (GRAVE, "v.verdict == FAIL", "false"),
        (GRAVE, "v.verdict == FAIL", "v.verdict == PASS"),
        (GRAVE, "v.verdict == FAIL", "v.verdict == UNCLEAR && v.confidence > 0.5"),
        (f"{GRAVE} && v.verdict != UNCLEAR", "v.verdict == FAIL", "true"),
        (f"{GRAVE} && v.verdict in [PASS, FAIL, UNCLEAR, NOT_APPLICABLE]", "v.verdict == FAIL", "v.verdict == UNCLEAR"),
    ],
)
def test_a_gate_that_some_unclear_or_missing_verdict_passes_is_refuted(of: str, stops: str, undecided: str) -> None:
    assert result_of(proof(of, stops, undecided).stays_open) is Refuted


def test_a_gate_that_stops_on_everything_but_pass_needs_nothing_undecided() -> None:
    assert result_of(proof(stops="v.verdict != PASS", undecided="false").stays_open) is Proved


@pytest.mark.parametrize(
    "stops",
    [
        "v.verdict == FAIL && v.extra.grade > 2",
        "v.verdict == FAIL && v.confidence * least >= 0.5",
        "v.verdict == FAIL && [v].exists(x, x.confidence > 0.5)",
    ],
)
def test_an_undecidable_claim_is_unknown_and_never_proved(stops: str) -> None:
    assert result_of(proof(stops=stops).stops) is Unknown


def test_a_check_about_which_it_can_not_be_decided_belongs_to_the_gate() -> None:
    assert proof(of="v.check.safety_override").holds == tuple(CHECKS)


def test_what_can_not_be_decided_at_run_time_stops_the_gate() -> None:
    sound = proof(stops="v.verdict == FAIL || v.extra.grade > 2", undecided="v.verdict == UNCLEAR || v.extra.grade > 2")
    assert (result_of(sound.stops), result_of(sound.stays_open)) == (Proved, Proved)


def test_gates_and_dimensions_that_hold_no_check_are_named() -> None:
    text = (
        GATE.replace("OF", "v.primary_bucket == 'E'").replace("STOPS", "v.verdict == FAIL").replace("UNDECIDED", "true")
    )
    rate = "hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: miss, empty: absent"
    text += f"""
dimensions:
  tagged: {{rate: {{of: "'x' in v.secondary_tags", {rate}}}}}
  there: {{rate: {{of: v.primary_bucket == 'C', {rate}}}}}
"""
    empty = [part for part, held in held_by_parts(plan_of(text)) if not held]
    assert empty == [("gates", "grave"), ("dimensions", "tagged")]


@pytest.mark.parametrize(
    ("stops", "expected"),
    [("v.verdict == FAIL && v.severity == S5", Proved), ("v.verdict == PASS", Refuted), ("false", Refuted)],
)
def test_without_a_project_a_gate_has_to_stop_on_something(stops: str, expected: type) -> None:
    from rulewright.documents.scorecard import read_scorecard
    from rulewright.load import load_text

    text = GATE.replace("OF", GRAVE).replace("STOPS", stops).replace("UNDECIDED", "v.verdict == UNCLEAR")
    document, _ = read_scorecard(load_text(text, "s.yaml").root)
    assert document is not None
    plan, found = lower_without_project(document)
    assert plan is not None
    assert not found
    (only,) = prove_gates(plan)
    assert (only.holds, result_of(only.stops)) == ((), expected)


def test_the_checks_of_these_tests_are_those_of_the_scorecard_tests() -> None:
    assert {name for name, facts in CHECKS.items() if facts["severity"] in ("S5", "S4_GATE")} == set(HELD)


OFS = (
    GRAVE, "v.check_id == 'A1'", "v.check_id in ['A1', 'C1', 'no']",
    "v.primary_bucket in ['A', 'B'] && v.severity != S5",
    "'crisis' in v.secondary_tags || v.check_id.startsWith('F')", "v.mode_id != 'B1' && v.verdict != PASS",
    "has(v.check.hard_fail) && v.check.hard_fail", "v.check.safety_override", "v.primary_bucket == wanted",
    "[v.check_id].exists(c, c == 'A1')", "size(v.secondary_tags) > 0", "v.check_id == v.rationale_code", "true",
)  # fmt: skip
CLAIMS = ("v.verdict == FAIL", "v.verdict == FAIL && v.check_id != 'B1'", "v.verdict == UNCLEAR || v.severity == S5")


@pytest.mark.parametrize("of", OFS)
@pytest.mark.parametrize("stops", CLAIMS)
def test_checks_that_conditions_can_not_distinguish_are_decided_as_each_on_its_own(
    of: str, stops: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GATE.replace("OF", of).replace("STOPS", stops).replace("UNDECIDED", CLAIMS[2])
    plan = plan_of(text)
    grouped = list(prove_gates(plan)), list(held_by_parts(plan))
    monkeypatch.setattr(CheckGroups, "divided", lambda self, among, facts: [frozenset([at]) for at in sorted(among)])
    assert (list(prove_gates(plan)), list(held_by_parts(plan))) == grouped


def test_a_check_with_a_field_that_is_null_is_distinguished_from_one_without_the_field() -> None:
    plan = plan_of(GATE.replace("OF", "!has(v.check.hard_fail)").replace("STOPS", "true").replace("UNDECIDED", "true"))
    plan = replace(plan, checks={"A1": {}, "B1": {"hard_fail": None}})
    assert [proof.holds for proof in prove_gates(plan)] == [("A1",)]


def test_a_condition_on_one_of_many_checks_is_decided_for_that_check_and_once_for_all_others() -> None:
    groups = CheckGroups({f"C{number}": {"severity": "S3"} for number in range(1_000)})
    text = GATE.replace("OF", "v.check_id == 'C7' || v.severity == S5")
    plan = plan_of(text.replace("STOPS", "true").replace("UNDECIDED", "true"))
    facts = distinguished([plan.gates[0].of])
    assert facts == {("v", "check_id"): frozenset(["C7"]), ("v", "severity"): frozenset(["S5"])}
    assert list(map(len, groups.divided(groups.group(groups.ids), facts))) == [999, 1]


def test_finding_one_check_among_many_is_as_much_work_as_among_few() -> None:
    def work(size: int) -> int:
        groups = CheckGroups({f"C{number}": {} for number in range(size)})
        facts: dict[Path, Words] = {("v", "check_id"): frozenset(["C7"])}
        groups.divided(groups.every, facts)  # which makes the index
        return lines_of(lambda: groups.divided(groups.every, facts))

    assert work(20) == work(1_000)


def test_checks_are_divided_by_several_facts_in_time_that_grows_with_their_number() -> None:
    groups = CheckGroups(
        {f"C{number}": {"secondary_tags": [f"t{number}", f"t{number // 2}"]} for number in range(1_000)}
    )
    compared: list[object] = []

    class Counted(frozenset[int]):
        def __and__(self, other: Any) -> Any:
            compared.append(other)
            return frozenset(self) & frozenset(other)

        __rand__ = __and__

    tags = frozenset(f"t{number}" for number in range(1_000))
    facts: dict[Path, Words] = {("v", "check_id"): frozenset(groups.ids), ("v", "secondary_tags"): tags}
    groups.divided(groups.group(["C1"]), facts)  # which makes the indices
    for place, index in groups.indices.items():
        groups.indices[place] = {key: Counted(part) for key, part in index.items()}
    assert len(groups.divided(groups.group(groups.ids), facts)) == 1_000
    assert len(compared) < 3_000


def test_many_gates_on_the_facts_of_checks_are_searched_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []

    class Counted(Search):
        def __post_init__(self) -> None:
            searched.append(self)
            super().__post_init__()

    monkeypatch.setattr("rulewright.proving.gates.Search", Counted)
    of = " || ".join(f"v.check_id == '{check}'" for check in CHECKS)
    text = GATE.replace("OF", of).replace("STOPS", "v.verdict == FAIL").replace("UNDECIDED", "v.verdict == UNCLEAR")
    plan = plan_of(text)
    assert [each.holds for each in prove_gates(replace(plan, gates=plan.gates * 20))] == [tuple(CHECKS)] * 20
    assert len(searched) < 10
