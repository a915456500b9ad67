"""Checks of memory and coordination, and the criteria of rubrics, lowered into the plan."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.compiler import small_project

from rulewright.check.project_check import compile_project
from rulewright.errors import DocumentError
from rulewright.planning.scan import scan_plan
from rulewright.project import load_project
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Check, Plan, Probe
from rulewright_runtime.plan.verifiers import CueResponse, ProbeVerifier, RubricVerifier
from rulewright_runtime.transcripts.transcript_reader import from_record
from rulewright_runtime.verify.decisions import Decider, facts

CRITERIA: list[dict[str, Any]] = [
    {"id": "warm", "question": "Is it warm?", "kind": "binary", "dimension": "relational_quality", "weight": 2},
    {"id": "depth", "question": "How deep?", "kind": "ordinal", "levels": {"10": "deep", "2": "some", "0": "none"}},
    {"id": "mocks", "question": "Does it mock?", "kind": "autofail", "dimension": "relational_quality"},
]


def routed(route: str, *lines: str) -> str:
    return small_project.check(
        bucket="F", severity="S2", scope="universal", route=route, routing="\n".join(lines), scorer="type: " + route
    )


def scenario(**more: Any) -> str:
    turns = [{"turn_number": 1, "user_message": "Hello"}, {"turn_number": 2, "user_message": "Bye"}]
    return json.dumps({"scenario_id": "night", "title": "N", "category": "safety", "turns": turns, **more})


def compiled(folder: Path, files: dict[str, str], profile: str = "publish") -> Plan:
    return decode(encode(compile_project(small_project.write(folder, files), profile=profile)))


def refusal(folder: Path, files: dict[str, str], profile: str = "publish") -> list[tuple[str, str]]:
    with pytest.raises(DocumentError) as caught:
        compiled(folder, files, profile)
    return [(each.code, each.message) for each in caught.value.diagnostics]


def test_a_memory_check_names_its_probes(tmp_path: Path) -> None:
    files = {"checks/W-1.yaml": routed("memory_probe", "probes: [time, recall]", "recalled_share: 0.5", "likeness: 1")}
    assert compiled(tmp_path, files).checks[0].verifier == ProbeVerifier(("recall", "time"), 0.5, 1.0)


def test_a_memory_check_without_probes_is_refused(tmp_path: Path) -> None:
    (found,) = refusal(tmp_path, {"checks/W-1.yaml": routed("memory_probe", "likeness: 1")})
    assert found == ("incomplete-routing", "the route `memory_probe` needs `probes`, the kinds of probes to verify")


def test_a_scenario_brings_its_probes_and_what_its_turns_say_of_memory(tmp_path: Path) -> None:
    expectations = {"should_recall": ["Esi"], "should_not_mention_unprompted": ["pills"], "from_sessions": [1]}
    probe = {"t": 2, "kind": "recall", "expected": ["Kwame"], "from_sessions": [1]}
    turns = [{"turn_number": 1, "user_message": "Hi"}, {"turn_number": 2, "user_message": "x"}]
    turns[1] |= {"probes": [probe], "memory_expectations": expectations}
    files = {"scenarios/night.json": scenario(turns=turns, probes=[{"t": 1, "kind": "time", "expected": ["ago"]}])}
    assert compiled(tmp_path, files).scenarios["night"].probes == (
        Probe(1, "time", ("ago",)),
        Probe(2, "recall", ("Kwame",), (1,)),
        Probe(2, "recall", ("Esi",)),
        Probe(2, "abstention", ("pills",)),
    )


def test_a_cue_check_names_its_lexicons(tmp_path: Path) -> None:
    files = {"checks/W-1.yaml": routed("cue_response", "cue: words", "expected_reply: words", "within_replies: 2")}
    plan = compiled(tmp_path, files)
    assert plan.checks[0].verifier == CueResponse("words", "words", None, 2)
    assert list(plan.lexicons) == ["words"]


def test_a_cue_check_with_an_unknown_lexicon_or_nothing_expected_is_refused(tmp_path: Path) -> None:
    files = {"checks/W-1.yaml": routed("cue_response", "cue: words", "expected_reply: wrds")}
    assert refusal(tmp_path / "one", files) == [("unknown-lexicon", "unknown lexicon `wrds`")]
    (found,) = refusal(tmp_path / "two", {"checks/W-1.yaml": routed("cue_response", "cue: words")})
    assert found[0] == "incomplete-routing"


PROFILES = "rubrics: {exclude_modes: [W-1], include_all: true, include_rubrics: true, llm_repetitions: 1}\n"


def with_rubric(*criteria: dict[str, Any], **turn: Any) -> dict[str, str]:
    turns = [{"turn_number": 1, "user_message": "Hi", "rubric": list(criteria), **turn}]
    check = small_project.check()
    return {
        "scenarios/night.json": scenario(turns=turns),
        "scenarios/other.json": scenario(scenario_id="other"),
        "checks/W-2.yaml": check.replace("W-1", "W-2"),
        "configs/profiles.yaml": PROFILES,
    }


def applies(checks: Iterable[Check], plan: Plan, name: str) -> list[tuple[bool, bool]]:
    """Whether each check is eligible and suppressed in a scenario."""
    answers = Decider(list(checks)).decide({"scenario": facts(name, plan.scenarios[name])})
    return [(answer.eligible, answer.suppressed) for answer in answers]


def test_every_criterion_becomes_a_check_of_its_scenario(tmp_path: Path) -> None:
    plan = compiled(tmp_path, with_rubric(*CRITERIA, expected_behaviors=["Stays kind"]), "rubrics")
    made = {check.id: check for check in plan.checks if check.route == "rubric"}
    assert list(made) == [f"rubric/night/t1/{name}" for name in ("warm", "depth", "mocks")]
    assert [applies(made.values(), plan, name) for name in ("night", "other")] == [
        [(True, False)] * 3,
        [(True, True)] * 3,
    ]
    warm, depth, mocks = made.values()
    assert isinstance(depth.verifier, RubricVerifier)
    assert depth.verifier.levels == ("0", "2", "10")
    assert (warm.primary_bucket, warm.is_gate, mocks.primary_bucket, mocks.is_gate) == ("C", False, "B", True)
    assert "Stays kind" in str(warm.verifier)


def test_a_branch_with_a_rubric_replaces_that_of_its_turn(tmp_path: Path) -> None:
    condition = {"type": "contains_any", "values": ["x"]}
    branch = {"branch_id": "b", "condition": condition, "user_message": "B", "rubric": [CRITERIA[0]]}
    plan = compiled(tmp_path, with_rubric(CRITERIA[0], branches=[branch]), "rubrics")
    found = [check.verifier for check in plan.checks if isinstance(check.verifier, RubricVerifier)]
    assert [(each.branch, each.unless) for each in found] == [(None, ("b",)), ("b", ())]


def test_only_criteria_of_the_branch_that_was_taken_are_planned(tmp_path: Path) -> None:
    condition = {"type": "contains_any", "values": ["x"]}
    branch = {"branch_id": "b", "condition": condition, "user_message": "B", "rubric": CRITERIA}
    files = with_rubric(CRITERIA[0], branches=[branch])
    plan = compiled(tmp_path, files, "rubrics")
    turns = [{"turn": 1, "role": role, "content": "x", "branch_id": "b"} for role in ("user", "assistant")]
    talks = [
        from_record({"scenario_id": "night", "model": "m", "transcript_id": name, "turns": said})
        for name, said in (("whole", turns), ("half", turns[:1]))
    ]
    planned = scan_plan(load_project(tmp_path), plan, talks)["by_mode"]
    calls = {name.rpartition("/")[2]: row["planned_llm_calls"] for name, row in planned.items() if "rubric" in name}
    assert calls == {"warm": 1, "depth": 1, "mocks": 1}
    assert "rubric/night/t1/warm" not in planned


def test_prose_expectations_become_questions_where_the_profile_says_so(tmp_path: Path) -> None:
    prose = {"expected_behaviors": ["Stays kind", "Asks once"], "autofail_triggers": ["Mocks"]}
    condition = {"type": "contains_any", "values": ["x"]}
    branch = {"branch_id": "b", "condition": condition, "user_message": "B", "expected_behaviors": ["Waits"]}
    files = with_rubric(**prose, branches=[branch])
    files["scenarios/other.json"] = scenario(
        scenario_id="other", turns=[{"turn_number": 1, "user_message": "Hi", "rubric": [CRITERIA[0]], **prose}]
    )
    files["configs/profiles.yaml"] = "asking: {exclude_modes: [W-1, W-2], include_expectations: true}\n"
    plan = compiled(tmp_path, files, "asking")
    made = {check.id: check for check in plan.checks}
    asked = [f"rubric/night/t1/{name}" for name in ("expected_1", "expected_2", "autofail_1", "b/expected_1")]
    assert list(made) == [*asked, "rubric/other/t1/warm"]
    assert [check.is_gate for check in made.values()] == [False, False, True, False, False]
    first, *_, last, _ = made.values()
    assert isinstance(first.verifier, RubricVerifier)
    assert isinstance(last.verifier, RubricVerifier)
    assert "Does the answer do this? Stays kind" in str(first.verifier)
    assert [(each.branch, each.unless) for each in (first.verifier, last.verifier)] == [(None, ("b",)), ("b", ())]


def test_without_include_rubrics_no_criterion_is_asked(tmp_path: Path) -> None:
    files = {**with_rubric(*CRITERIA), "configs/profiles.yaml": "publish: {include_all: true}\n"}
    assert [check.id for check in compiled(tmp_path, files).checks] == ["W-1", "W-2"]


@pytest.mark.parametrize(
    ("criteria", "code"),
    [
        ([CRITERIA[0], CRITERIA[0]], "duplicate-criterion-id"),
        ([{"question": "?", "kind": "binary"}], "missing-key"),
        ([{"id": "x", "question": "?", "kind": "ordinal", "levels": {"0": "none"}}], "criterion-without-levels"),
        ([{"id": "x", "question": "?"}], "retired-rubric-dialect"),
        ([{"id": "x", "question": "?", "kind": "binry"}], "unknown-value"),
    ],
)
def test_a_bad_criterion_is_found_while_loading(tmp_path: Path, criteria: list[dict[str, Any]], code: str) -> None:
    assert [found[0] for found in refusal(tmp_path, with_rubric(*criteria), "rubrics")] == [code]


DESK = "vocabulary: {buckets: [advice, conduct], severities: [minor, blocking], gates: {GATE}}\n"
OWN: list[dict[str, Any]] = [
    {"id": "plain", "question": "Is it good?", "kind": "binary", "dimension": "relational_quality"},
    {"id": "of_bucket", "question": "Is it kind?", "kind": "binary", "dimension": "conduct"},
    {"id": "stated", "question": "Is it true?", "kind": "binary", "primary_bucket": "advice", "severity": "blocking"},
    {"id": "mocks", "question": "Does it mock?", "kind": "autofail", "dimension": "conduct"},
]


def in_vocabulary(
    folder: Path, vocabulary: str, criteria: list[dict[str, Any]] = OWN
) -> dict[str, tuple[str, str, bool]]:
    """The bucket and severity of each criterion, and whether it is a gate check."""
    project = "project: desk\nprofiles: configs/profiles.yaml\n" + vocabulary
    files = {**with_rubric(*criteria, branches=[]), "rulewright.yaml": project}
    files["configs/scoring.yaml"] = "unit_of_analysis_by_bucket: {advice: event_window}\n"
    for name in ("W-1", "W-2"):
        files[f"checks/{name}.yaml"] = small_project.check(bucket="advice", severity="minor").replace("W-1", name)
    made = [check for check in compiled(folder, files, "rubrics").checks if check.route == "rubric"]
    return {check.name: (check.primary_bucket, check.severity, check.is_gate) for check in made}


def test_a_criterion_has_the_bucket_and_severity_that_its_author_stated_and_no_others(tmp_path: Path) -> None:
    gate = "{legal: {buckets: [advice], severities: [blocking]}}"
    assert in_vocabulary(tmp_path / "gate", DESK.replace("{GATE}", gate)) == {
        "plain": ("", "", False),
        "of_bucket": ("conduct", "", False),
        "stated": ("advice", "blocking", True),
        "mocks": ("advice", "blocking", True),
    }
    both = "{legal: {buckets: [advice], severities: [minor]}, manners: {buckets: [conduct], severities: [blocking]}}"
    assert in_vocabulary(tmp_path / "both", DESK.replace("{GATE}", both))["mocks"] == ("conduct", "blocking", True)
    assert in_vocabulary(tmp_path / "none", DESK.replace("{GATE}", "{}"))["mocks"] == ("conduct", "blocking", True)


def test_an_autofail_that_states_only_a_bucket_or_a_severity_is_completed_to_a_gate(tmp_path: Path) -> None:
    gates = "{legal: {buckets: [advice], severities: [blocking]}, manners: {buckets: [conduct], severities: [minor]}}"
    stated = {
        "bucket": {"primary_bucket": "conduct"},
        "severity": {"severity": "minor"},
        "dimension": {"primary_bucket": "advice", "dimension": "conduct"},
    }
    criteria = [{"id": name, "question": "Bad?", "kind": "autofail", **more} for name, more in stated.items()]
    assert in_vocabulary(tmp_path, DESK.replace("{GATE}", gates), criteria) == {
        "bucket": ("conduct", "minor", True),
        "severity": ("conduct", "minor", True),
        "dimension": ("advice", "blocking", True),
    }
