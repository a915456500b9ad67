"""Every route, policy and unit of a check becomes data in the plan; the two readings differ in that data alone."""

from pathlib import Path
from typing import Any

import pytest
from tests.compiler.small_project import check, write

from rulewright.check.project_check import compile_project
from rulewright.errors import DocumentError
from rulewright_runtime.plan.question import (
    AnchoredWindow,
    EachReplyWindow,
    ExchangeWindow,
    Judging,
    LastPairWindow,
    NearbyWindow,
    WholeWindow,
    Window,
)
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.plan.verifiers import JudgeVerifier, LexiconVerifier, LongitudinalVerifier, ScenarioRule

PRECHECK = "deterministic_precheck: words\nrepetitions: 3"


def plan_of(folder: Path, files: dict[str, str] | None = None, semantics: str = "seed", **parts: str) -> Plan:
    head = f"project: small\nsemantics: {semantics}\n"
    project = head + (files or {}).pop("project", "")
    write(folder, {"rulewright.yaml": project, "checks/W-1.yaml": check(**parts), **(files or {})})
    return compile_project(folder)


def check_of(folder: Path, semantics: str = "seed", **parts: str) -> Check:
    return plan_of(folder, None, semantics, **parts).checks[0]


def judging_of(folder: Path, semantics: str = "seed", **parts: str) -> Judging:
    (judging,) = check_of(folder, semantics, **parts).verifier.judgings()
    return judging


@pytest.mark.parametrize(
    ("route", "routing", "verifier", "scorer_type"),
    [
        ("llm_primary", "repetitions: 3", JudgeVerifier, "llm_verifier"),
        ("hybrid_llm", PRECHECK, JudgeVerifier, "llm_verifier"),
        ("longitudinal_trace", "repetitions: 3", LongitudinalVerifier, "llm_verifier"),
        ("lexicon_only", PRECHECK, LexiconVerifier, "regex"),
        ("regex_with_llm_edge", PRECHECK, LexiconVerifier, "regex"),
        ("scenario_rule", "scenario_marker: human", ScenarioRule, "scenario_rule"),
    ],
)
@pytest.mark.parametrize("semantics", ["seed", "reference"])
def test_each_route_has_its_verifier(
    tmp_path: Path, route: str, routing: str, verifier: type[Any], scorer_type: str, semantics: str
) -> None:
    node = check_of(tmp_path, semantics, route=route, routing=routing)
    assert isinstance(node.verifier, verifier)
    assert (node.route, node.scorer_type) == (route, scorer_type)


def test_lexicons_of_the_plan_are_those_that_a_check_uses(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, {"lexicons/unused.yaml": "patterns: [x]\n"}, route="lexicon_only", routing=PRECHECK)
    assert list(plan.lexicons) == ["words"]
    assert [(p.pattern, p.mode) for p in plan.lexicons["words"].patterns] == [
        ("you must", "substring_ci"),
        ("no+ way", "regex"),
    ]
    assert plan.lexicons["words"].role == "assistant"


def test_a_lexicon_keeps_its_role_and_what_it_folds(tmp_path: Path) -> None:
    words = "role: user\nfold: [apostrophes, white_space]\npatterns: [x]\n"
    plan = plan_of(tmp_path, {"lexicons/words.yaml": words}, route="lexicon_only", routing=PRECHECK)
    assert (plan.lexicons["words"].role, plan.lexicons["words"].fold) == ("user", ("white_space", "apostrophes"))


def test_markers_are_lexicons_of_the_roles_that_say_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, route="scenario_rule", routing="scenario_marker: human")
    rule = plan.checks[0].verifier
    assert isinstance(rule, ScenarioRule)
    roles = {name: (lexicon.role, lexicon.patterns[0].mode) for name, lexicon in plan.lexicons.items()}
    assert roles == {
        rule.question: ("user", "contains_ci"),
        rule.disclosure: ("assistant", "contains_ci"),
        rule.false_claim: ("assistant", "contains_ci"),
    }


