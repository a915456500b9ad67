"""What a comment covers: values of one line and of several, in every style, in every kind of document."""

from pathlib import Path

import pytest
from tests.compiler.linting.fixing import fix_files
from tests.compiler.small_project import SCENARIO, check, write

from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint, lint_text

ALLOW = "# rulewright: allow unknown-key because another tool reads it"
HEAD = check()
DOCUMENTS = {
    "check": HEAD,
    "lexicon": "patterns: [you must]\n",
    "markers": "identity_question: [are you human]\nai_disclosure: [i am an ai]\nfalse_human: [i am human]\n",
    "scenario": "scenario_id: n\ntitle: A night\ncategory: safety\nturns: [{turn_number: 1, user_message: Hello}]\n",
    "profile": "include_all: true\n",
    "scoring": "unit_of_analysis_by_bucket: {A: event_window}\n",
    "scorecard": "scorecard: c\noutput: {status: \"'valid'\"}\n",
    "state_machine": "states: [a, b]\ninitial: a\ncues: {c: {patterns: [x]}}\ntransitions: [{from: a, on: c, to: b}]\n",
    "corpus": "sources: {s: {title: t}}\nclaims: [x]\nprogrammes: {p: {names: [n], source: s}}\n",
    "workflow": "version: '1'\nname: flow\ntasks: {a: {agent: dev}}\n",
    "agent": "name: a\nrole: {description: writes}\n",
    "contracts": "contracts: {}\n",
}


def shown(text: str, name: str = "X1.yaml") -> tuple[list[str], list[str]]:
    """The codes of the findings about unknown keys and suppressions, and of those that a comment allows."""
    report = lint_text(text, name)
    ours = ("unknown-key", "wrong-type", "unused-suppression", "malformed-suppression", "suppression-without-reason")
    return [found.code for found in report.diagnostics if found.code in ours], codes(report)


def codes(report: Report) -> list[str]:
    return [found.code for found in report.allowed]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_kind_of_document_takes_comments(kind: str) -> None:
    wrong = f"{DOCUMENTS[kind]}wrong: 1"
    assert shown(f"{wrong}\n") == (["unknown-key"], [])
    assert shown(f"{wrong}  {ALLOW}\n") == ([], ["unknown-key"])
    assert shown(f"{wrong}  # rulewright: allow unknown-key\n")[0] == ["unknown-key", "suppression-without-reason"]
    assert shown(f"{DOCUMENTS[kind]}{ALLOW}\n") == (["unused-suppression"], [])


@pytest.mark.parametrize(
    "value",
    [
        f"wrong: [  {ALLOW}\n  1,\n  2,\n]\n", f"wrong: [\n  1,\n  2,\n]  {ALLOW}\n",
        f"wrong: {{\n  a: [1,\n      2],\n}}  {ALLOW}\n", f"wrong: one\n  two\n  three  {ALLOW}\n",
        f'wrong: "one\n  two"  {ALLOW}\n', f"wrong: >-  {ALLOW}\n  one\n  two\n",
        f"wrong: |  {ALLOW}\n  one\n\n  two\n", f"wrong: |2-  {ALLOW}\n   one\n", f"{ALLOW}\nwrong: >\n  one\n",
        f"{ALLOW}\nwrong:\n  - 1\n",
    ],
)  # fmt: skip
def test_a_comment_covers_values_of_several_lines(value: str) -> None:
    assert shown(HEAD + value) == ([], ["unknown-key"])


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (f"wrong: 1\nworse: [\n  1,  {ALLOW}\n]\n", ["unknown-key", "unknown-key", "unused-suppression"]),
        (f"wrong: [\n  1,\n]\nworse: 1  {ALLOW}\n", ["unknown-key"]),
        (f"wrong: >-  {ALLOW}\n  one\nworse: 1\n", ["unknown-key"]),
        (f"wrong: |\n  one  {ALLOW}\n", ["unknown-key"]),
        (f"wrong: |\n  one\n  {ALLOW}\n", ["unknown-key"]),
        (f"wrong: 'one {ALLOW}'\n", ["unknown-key"]),
        (f"wrong:  {ALLOW}\n  - 1\nworse: 1\n", ["unknown-key"]),
    ],
)
def test_it_covers_nothing_else(value: str, left: list[str]) -> None:
    assert shown(HEAD + value)[0] == left


def test_a_finding_inside_brackets_is_covered_where_the_value_begins() -> None:
    several = "scenario_tags_any: [  # rulewright: allow wrong-type because x\n    1,\n    2]"
    text = HEAD.replace("scenario_tags_any: [crisis]", several)
    assert shown(text) == ([], ["wrong-type", "wrong-type"])


def test_json_has_no_comments_and_is_accepted_by_the_project(tmp_path: Path) -> None:
    scenario = SCENARIO.replace("{", f'{{"wrong": "{ALLOW}", ', 1)
    accept = "accept: [{rule: unknown-key, path: scenarios/**, reason: another tool reads it}]\n"
    write(tmp_path, {"scenarios/night.json": scenario, "rulewright.yaml": "project: p\n"})
    assert "unknown-key" in [found.code for found in lint([tmp_path / "scenarios" / "night.json"]).diagnostics]
    write(tmp_path, {"scenarios/night.json": scenario, "rulewright.yaml": f"project: p\n{accept}"})
    for place in (tmp_path, tmp_path / "scenarios" / "night.json"):
        assert codes(lint([place])) == ["unknown-key"]


def test_an_unused_comment_behind_a_block_is_removed_whole(tmp_path: Path) -> None:
    path = tmp_path / "X1.yaml"
    path.write_text(f"{HEAD}pass_rule: >-  {ALLOW}\n  one\n", encoding="utf-8")
    assert fix_files([path]).diagnostics == ()
    assert path.read_text(encoding="utf-8") == f"{HEAD}pass_rule: >-\n  one\n"
