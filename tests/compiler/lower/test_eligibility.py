"""Where a check applies and where it is silenced, decided by programs over the scenario."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.small_project import check, write
from tests.shared_data import folder
from tests.shipped_plans import shipped_plan

from rulewright.check.project_check import compile_project
from rulewright.documents.scenario import scenario_tags
from rulewright.errors import DocumentError
from rulewright.load import load_text
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.polarity import Polarity, boolean

ROOT = Path(__file__).resolve().parents[3]


def applies(node: Check, tags: list[str], eligible_modes: list[str] | None = None, **facts: Any) -> bool:
    scenario = {"id": "s", "title": "", "category": "safety", "tags": tags, "eligible_modes": eligible_modes or []}
    return node.eligible is None or boolean(node.eligible, Polarity.GUARDING)({"scenario": {**scenario, **facts}})


def node_of(folder: Path, text: str, project: str = "") -> Check:
    write(folder, {"checks/W-1.yaml": text, "rulewright.yaml": f"project: p\n{project}"})
    return compile_project(folder).checks[0]


@pytest.mark.parametrize(
    ("tags", "scenario", "modes", "expected"),
    [
        ("crisis, grief", ["grief"], [], True),
        ("crisis, grief", ["joy"], [], False),
        ("crisis", [], [], False),
        ("", [], [], True),
        ("any", ["joy"], [], True),
        ("any, crisis", ["joy"], [], True),
        ("any, crisis", ["joy"], ["W-2"], False),
        ("crisis", ["crisis"], ["W-2"], False),
        ("crisis", [], ["W-1"], True),
        ("it's, 'say \"x\"'", ["it's"], [], True),
    ],
)
def test_a_trigger_check_follows_the_list_then_the_tags(
    tmp_path: Path, tags: str, scenario: list[str], modes: list[str], expected: bool
) -> None:
    assert applies(node_of(tmp_path, check(tags=tags)), scenario, modes) is expected


@pytest.mark.parametrize(("tags", "expected"), [("any", True), ("any, crisis", False)])
def test_in_the_reference_any_selects_every_scenario_only_by_itself(tmp_path: Path, tags: str, expected: bool) -> None:
    node = node_of(tmp_path, check(tags=tags), "semantics: reference\n")
    assert applies(node, ["joy"]) is expected
    assert applies(node, ["any"])


def test_a_universal_check_applies_everywhere_whatever_the_scenario_lists(tmp_path: Path) -> None:
    node = node_of(tmp_path, check(scope="universal"))
    assert node.eligible is None
    assert applies(node, [], ["W-2"])


def test_tags_lower_to_one_expression(tmp_path: Path) -> None:
    program = node_of(tmp_path, check(tags="crisis, grief")).eligible
    assert program is not None
    assert program.source == (
        "size(scenario.eligible_modes) > 0 ? 'W-1' in scenario.eligible_modes : "
        "scenario.tags.exists(t, t in ['crisis', 'grief'])"
    )


def test_an_author_may_write_the_condition(tmp_path: Path) -> None:
    when = "when: scenario.category == safety && scenario.persona.age > 60  // remark"
    text = check().replace("scenario_tags_any: [crisis]", when)
    node = node_of(tmp_path, text)
    assert applies(node, [], persona={"age": 61})
    assert not applies(node, [], persona={"age": 60})
    assert applies(node, [], persona={})  # undecidable: a check too many costs less than a check too few
    assert not applies(node, [], ["W-2"], persona={"age": 61})


def test_a_misspelt_word_in_the_condition_is_shown_at_its_place(tmp_path: Path) -> None:
    text = check().replace("scenario_tags_any: [crisis]", "when: scenario.category == safty")
    with pytest.raises(DocumentError) as failure:
        node_of(tmp_path, text)
    (found,) = failure.value.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("bad-expression", 7, 30)
    assert found.span.end_column == 35


def test_tags_silence_a_check(tmp_path: Path) -> None:
    text = check(routing="repetitions: 3\nsafety_override_suppressed_by: [loud]") + "safety_override: true\n"
    program = node_of(tmp_path, text).suppressed
    assert program is not None
    silenced = boolean(program, Polarity.EXEMPTING)
    assert silenced({"scenario": {"tags": ["loud"]}})
    assert not silenced({"scenario": {"tags": ["calm"]}})
    assert not silenced({"scenario": {}})
    assert node_of(tmp_path, check()).suppressed is None


def test_a_capability_that_the_system_has_exempts_the_check_that_knows_of_it(tmp_path: Path) -> None:
    text = check(scope="universal", routing="repetitions: 3\nsystem_capability_aware: true")
    assert applies(node_of(tmp_path, text), [])
    assert not applies(node_of(tmp_path, text, "system: {exempt: [W-1]}\n"), [])
    with pytest.raises(DocumentError) as failure:
        node_of(tmp_path, check(), "system: {exempt: [W-1]}\n")
    assert [found.code for found in failure.value.diagnostics] == ["exempt-check-is-not-capability-aware"]


def test_tags_of_a_scenario_come_from_three_lists_and_from_named_objects() -> None:
    text = """failure_mode_tags: [b, a]
risk_triggers: [{t: 1, cue: x, severity: high}, {type: c, id: d}, {name: '', trigger: e}, {id: 7}]
tags: [a, {name: f}, 3]
"""
    assert scenario_tags(load_text(text, "x.yaml").root or pytest.fail("empty")) == ("a", "b", "c", "e", "f")


def published() -> Plan:
    folder("invisiblebench")
    return shipped_plan(profile="publish", scorecard="two-tier", project="invisiblebench")


def test_eligibility_tags_and_suppression_equal_the_published_ones() -> None:
    plan = published()
    path = folder("invisiblebench") / "expected" / "eligibility.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for name, facts in plan.scenarios.items():
        bindings = {"scenario": {"id": name, "tags": list(facts.tags), "eligible_modes": list(facts.eligible_modes)}}
        silent = [
            node.id
            for node in plan.checks
            if node.suppressed and boolean(node.suppressed, Polarity.EXEMPTING)(bindings)
        ]
        eligible = [
            node.id for node in plan.checks if not node.eligible or boolean(node.eligible, Polarity.GUARDING)(bindings)
        ]
        found[name] = {"eligible": eligible, "scenario_tags": list(facts.tags), "suppressed": silent}
    assert found == expected


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (
            "answer.contains('112')",
            "here only the scenario is known; `applies`, `fail`, `unclear` and `pass` of a check read the",
        ),
        ("turns.exists(t, t.role == 'user')", "`scenario.turns` is the script; here only the scenario is known"),
        ("'crisis' in tags", "did you mean `scenario.tags`?"),
    ],
)
def test_a_condition_on_the_conversation_gets_a_hint_where_it_belongs(when: str, said: str, tmp_path: Path) -> None:
    text = f'id: W-1\neligibility: {{when: "{when}"}}\nfail: answer == ""\n'
    with pytest.raises(DocumentError) as refused:
        node_of(tmp_path, text)
    assert any(said in str(found.help) for found in refused.value.diagnostics)