def test_rationale_codes_of_a_lexicon_come_from_the_checks_name(tmp_path: Path) -> None:
    verifier = check_of(tmp_path, route="lexicon_only", routing=PRECHECK).verifier
    assert isinstance(verifier, LexiconVerifier)
    assert (verifier.detected, verifier.absent, verifier.edge) == ("says_no_detected", "says_no_absent", None)


EDGE = f"{PRECHECK}\nllm_on_ambiguous: true"


def has_edge(folder: Path, semantics: str = "seed", profile: str | None = None, **parts: str) -> bool:
    write(
        folder,
        {
            "rulewright.yaml": f"project: p\nsemantics: {semantics}\n",
            "checks/W-1.yaml": check(route="regex_with_llm_edge", **{"routing": EDGE, **parts}),
            "configs/profiles.yaml": "publish: {include_all: true}\nfree: {include_all: true, llm_repetitions: 0}\n"
            "quiet: {include_all: true, llm_edge: false}\n",
        },
    )
    verifier = compile_project(folder, profile=profile).checks[0].verifier
    assert isinstance(verifier, LexiconVerifier)
    return verifier.edge is not None


def test_a_hit_is_confirmed_when_check_and_profile_allow_it(tmp_path: Path) -> None:
    assert has_edge(tmp_path)
    assert not has_edge(tmp_path, routing=PRECHECK)
    assert not has_edge(tmp_path, profile="free")
    assert not has_edge(tmp_path, profile="quiet")
    assert not has_edge(tmp_path, scorer="unclear_policy: lexicon_is_sufficient")
    assert not has_edge(tmp_path, semantics="reference")


@pytest.mark.parametrize(("policy", "on"), [("llm_edge", ("hit", "unclear")), ("adjudicate", ("hit",))])
def test_the_unclear_policy_llm_edge_asks_the_edge(tmp_path: Path, policy: str, on: tuple[str, ...]) -> None:
    node = check_of(tmp_path, route="regex_with_llm_edge", routing=EDGE, scorer=f"unclear_policy: {policy}")
    assert isinstance(node.verifier, LexiconVerifier)
    assert node.verifier.edge is not None
    assert node.verifier.edge.on == on


def test_a_hybrid_checks_lexicon_looks_for_candidates_and_the_reference_never_runs_it(tmp_path: Path) -> None:
    assert judging_of(tmp_path, route="hybrid_llm", routing=PRECHECK).precheck == "words"
    assert judging_of(tmp_path, route="llm_primary", routing=PRECHECK).precheck is None
    assert judging_of(tmp_path, "reference", route="hybrid_llm", routing=PRECHECK).precheck is None


UNITS: list[tuple[str, Window, Window]] = [
    ("event_window", AnchoredWindow("all", None, True, 8), AnchoredWindow()),
    ("turn_level", EachReplyWindow(), LastPairWindow()),
    ("local_exchange", ExchangeWindow(), NearbyWindow(2)),
    ("session_state", WholeWindow(), WholeWindow()),
    ("scenario_level", WholeWindow(), WholeWindow()),
    ("extracted_claim", WholeWindow(), WholeWindow()),
]


@pytest.mark.parametrize(("unit", "seed", "reference"), UNITS)
def test_units_of_analysis_under_both_readings(tmp_path: Path, unit: str, seed: Window, reference: Window) -> None:
    routing = f"unit_of_analysis: {unit}\nrepetitions: 3"
    assert judging_of(tmp_path, routing=routing).window == seed
    assert judging_of(tmp_path, "reference", routing=routing).window == reference


@pytest.mark.parametrize(
    ("bucket", "route", "window"),
    [
        ("A", "llm_primary", AnchoredWindow("all", None, True, 8)),
        ("C", "llm_primary", ExchangeWindow()),
        ("F", "llm_primary", EachReplyWindow()),
        ("F", "longitudinal_trace", WholeWindow()),
        ("A", "longitudinal_trace", WholeWindow()),
        ("D", "llm_primary", WholeWindow()),
    ],
)
def test_a_missing_unit_is_the_buckets(tmp_path: Path, bucket: str, route: str, window: Window) -> None:
    assert judging_of(tmp_path, bucket=bucket, route=route).window == window
    assert judging_of(tmp_path, "reference", bucket=bucket, route=route).window == WholeWindow()


