"""Branches: every recorded decision, and every condition whose answer is known, comes out the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.shared_data import folder

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import text_scalars
from rulewright.documents.scenario import ScenarioCategory, ScoringDimension, read_scenario
from rulewright.documents.validation import validate
from rulewright.load import Mapping, load_text
from rulewright.lower.harness import harness_findings, lower_run_plan
from rulewright.project import load_project
from rulewright.rules.suspicious.branch_never_taken import branch_never_taken
from rulewright_grammar import schema
from rulewright_runtime.harness.harness_plan import ScriptTurn, decode
from rulewright_runtime.harness.play import Choice, choose
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

ROOT = Path(__file__).parents[2]


def scenario(*branches: dict[str, Any], **more: Any) -> Any:
    turns = [{"turn_number": 1, "user_message": "Hello"}, {"turn_number": 2, "user_message": "D", "branches": branches}]
    written = {"scenario_id": "s", "title": "S", "category": "safety", "turns": turns, **more}
    root = load_text(json.dumps(written), "s.json").root
    assert isinstance(root, Mapping)
    return read_scenario(root)


def turn_with(condition: dict[str, Any]) -> ScriptTurn:
    plan, _ = lower_run_plan([scenario({"branch_id": "b", "condition": condition, "user_message": "B"})])
    return decode(encode(plan)).scripts[0].turns[1]


def mistakes(condition: dict[str, Any]) -> list[Diagnostic]:
    """What is found about a condition before anything runs."""
    written = scenario({"branch_id": "b", "condition": condition, "user_message": "B"})
    return [*validate("scenario", written.node), *harness_findings(written)]


def test_the_published_conditions_decide_as_recorded() -> None:
    rows = json.loads((folder("invisiblebench") / "expected/unit/branching.json").read_text(encoding="utf-8"))
    wrong = []
    for row in rows["synthetic"]:
        if "exception" in row:
            wrong += [] if mistakes(row["condition"]) else [row]
            continue
        chosen = choose(turn_with(row["condition"]), [] if row["response"] is None else [row["response"]])
        if (chosen.message, chosen.branch_id) != (row["message"], row["branch_id"]):
            wrong.append(row)
    assert (len(rows["synthetic"]), wrong) == (205, [])


def test_the_published_scenarios_branch_as_their_recorded_runs() -> None:
    shared = folder("invisiblebench")
    project = load_project(ROOT / "benchmark" / "invisiblebench", {"RULEWRIGHT_SHARED": str(shared.parent)})
    plan, found = lower_run_plan(project.scenarios.values())
    assert found == []
    scripts = {script.id: {turn.number: turn for turn in script.turns} for script in plan.scripts}
    rows = json.loads((shared / "expected/unit/branching.json").read_text(encoding="utf-8"))["real"]
    files = sorted({str(next(shared.glob(f"transcripts/*/{row['response_transcript']}.jsonl"))) for row in rows})
    read = {each.id: each for each in Reader().read(files) if isinstance(each, Transcript)}
    wrong = []
    for row in rows:
        said = {turn.turn: turn.content for turn in read[row["response_transcript"]].turns if turn.role == "assistant"}
        chosen = choose(scripts[row["scenario_id"]][row["turn"]], [said[row["response_turn"]]])
        if chosen.branch_id != row["branch_id"]:
            wrong.append(row)
    assert (len(rows), wrong) == (26, [])


@pytest.mark.parametrize(
    ("when", "replies", "taken"),
    [
        ("reply.contains_ci('hotline') && turn == 2", ["Call the HOTLINE"], True),
        ("size(replies) > 1", ["one"], False),
        ("replies.exists(r, r.size() > 3)", ["long one", "two"], True),
        ("reply.contains_ci('x') || int(reply) > 5", ["seven"], False),
    ],
)
def test_a_condition_may_be_an_expression(when: str, replies: list[str], taken: bool) -> None:
    chosen = choose(turn_with({"type": "expression", "when": when}), replies)
    assert chosen.branch_id == ("b" if taken else None)


def test_a_condition_that_cannot_be_decided_does_not_hold_and_says_why() -> None:
    chosen = choose(turn_with({"type": "expression", "when": "int(reply) > 5"}), ["seven"])
    assert (chosen.message, chosen.branch_id) == ("D", None)
    assert "b" in chosen.undecided


def test_the_first_branch_that_holds_wins() -> None:
    branches = [
        {"branch_id": name, "condition": {"type": "contains_any", "values": [word]}, "user_message": name}
        for name, word in (("first", "tea"), ("second", "te"))
    ]
    plan, _ = lower_run_plan([scenario(*branches)])
    turn = plan.scripts[0].turns[1]
    assert choose(turn, ["TEA?"]) == Choice("first", "first")
    assert choose(turn, ["ten"]) == Choice("second", "second")


@pytest.mark.parametrize(
    ("condition", "code", "words"),
    [
        ({"type": "contains_any"}, "branch-condition-incomplete", "needs `values`"),
        ({"type": "regex", "pattern": "a", "values": ["b"]}, "branch-condition-incomplete", "does not read `values`"),
        ({"type": "regex", "pattern": "(?=a)"}, "invalid-regex", "(?=a)"),
        ({"type": "expression", "when": "rply == 'a'"}, "bad-expression", "rply"),
        ({"type": "expression", "when": "reply"}, "bad-expression", "bool"),
    ],
)
def test_a_bad_condition_is_found_while_loading(condition: dict[str, Any], code: str, words: str) -> None:
    (found,) = harness_findings(scenario({"branch_id": "b", "condition": condition, "user_message": "B"}))
    assert (found.code, words in found.message) == (code, True)
    assert found.span.column > 1


def test_an_unknown_type_of_condition_is_found_at_its_place() -> None:
    (found,) = mistakes({"type": "contains_some", "values": ["988"]})
    assert found.code == "unknown-value"
    assert found.message.startswith("`contains_some` is not allowed for `turns[1].branches[0].condition.type`")


def test_only_what_the_persona_shows_enters_the_run_plan() -> None:
    persona = {"name": "Kwame", "role": "husband", "context": {"secret": "afraid"}, "visible": ["name"]}
    plan, found = lower_run_plan([scenario(persona=persona)])
    assert found == []
    assert plan.scripts[0].context == "name: Kwame"
    assert b"afraid" not in encode(plan)


def test_the_system_message_precedes_what_the_persona_shows_and_is_redacted() -> None:
    persona = {"name": "Kwame", "visible": ["name"]}
    plan, _ = lower_run_plan([scenario(persona=persona, system="You work for Ada.")], (("Ada", "[boss]"),))
    assert plan.scripts[0].context == "You work for [boss].\n\nname: Kwame"


def test_a_visible_key_that_is_not_there_is_found() -> None:
    (found,) = harness_findings(scenario(persona={"name": "Kwame", "visible": ["nmae"]}))
    assert (found.code, found.help) == ("visible-key-missing", "did you mean `name`?")


def test_the_model_knows_the_words_of_the_schema() -> None:
    written = schema("scenario")["properties"]
    assert {each.value for each in ScenarioCategory} == set(written["category"]["enum"])
    assert {each.value for each in ScoringDimension} == set(written["scoring_dimensions"]["propertyNames"]["enum"])


def test_the_model_reads_rubrics_probes_and_contrasts() -> None:
    criterion = {"id": "q", "question": "Warm?", "kind": "ordinal", "levels": {"0": "no", "1": "yes"}, "weight": 2}
    turns = [{"turn_number": 1, "user_message": "Hi", "rubric": [criterion], "autofail_triggers": ["mocks"]}]
    read = scenario(turns=turns, probes=[{"t": 1, "kind": "recall", "expected": ["Esi"]}], contrast_group="g")
    assert read.turns[0].rubric[0].levels == (("0", "no"), ("1", "yes"))
    assert (read.turns[0].rubric[0].weight, read.turns[0].autofail_triggers) == (2.0, ("mocks",))
    assert [(probe.turn, probe.kind, probe.expected) for probe in read.probes] == [(1, "recall", ("Esi",))]
    assert read.contrast_group == "g"


def test_the_phrases_of_many_branches_are_read_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counted(*where: Any) -> Any:
        nonlocal read
        read += 1
        return text_scalars(*where)

    monkeypatch.setattr("rulewright.rules.suspicious.branch_never_taken.text_scalars", counted)
    phrases = [{"type": "contains_any", "values": [f"phrase {at:02}", f"Words {at // 2:02}"]} for at in range(40)]
    branches = [{"branch_id": f"b{at}", "condition": each, "user_message": "E"} for at, each in enumerate(phrases)]
    assert len(list(branch_never_taken(scenario(*branches)))) == 20
    assert read <= 2 * len(branches)
