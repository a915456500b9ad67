"""Drawings of workflows: the tasks, and one task's machine, in two languages that tools read."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from tests.compiler.workflow.workflows_in_place import composed, plan_of

from rulewright.commands.workflow_graph import draw

TWO = """
    name: 'two "tasks"'
    tasks:
      design: {agent: architect, overlays: {policy_gate: {enabled: true, risk_tier: T2}}}
      build: {agent: dev, dependencies: [design], overlays: {hil: {enabled: false}}}
"""


def test_tasks_as_mermaid() -> None:
    assert draw(plan_of(TWO)) == (
        '---\ntitle: "two \\"tasks\\""\n---\nflowchart TD\n'
        '    t0["design<br/>architect<br/>policy_gate T2"]\n'
        '    t1["build<br/>dev<br/>hil off"]\n'
        "    t0 --> t1\n"
    )


def test_tasks_as_dot() -> None:
    assert draw(plan_of(TWO), form="dot") == (
        'digraph "two \\"tasks\\"" {\n    node [shape=box, style=filled, fillcolor=white];\n'
        '    t0 [label="design\\narchitect\\npolicy_gate T2"];\n'
        '    t1 [label="build\\ndev\\nhil off"];\n'
        "    t0 -> t1;\n}\n"
    )


def test_the_current_state_of_a_run_is_marked() -> None:
    plan = plan_of(TWO)
    at = {"build": ("RUNNING", "work")}
    assert "build<br/>dev<br/>hil off<br/>RUNNING, at work" in draw(plan, at=at)
    assert [line for line in draw(plan, task="build", at=at).splitlines() if "stroke-width" in line] == [
        "    style p1 fill:#dbeafe,stroke-width:4px"
    ]
    assert 'fillcolor="#dbeafe", penwidth=4' in draw(plan, form="dot", at=at)


def test_an_implicit_gate_is_shown_as_such() -> None:
    assert "policy_gate T1 (implicit)" in draw(plan_of(composed(("hil", "confidence_loop"))))


@pytest.mark.parametrize("form", ["mermaid", "dot"])
def test_a_machine_shows_every_place_and_transition(form: str) -> None:
    plan = plan_of(composed(("hil", "policy_gate", "paired_workflow", "confidence_loop"), "T2", human=True))
    machine = plan.tasks[0].machine
    drawn = draw(plan, form=form, task="build")
    arrows = re.findall(r"^    (p\d+) --?>", drawn, re.MULTILINE)
    assert len(arrows) == len(machine.transitions)
    assert {f"p{number}" for number in range(len(machine.places))} >= set(arrows)
    for place in machine.places:
        assert place.name in drawn
        assert place.status in drawn


def test_guards_counts_and_effects_stand_on_the_arrows() -> None:
    drawn = draw(plan_of(composed(("hil", "paired_workflow"))), form="dot", task="build")
    assert "[pair.challenger_approved == true]" in drawn
    assert "paired_workflow + 1, at most 3" in drawn
    assert "/ ask loop_exhaustion" in drawn


def test_text_that_could_mean_something_to_mermaid_is_written_as_numbers() -> None:
    plan = plan_of("tasks:\n  'a\"]; click b <x>':\n    agent: dev\n")
    (line,) = [line for line in draw(plan).splitlines() if line.startswith("    t0[")]
    inside = line.removeprefix('    t0["').removesuffix('"]')
    assert not set('"<>[]') & set(inside.replace("<br/>", ""))
    assert "#34;" in inside


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_reads_the_drawing() -> None:
    for task in (None, "build"):
        text = draw(plan_of(TWO), form="dot", task=task)
        done = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
