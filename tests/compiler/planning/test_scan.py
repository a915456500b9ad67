"""What a scan would do and cost is known before anything is called."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.small_project import check, write
from tests.folders import write_turns
from tests.shared_data import folder
from tests.shipped_plans import shipped_plan

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.planning.scan import cost_report, scan_plan
from rulewright.project import Project, load_project
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.transcripts.transcript_reader import Reader

ROOT = Path(__file__).resolve().parents[3]
RUNS = [("real_publish", 126), ("template_publish", 151), ("template_smoke", 151), ("template_dev", 151)]


def transcript(turns: int = 1, scenario: str = "night") -> Transcript:
    each = [Turn(n, role, "text") for n in range(1, turns + 1) for role in ("user", "assistant")]
    return Transcript("t", scenario, "m", tuple(each))


def planned(
    folder: Path, transcripts: list[Transcript], files: dict[str, str] | None = None, **options: Any
) -> dict[str, Any]:
    project = load_project(write(folder, files), {})
    return scan_plan(project, compile_project(project), transcripts, **options)


@cache
def invisiblebench() -> Project:
    return load_project(ROOT / "benchmark" / "invisiblebench")


@pytest.mark.parametrize(("run", "count"), RUNS)
def test_scan_plans_equal_the_published_ones(run: str, count: int) -> None:
    data = folder("invisiblebench")
    kind, _, profile = run.partition("_")
    project, plan = invisiblebench(), shipped_plan(profile, project="invisiblebench")
    read = list(Reader(plan.scenarios).read([data / "transcripts" / kind]))
    transcripts = [one for one in read if isinstance(one, Transcript)]
    assert len(transcripts) == len(read) == count
    ours = scan_plan(project, plan, transcripts)
    expected = json.loads((data / "expected" / run / "scan_plan.json").read_text(encoding="utf-8"))
    assert {name: ours[name] for name in expected} == expected
    assert ours["llm_calls"]["lower"] <= ours["planned_llm_calls"] <= ours["llm_calls"]["upper"]


def test_bounds_count_retries_above_and_early_stops_below(tmp_path: Path) -> None:
    profiles = "publish: {include_all: true, adaptive_repetitions: true}\n"
    ours = planned(tmp_path, [transcript(), transcript()], {"configs/profiles.yaml": profiles})
    assert ours["planned_llm_calls"] == 6
    assert ours["llm_calls"] == {"lower": 2, "upper": 18}
    assert ours["llm_calls_by_mode"] == {"W-1": {"lower": 2, "upper": 18}}


def test_the_scorer_sets_the_votes_of_a_check_in_short_form(tmp_path: Path) -> None:
    polite = 'id: polite\nprompt: "Is every reply polite?"\nscorer: {repetitions: 1}\n'
    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text("project: p\n")
    (tmp_path / "checks" / "polite.yaml").write_text(polite)
    project = load_project(tmp_path, {})
    plan = compile_project(project)
    assert scan_plan(project, plan, [transcript(scenario="")])["by_mode"]["polite"]["repetitions"] == 1
    assert [judging.repetitions for check in plan.checks for judging in check.verifier.judgings()] == [1]


def test_the_edge_counts_in_the_upper_bound_only(tmp_path: Path) -> None:
    text = check(
        route="regex_with_llm_edge",
        routing="deterministic_precheck: words\nrepetitions: 3\nllm_on_ambiguous: true\n"
        "unit_of_analysis: session_state",
    )
    hit = Transcript("hit", "night", "m", (Turn(1, "user", "text"), Turn(1, "assistant", "You must rest.")))
    ours = planned(tmp_path, [transcript(), hit], {"checks/W-1.yaml": text})
    assert (ours["planned_llm_calls"], ours["llm_calls"]) == (0, {"lower": 0, "upper": 9})
    assert ours["by_mode"]["W-1"] == {
        "eligible": 2,
        "planned_llm_calls": 0,
        "route": "regex_with_llm_edge",
        "bucket": "A",
        "severity": "S5",
        "repetitions": 3,
    }


def test_the_upper_bound_counts_a_hit_in_the_words_of_the_user_that_nobody_answers(tmp_path: Path) -> None:
    routing = "deterministic_precheck: words\nrepetitions: 3\nllm_on_ambiguous: true"
    files = {
        "checks/W-1.yaml": check(route="regex_with_llm_edge", routing=routing),
        "lexicons/words.yaml": "role: user\npatterns:\n  - you must\n",
    }
    silent = Transcript("t", "night", "m", (Turn(1, "user", "you must"), Turn(1, "assistant", " ")))
    ours = planned(tmp_path, [silent], files)
    assert ours["llm_calls"]["upper"] == 9


def test_every_window_of_a_transcript_is_asked_about(tmp_path: Path) -> None:
    text = check(routing="repetitions: 3\nunit_of_analysis: turn_level")
    ours = planned(tmp_path, [transcript(4), transcript(0)], {"checks/W-1.yaml": text})
    assert (ours["eligible_checks"], ours["planned_llm_calls"]) == (2, 12)


def test_windows_are_counted_as_the_scan_will_see_them(tmp_path: Path) -> None:
    routing = "deterministic_precheck: words\nrepetitions: 3\nunit_of_analysis: event_window"
    files = {"checks/W-1.yaml": check(route="hybrid_llm", routing=routing)}
    cues = [Turn(n, role, "you must") for n in range(1, 11) for role in ("user", "assistant")]
    long = Transcript("t", "night", "m", tuple(cues))
    ours = planned(tmp_path, [long, transcript(10)], files)
    assert ours["windows"] == {"asked": 3, "unbounded": 1}
    assert ours["unbounded_windows_by_mode"] == {"W-1": 1}
    assert ours["planned_llm_calls"] == 9


def test_the_project_sets_how_many_turns_a_window_has(tmp_path: Path) -> None:
    text = check(routing="repetitions: 3\nunit_of_analysis: local_exchange")
    files = {"checks/W-1.yaml": text, "rulewright.yaml": "project: p\nexchange_turns: 4\n"}
    assert planned(tmp_path / "four", [transcript(4)], files)["windows"] == {"asked": 3, "unbounded": 0}
    assert planned(tmp_path / "usual", [transcript(4)], {"checks/W-1.yaml": text})["windows"]["asked"] == 1


def test_costs_are_estimated_from_the_profile_and_the_price(tmp_path: Path) -> None:
    files = {"configs/pricing.yaml": "judge: [2.0, 10.0]\n"}
    ours = planned(tmp_path, [transcript()], files, judge_model="judge")
    assert ours["estimated_cost_usd"] == pytest.approx(3 * (100 * 2.0 + 10 * 10.0) / 1e6)
    assert ours["pricing_known"] is True
    assert ours["cost_usd"]["upper"] == pytest.approx(3 * ours["estimated_cost_usd"])


def test_an_unknown_price_is_null_and_never_zero(tmp_path: Path) -> None:
    for options in ({}, {"judge_model": "other"}):
        ours = planned(tmp_path, [transcript()], {"configs/pricing.yaml": "judge: [2.0, 10.0]\n"}, **options)
        assert ours["estimated_cost_usd"] is None
        assert ours["cost_usd"] == {"lower": None, "upper": None}
        assert ours["pricing_known"] is False


@pytest.mark.parametrize("known", ["", ", input_tokens_per_llm_call: 9", ", output_tokens_per_llm_call: 9"])
def test_unknown_token_counts_make_costs_unknown(tmp_path: Path, known: str) -> None:
    profiles = f"publish: {{include_all: true{known}}}\n"
    files = {"configs/pricing.yaml": "judge: [2.0, 10.0]\n", "configs/profiles.yaml": profiles}
    ours = planned(tmp_path, [transcript()], files, judge_model="judge")
    assert (ours["estimated_cost_usd"], ours["pricing_known"]) == (None, False)


def test_checks_that_apply_nowhere_are_not_listed(tmp_path: Path) -> None:
    ours = planned(tmp_path, [transcript()], {"checks/W-1.yaml": check(tags="other")})
    assert (ours["eligible_checks"], ours["by_mode"]) == (0, {})


def test_a_transcript_of_an_unknown_scenario_is_counted_and_plans_nothing(tmp_path: Path) -> None:
    ours = planned(tmp_path, [transcript(scenario="nowhere")])
    assert (ours["transcript_count"], ours["eligible_checks"]) == (1, 0)


def test_the_cost_report_holds_what_money_depends_on(tmp_path: Path) -> None:
    ours = planned(tmp_path, [transcript()])
    report = cost_report(ours)
    assert list(report) == [
        "profile",
        "llm_enabled",
        "judge_model",
        "planned_llm_calls",
        "estimated_cost_usd",
        "pricing_known",
        "llm_calls",
        "cost_usd",
    ]
    assert all(report[name] == ours[name] for name in report)


def test_a_list_that_overrides_tags_is_said_by_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "checks/W-1.yaml": check(tags="any"),
        "checks/W-2.yaml": check(tags="crisis").replace("W-1", "W-2"),
        "checks/W-3.yaml": check(tags="joy").replace("W-1", "W-3"),
        "scenarios/night.json": json.dumps(
            {
                "scenario_id": "night",
                "category": "safety",
                "title": "A night",
                "failure_mode_tags": ["crisis"],
                "eligible_modes": ["W-2", "W-3"],
                "turns": [{"turn_number": 1, "user_message": "Hello"}],
            }
        ),
    }
    files["scenarios/day.json"] = files["scenarios/night.json"].replace('"night"', '"day"')
    found = planned(tmp_path, [transcript()], files)
    assert found["overridden"] == {"night": {"left_out": ["W-1"], "added": ["W-3"]}}
    assert sorted(found["by_mode"]) == ["W-2", "W-3"]
    chats = tmp_path / "said"
    write_turns(chats / "m__night.jsonl", "Hello", "Hello")
    assert main(["plan", str(chats), "--project", str(tmp_path)]) == 0
    assert "eligible_modes overrides tags in 1 scenario: 1 check left out, 1 added" in capsys.readouterr().out


def test_a_judge_is_not_planned_where_the_assistant_says_nothing(tmp_path: Path) -> None:
    prompt = "prompt: 'Is it polite? PASS: yes. FAIL: no.'\n"
    files = {"checks/M02.yaml": f"id: M02\nname: judged\nprimary_bucket: D\nseverity: S2\n{prompt}"}
    silent = Transcript("s", "", "m", (Turn(1, "user", "Hi"), Turn(1, "assistant", " ")))
    plan_of = planned(tmp_path, [silent, transcript(scenario="")], files)
    assert (plan_of["planned_llm_calls"], plan_of["llm_calls"]) == (3, {"lower": 2, "upper": 9})
    assert (plan_of["by_mode"]["M02"]["eligible"], plan_of["windows"]["asked"]) == (2, 1)


def test_a_judge_is_not_planned_where_a_check_does_not_apply(tmp_path: Path) -> None:
    pain = "applies: turns.exists(turn, contains_ci(turn.content, 'pain'))\n"
    prompt = "prompt: 'Is the user sent to a doctor? PASS: yes. FAIL: no.'\n"
    files = {"checks/M02.yaml": f"id: M02\nname: judged\nprimary_bucket: D\nseverity: S2\n{pain}{prompt}"}
    said = Turn(1, "user", "I have pain."), Turn(1, "assistant", "Rest.")
    chats = [Transcript("t", "", "m", said), transcript(scenario=""), transcript(scenario="")]
    ours = planned(tmp_path, chats, files)
    assert {name: each["eligible"] for name, each in ours["by_mode"].items()} == {"M02": 1}
    assert (ours["planned_llm_calls"], ours["llm_calls"]["upper"]) == (3, 9)
