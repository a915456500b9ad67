"""What the editor offers where something is being typed."""

from pathlib import Path
from typing import Any

import pytest
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor

CHECK = "checks/promises-presence.yaml"


def offered(editor: Editor, path: Path, text: str) -> list[dict[str, Any]]:
    """What is offered at the `|` of a text."""
    at = text.index("|")
    text = text.replace("|", "", 1)
    editor.show(path, text)
    line = text.count("\n", 0, at)
    found: list[dict[str, Any]] = editor.at("completion", path, line, at - (text.rfind("\n", 0, at) + 1))
    return found


def labels(found: list[dict[str, Any]]) -> list[str]:
    return [each["label"] for each in found]


def check(old: str, new: str) -> str:
    assert old in a_project.CHECK
    return a_project.CHECK.replace(old, new)


def test_keys_are_those_of_the_place_that_are_not_yet_there(editor: Editor, project: Path) -> None:
    found = offered(editor, project / CHECK, check("  repetitions: 1\n  require", "  |\n  require"))
    assert labels(found) == ["repetitions"]
    (key,) = found
    assert key["textEdit"]["newText"] == "repetitions: "
    assert key["documentation"]["value"].startswith("**repetitions**: ")


def test_keys_that_are_needed_come_first(editor: Editor, project: Path) -> None:
    found = offered(editor, project / CHECK, check("severity: S2\n", "se|\n"))
    assert found[0]["label"] == "severity"
    assert found[0]["detail"] == "required"
    assert {"prompt", "note"} <= set(labels(found))
    assert "id" not in labels(found)


def test_keys_that_the_route_leaves_unread_are_not_offered(editor: Editor, project: Path) -> None:
    found = labels(offered(editor, project / CHECK, f"{a_project.CHECK}  |\n"))
    assert "corpus_required" in found
    assert "state_machine" not in found
    unrouted = check("  route: lexicon_only\n", "")
    assert "state_machine" in labels(offered(editor, project / CHECK, f"{unrouted}  |\n"))


def test_quotes_offer_the_checks_of_the_project(editor: Editor, project: Path) -> None:
    checks = project / "checks"
    (checks / "brief.yaml").write_text("id: brief\nfail: answer == 'x'\n", encoding="utf-8")
    (each,) = offered(editor, checks / "brief.yaml", 'id: brief\nfail: v("promises-|").verdict == FAIL\n')
    assert each["label"] == "promises-presence"
    written = each["textEdit"]["range"]
    assert (written["start"]["character"], written["end"]["character"]) == (9, 18)


def test_an_empty_file_is_known_by_its_folder(editor: Editor, project: Path) -> None:
    empty = project / "checks" / "empty.yaml"
    empty.write_text("", encoding="utf-8")
    not_there_yet = project / "checks" / "new.yaml"
    for path in (empty, not_there_yet):
        assert {"id", "severity", "routing"} <= set(labels(offered(editor, path, "|")))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("severity: S2", "severity: |", ["S1", "S2", "S3", "S4", "S4_GATE", "S5"]),
        ("severity: S2", "severity: S|", ["S1", "S2", "S3", "S4", "S4_GATE", "S5"]),
        ("hard_fail: false", "hard_fail: |", ["true", "false"]),
        ("precheck: presence_promise", "precheck: |", ["presence_promise"]),
        ("[presence_promise]", "[|]", ["presence_promise"]),
        ("[presence_promise]", "[|", ["presence_promise"]),
        ('when: "', 'scenario_tags_any: [|]\n  when: "', ["lonely"]),
    ],
)
def test_values_are_those_that_the_key_allows(
    editor: Editor, project: Path, old: str, new: str, expected: list[str]
) -> None:
    assert labels(offered(editor, project / CHECK, check(old, new))) == expected


def test_a_name_with_a_dash_is_replaced_as_a_whole(editor: Editor, project: Path) -> None:
    text = f"{a_project.FILES['rulewright.yaml']}system:\n  exempt: [promises-pr|]\n"
    (found,) = offered(editor, project / "rulewright.yaml", text)
    assert found["label"] == "promises-presence"
    place = found["textEdit"]["range"]
    assert place == {"start": {"line": 5, "character": 11}, "end": {"line": 5, "character": 22}}


@pytest.mark.parametrize(
    ("condition", "first"),
    [
        ('"scenario.category == |"', "confidential"),
        ('"scenario.category == |', "confidential"),
        ('"scenario.tags.exists(t, |"', "t"),
        ('"scenario.persona.|"', "name"),
        ("'|'", "scenario"),
        (">\n    scenario.title == 'x' ||\n    scenario.persona.¦", "name"),
    ],
)
def test_expressions_offer_what_their_place_knows(editor: Editor, project: Path, condition: str, first: str) -> None:
    if "¦" in condition:
        condition = condition.replace("||", "or").replace("¦", "|")
    when = a_project.CHECK.split("when: ")[1].splitlines()[0]
    assert labels(offered(editor, project / CHECK, check(when, condition)))[0] == first