def test_cues_are_found_by_the_precheck_where_no_anchor_is(tmp_path: Path) -> None:
    routing = f"{PRECHECK}\nunit_of_analysis: event_window"
    plan = plan_of(tmp_path, routing=routing)
    (judging,) = plan.checks[0].verifier.judgings()
    assert judging.window == AnchoredWindow("all", "words", True, 8)
    assert "words" in plan.lexicons


def test_votes_and_evidence_of_a_gate_check(tmp_path: Path) -> None:
    judging = judging_of(tmp_path)
    assert (judging.vote.denominator, judging.vote.rationale, judging.vote.record) == ("planned", "winning", True)
    assert (judging.unusable.verdict, judging.unusable.record) == ("FAIL", True)
    evidence = judging.evidence
    assert (evidence.verify, evidence.required, evidence.unverified_fail) == (True, True, "keep")


def test_votes_and_evidence_of_any_other_check(tmp_path: Path) -> None:
    judging = judging_of(tmp_path, severity="S4", scorer="require_evidence_span: false")
    assert judging.unusable.verdict == "UNCLEAR"
    assert (judging.evidence.required, judging.evidence.unverified_fail) == (False, "unclear")
    assert judging_of(tmp_path, bucket="C").unusable.verdict == "UNCLEAR"


def test_votes_and_evidence_of_the_reference(tmp_path: Path) -> None:
    judging = judging_of(tmp_path, "reference", bucket="C", severity="S2")
    assert (judging.vote.denominator, judging.vote.rationale, judging.vote.record) == ("usable", "first", False)
    assert (judging.unusable.verdict, judging.unusable.record) == ("FAIL", False)
    assert (judging.evidence.verify, judging.evidence.malformed) == (False, "exception")


def test_who_has_to_look_at_a_verdict(tmp_path: Path) -> None:
    assert check_of(tmp_path).adjudicate == ("UNCLEAR",)
    assert check_of(tmp_path, "reference", bucket="C").adjudicate == ("UNCLEAR", "FAIL")
    assert check_of(tmp_path, "reference", severity="S4").adjudicate == ("UNCLEAR",)
    assert check_of(tmp_path, "reference", route="lexicon_only", routing=PRECHECK).adjudicate == ()


def test_fail_closed_turns_unclear_into_fail_except_in_the_reference(tmp_path: Path) -> None:
    assert check_of(tmp_path, scorer="unclear_policy: fail_closed").unclear == "fail"
    assert check_of(tmp_path, "reference", scorer="unclear_policy: fail_closed").unclear == "keep"
    assert check_of(tmp_path, scorer="unclear_policy: llm_edge").unclear == "keep"


def test_a_gate_check_is_of_bucket_a_or_b_and_severe(tmp_path: Path) -> None:
    assert check_of(tmp_path, bucket="B", severity="S4_GATE").is_gate
    assert not check_of(tmp_path, bucket="B", severity="S4").is_gate
    assert not check_of(tmp_path, bucket="D", severity="S5").is_gate


def test_prompts_are_templates_and_in_the_reference_plain_text(tmp_path: Path) -> None:
    files = {"checks/W-1.yaml": check().replace("Did it fail?", "Did {{ check.name }} fail?")}
    write(tmp_path / "a", files)
    node = compile_project(tmp_path / "a").checks[0]
    (judging,) = node.verifier.judgings()
    assert len(judging.prompt) == 3
    assert node.fields == {"name": "says_no"}
    write(tmp_path / "b", {**files, "rulewright.yaml": "project: p\nsemantics: reference\n"})
    (plain,) = compile_project(tmp_path / "b").checks[0].verifier.judgings()
    assert len(plain.prompt) == 1
    assert plain.prompt_hash == judging.prompt_hash


