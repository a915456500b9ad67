"""Workflows among the documents that `lint` looks at: alone, in a folder, in a project."""

from pathlib import Path

import pytest
from tests import folders

from rulewright.diagnostics import Severity
from rulewright.linting.lint_run import lint, lint_text

GHOST = "tasks: {a: {agent: ghost}}\n"


def write(folder: Path, **texts: str) -> None:
    folders.write(folder, {f"{name.replace('__', '/')}.yaml": text for name, text in texts.items()})


def codes(*paths: Path) -> list[str]:
    return [each.code for each in lint(paths).diagnostics]


def test_a_lone_workflow_is_linted() -> None:
    assert [each.code for each in lint_text(GHOST, "w.yaml").diagnostics] == ["unknown-agent"]


@pytest.mark.parametrize(
    ("agents", "found"),
    [
        ("[ghost, host]", ["wrong-type"]),
        ("[{name: ghost, role: {description: Is hardly seen.}}]", ["wrong-type"]),
        ("ghost", ["wrong-type"]),
        ("{ghost: Is hardly seen.}", ["wrong-type"]),
        ("{ghost: [x]}", ["wrong-type"]),
        ("{ghost: null}", ["unknown-agent"]),
        ("[host]", ["wrong-type", "unknown-agent"]),
    ],
)
def test_an_agent_that_is_declared_in_a_wrong_form_is_not_unknown_too(agents: str, found: list[str]) -> None:
    assert [each.code for each in lint_text(f"agents: {agents}\n{GHOST}", "w.yaml").diagnostics] == found


def test_a_misspelt_key_of_an_overlay_hides_no_other_mistake_in_it() -> None:
    text = """
tasks:
  a:
    agent: dev
    overlays:
      confidence_loop:
        enabled: true
        treshold: 0.8
        max_iterations: 3
        metrics: [{type: llm_judge, evaluator_agent: ghost, criteria: [cheap]}]
        exit_conditions: [metrics.llm_juge >= 0.8]
"""
    report = lint_text(text, "w.yaml")
    assert [each.code for each in report.diagnostics if each.severity is Severity.ERROR] == [
        "unknown-key",
        "unknown-agent",
        "bad-condition",
    ]


@pytest.mark.parametrize("place", ["flows/main", "workflow"])
def test_the_workflow_of_a_project_is_linted(tmp_path: Path, place: str) -> None:
    named = f"workflow: {{file: {place}.yaml}}\n" if place != "workflow" else ""
    write(tmp_path, rulewright=f"project: p\n{named}", **{place.replace("/", "__"): GHOST})
    assert codes(tmp_path) == ["unknown-agent"]


def test_a_workflow_given_alone_knows_the_agents_of_its_project(tmp_path: Path) -> None:
    write(
        tmp_path,
        rulewright="project: p\nworkflow: {agents: {directory: people}}\n",
        flows__w=GHOST,
        people__ghost="name: ghost\nrole: {description: Is hardly seen.}\n",
    )
    assert codes(tmp_path / "flows" / "w.yaml") == []


def test_a_project_accepts_what_it_knows_of_its_workflow(tmp_path: Path) -> None:
    accept = "accept: [{rule: no-tasks, reason: begun tomorrow}]\n"
    write(tmp_path, rulewright=f"project: p\n{accept}", workflow="tasks: {}\n")
    assert codes(tmp_path) == []


def test_a_comment_in_a_workflow_suppresses_a_finding(tmp_path: Path) -> None:
    write(tmp_path, rulewright="project: p\n", workflow="tasks: {} # rulewright: allow no-tasks because it is new\n")
    assert codes(tmp_path) == []


def test_agents_and_contracts_are_linted_where_the_workflow_uses_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        rulewright="project: p\n",
        workflow="tasks: {a: {agent: dev, outputs: [{path: x.md, contract: a@1}]}}\n",
        agents__odd="name: odd\nrole: {descripton: x}\n",
        agents__mute="name: mute\n",
        contracts="contracts: {a@1: {required_section: [x]}}\n",
    )
    assert sorted(codes(tmp_path)) == ["agent-without-description", "unknown-key", "unknown-key"]


def test_a_workflow_that_a_project_names_and_nobody_wrote_is_missing(tmp_path: Path) -> None:
    write(tmp_path, rulewright="project: p\nworkflow: {file: w.yaml}\n")
    assert codes(tmp_path) == ["missing-path"]


def test_a_broken_workflow_does_not_hide_the_rest_of_the_project(tmp_path: Path) -> None:
    write(tmp_path, rulewright="project: p\nextra: 1\n", workflow="tasks: [\n")
    assert len(codes(tmp_path)) == 2


def test_the_schemas_of_agents_and_contracts_serve_files_outside_a_project(tmp_path: Path) -> None:
    write(tmp_path, a="role: {description: d}\ncolour: red\n", b="contracts: {a@1: {file_format: 3}}\n")
    assert sorted(codes(tmp_path)) == ["unknown-key", "wrong-type"]