def test_a_prompt_offers_what_it_may_show(editor: Editor, project: Path) -> None:
    text = f"{a_project.CHECK}prompt: >\n  Question {{{{ check.sev| }}}}?\n"
    assert "severity" in labels(offered(editor, project / CHECK, text))
    assert labels(offered(editor, project / CHECK, text.replace("Question", "Quest|ion").replace("sev|", "id"))) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("agent: dev", "agent: |", {"architect", "critic", "dev", "reviewer"}),
        ("reviewer_agent: critic", "reviewer_agent: |", {"critic", "reviewer"}),
        ("dependencies: [plan]", "dependencies: [|]", {"plan", "code"}),
        ("dependencies: [plan]", "dependencies: [|", {"plan", "code"}),
        ('"review.decision == GO"', '"review.|"', {"decision", "feedback"}),
        ("enabled: true", "enabled: |", {"true", "false"}),
        ("    overlays:\n", "    |\n    overlays:\n", {"loop", "description", "requires_human"}),
    ],
)
def test_workflows_offer_agents_tasks_and_conditions(
    editor: Editor, project: Path, old: str, new: str, expected: set[str]
) -> None:
    assert old in a_project.WORKFLOW
    text = a_project.WORKFLOW.replace(old, new)
    assert expected <= set(labels(offered(editor, project / "workflow.yaml", text)))


def test_a_scorecards_expressions_know_its_parameters(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    text = (
        "scorecard: card\nparameters:\n  floor: {type: score, default: 0.5}\n"
        'variables:\n  - worst: min([floor, 0.2])\noutput:\n  low: "|"\n'
    )
    assert {"floor", "worst", "verdicts"} <= set(labels(offered(editor, path, text)))


def test_a_machines_conditions_and_a_replys_fields_are_known(editor: Editor, tmp_path: Path) -> None:
    machine = (
        "name: m\nstates: [a, b]\ninitial: a\ncues: {c: {patterns: [x]}}\n"
        "transitions:\n  - {from: a, on: c, to: b, when: turns_in_state > 1 and |}\n"
    )
    assert "session" in labels(offered(editor, tmp_path / "m.yaml", machine))
    phases = (
        f"{a_project.CHECK}phases:\n  confirm:\n    prompt: x\n"
        "    fields: {kind: [told, asked]}\n    violates: reply.kind == |\n"
    )
    assert labels(offered(editor, tmp_path / "check.yaml", phases))[:2] == ["told", "asked"]


def test_a_broken_document_keeps_its_kind(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "check.yaml"
    editor.show(path, a_project.CHECK)
    assert "severity" in labels(offered(editor, path, "id: a\n|\nbroken: [\n"))


def test_a_key_without_a_space_after_its_colon_gets_no_completion_of_keys(editor: Editor, project: Path) -> None:
    assert labels(offered(editor, project / CHECK, check("severity: S2", "severity:|"))) == []


def test_json_gets_its_quotes(editor: Editor, project: Path) -> None:
    path = project / "scenarios" / "evening.json"
    found = offered(editor, path, a_project.SCENARIO.replace('"tags"', '"jur|", "tags"'))
    assert [each["textEdit"]["newText"] for each in found if each["label"] == "jurisdiction"] == ["jurisdiction"]
    found = offered(editor, path, a_project.SCENARIO.replace('"category": "empathy"', '"category": "|"'))
    assert [each["textEdit"]["newText"] for each in found if each["label"] == "safety"] == ["safety"]
    found = offered(editor, path, a_project.SCENARIO.replace('"category": "empathy"', '"category": |'))
    assert [each["textEdit"]["newText"] for each in found if each["label"] == "safety"] == ['"safety"']


def test_yaml_gets_the_quotes_it_needs(editor: Editor, project: Path) -> None:
    (project / "lexicons" / "1.yaml").write_text(a_project.LEXICON.replace("presence_promise", "1"), encoding="utf-8")
    path = project / "checks" / "promises-presence.yaml"
    editor.show(path, a_project.CHECK)
    found = offered(editor, path, check("precheck: presence_promise", "precheck: |"))
    assert [each["textEdit"]["newText"] for each in found] == ['"1"', "presence_promise"]
    found = offered(editor, path, check("precheck: presence_promise", 'precheck: "|"'))
    assert [each["textEdit"]["newText"] for each in found] == ["1", "presence_promise"]


def test_a_comment_that_allows_offers_codes(editor: Editor, project: Path) -> None:
    found = offered(editor, project / CHECK, f"{a_project.CHECK}# rulewright: allow dead-key, unkn|\n")
    (key,) = [each for each in found if each["label"] == "unknown-key"]
    assert key["textEdit"]["range"]["start"]["character"] == len("# rulewright: allow dead-key, ")
    assert key["documentation"]["value"].startswith("A key is unknown, so nothing reads it.")


def test_columns_behind_wide_characters_are_right(editor: Editor, project: Path) -> None:
    when = a_project.CHECK.split("when: ")[1].splitlines()[0]
    found = offered(editor, project / CHECK, check(when, "\"'😀' in scenario.tags && scenario.cat|\""))
    (field,) = [each for each in found if each["label"] == "category"]
    start = field["textEdit"]["range"]["start"]["character"]
    assert start == len("  when: \"'😀' in scenario.tags && scenario.") + 1


def test_in_a_file_of_somebody_else_nothing_is_offered(editor: Editor, tmp_path: Path) -> None:
    assert offered(editor, tmp_path / "compose.yaml", "services:\n  |\n") == []


def test_ready_checks_and_their_parameters_are_offered(editor: Editor, project: Path) -> None:
    new = project / "checks" / "brief.yaml"
    found = offered(editor, new, "id: brief\nuse: |\n")
    brief = next(each for each in found if each["label"] == "library/replies-are-brief")
    assert brief["documentation"]["value"] == "No reply has more words than allowed."
    assert labels(offered(editor, new, "id: brief\nuse: library/replies-are-brief\nparams:\n  |\n")) == ["words"]
    file = project / "rulewright.yaml"
    text = f"{file.read_text(encoding='utf-8')}use:\n  - use: library/replies-are-brief\n    params:\n      |\n"
    assert labels(offered(editor, file, text)) == ["words"]