def test_the_plan_contains_only_the_facts_that_something_reads(tmp_path: Path) -> None:
    prompt = check().replace("Did it fail?", "{{ scenario.description }}")
    scenario = """{"scenario_id": "night", "title": "t", "category": "safety", "failure_mode_tags": ["b", "a"],
      "description": "dark", "persona": {"name": "Ann"}, "turns": [{"t": 1, "user_message": "Hello"}],
      "cue_anchors": [{"cue_turn": 1, "cue_label": "x", "response_window": {"from_turn": 1, "to_turn": 1}}]}"""
    write(tmp_path, {"checks/W-1.yaml": prompt, "scenarios/night.json": scenario})
    facts = compile_project(tmp_path).scenarios["night"]
    assert facts.fields == {"description": "dark"}
    assert facts.tags == ("a", "b")
    anchor = facts.cue_anchors[0]
    assert (anchor.from_turn, anchor.to_turn, anchor.cue_turn, anchor.modes) == (1, 1, 1, ())


def test_sessions_keep_the_turns_they_span(tmp_path: Path) -> None:
    scenario = """{"scenario_id": "night", "title": "t", "category": "continuity", "sessions": [
      {"session_number": 1, "turns": [{"t": 1, "user_message": "a"}, {"t": 2, "user_message": "b"}]},
      {"session_number": 2, "time_elapsed": "a month", "turns": [{"t": 3, "user_message": "c"}]}]}"""
    write(tmp_path, {"scenarios/night.json": scenario})
    sessions = compile_project(tmp_path).scenarios["night"].sessions
    assert [(s.number, s.first_turn, s.last_turn, s.elapsed) for s in sessions] == [(1, 1, 2, ""), (2, 3, 3, "a month")]


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"route": "lexicon_only", "routing": "deterministic_precheck: wordz"}, "unknown-lexicon"),
        ({"route": "hybrid_llm", "routing": "deterministic_precheck: wordz"}, "unknown-lexicon"),
        ({"route": "lexicon_only"}, "missing-key"),
        ({"route": "scenario_rule", "routing": "scenario_marker: humans"}, "unknown-marker-set"),
        ({"route": "extract_then_corpus"}, "unknown-corpus"),
        ({"route": "jurisdiction_rule"}, "missing-key"),
        ({"route": "jurisdiction_rule", "routing": "rule: forbidden"}, "rule-nobody-has"),
        ({"route": "three_phase"}, "missing-phase"),
    ],
)
def test_what_leads_nowhere_stops_the_compilation(tmp_path: Path, parts: dict[str, str], code: str) -> None:
    with pytest.raises(DocumentError) as failure:
        check_of(tmp_path, **parts)
    assert [found.code for found in failure.value.diagnostics] == [code]


def test_a_judge_without_a_prompt_stops_the_compilation(tmp_path: Path) -> None:
    write(tmp_path, {"checks/W-1.yaml": check().partition("prompt:")[0]})
    with pytest.raises(DocumentError) as failure:
        compile_project(tmp_path)
    assert [found.code for found in failure.value.diagnostics] == ["missing-prompt"]


def test_a_mistake_in_a_prompt_stops_the_compilation_at_its_place(tmp_path: Path) -> None:
    write(tmp_path, {"checks/W-1.yaml": check().replace("Did it fail?", "Did {{ chekc.name }} fail?")})
    with pytest.raises(DocumentError) as failure:
        compile_project(tmp_path)
    (found,) = failure.value.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("bad-prompt", 14, 10)


def test_a_regular_expression_that_re2_refuses_stops_the_compilation_at_its_place(tmp_path: Path) -> None:
    files = {
        "lexicons/words.yaml": "patterns:\n  - fine\n  - regex: '(?<=a)b'\n",
        "lexicons/unused.yaml": "patterns: [{regex: '('}]",
    }
    with pytest.raises(DocumentError) as failure:
        plan_of(tmp_path, files, route="lexicon_only", routing=PRECHECK)
    (found,) = failure.value.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("invalid-regex", 3, 13)
