"""Drawings of workflows: the tasks, and one task's machine, in two languages that tools read."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from tests.compiler.workflow.workflows_in_place import composed, plan_of

from rulewright.commands.workflow_graph import draw
from rulewright.errors import UsageError

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


def test_guards_counts_and_effects_are_on_the_arrows() -> None:
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


def test_an_unknown_form_or_task_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown format `png`"):
        draw(plan_of(TWO), form="png")
    with pytest.raises(UsageError, match="the workflow has no task `x`"):
        draw(plan_of(TWO), task="x")


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_reads_the_drawing() -> None:
    for task in (None, "build"):
        text = draw(plan_of(TWO), form="dot", task=task)
        done = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("task", [None, "build"])
def test_an_svg_is_well_formed_and_holds_every_box_and_arrow(task: str | None) -> None:
    plan = plan_of(TWO)
    drawn = draw(plan, form="svg", task=task, at={"build": ("RUNNING", plan.tasks[1].machine.places[0].name)})
    root = ET.fromstring(drawn)
    svg = "{http://www.w3.org/2000/svg}"
    boxes, arrows = root.findall(f"{svg}rect"), root.findall(f"{svg}path")
    machine = plan.tasks[1].machine
    pairs = {(each.source, each.target) for each in machine.transitions}
    expected = (2, 1) if task is None else (len(machine.places), len(pairs))
    assert (len(boxes), len(arrows)) == expected
    assert sum(box.get("stroke-width") == "4" for box in boxes) == 1
    words = {text.text for text in root.iter(f"{svg}text")}
    assert words >= ({"design", "build", "RUNNING, at " + machine.places[0].name} if task is None else {"build"})
    for kind in ("rect", "text"):
        places = [(each.get("x"), each.get("y")) for each in root.iter(f"{svg}{kind}")]
        assert len(set(places)) == len(places)


def test_names_in_an_svg_are_text() -> None:
    hostile = TWO.replace('two "tasks"', "<script>alert(1)</script>")
    assert "<script>" not in draw(plan_of(hostile), form="svg")
