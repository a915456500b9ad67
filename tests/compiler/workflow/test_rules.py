"""The rules of the workflow family that are decided before anything runs, each under its id (`rules.json`)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.workflow.workflows_in_place import (
    METRICS,
    OVERLAYS,
    Walk,
    composed,
    errors,
    files,
    plan_of,
    refused,
    task_of,
    warnings,
    workflow,
)  # fmt: skip
from tests.shared_data import folder
from tests.test_house import test_configuration_never_becomes_code as configuration_never_becomes_code

from rulewright.check.workflow_check import check, compile_workflow
from rulewright.errors import DocumentError, ExpressionError, UsageError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL
from rulewright.workflow import load_workflow
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.workflow.machine import start, status

CHAIN = """
    tasks:
      A: {agent: ba}
      B: {agent: architect, dependencies: [A]}
      C: {agent: dev, dependencies: [B]}
"""


def test_wl01_a_chain_of_tasks_is_a_graph_in_topological_order_and_every_task_is_pending() -> None:
    plan = plan_of(CHAIN)
    assert [task.id for task in plan.tasks] == ["A", "B", "C"]
    assert [task.dependencies for task in plan.tasks] == [(), ("A",), ("B",)]
    assert {status(task.machine, start(task.machine)) for task in plan.tasks} == {"PENDING"}


def test_wl01_the_order_of_the_file_does_not_matter() -> None:
    plan = plan_of("""
        tasks:
          C: {agent: dev, dependencies: [B]}
          B: {agent: dev, dependencies: [A]}
          A: {agent: dev}
    """)
    assert [task.id for task in plan.tasks] == ["A", "B", "C"]


def test_wl02_a_circle_of_dependencies_is_refused() -> None:
    text = "tasks:\n  A: {agent: dev, dependencies: [B]}\n  B: {agent: dev, dependencies: [A]}\n"
    (found,) = refused(text)
    assert "Cyclic dependency detected" in found.message
    assert "A -> B -> A" in found.message


def test_wl02_a_task_that_waits_for_itself_is_refused() -> None:
    assert "Cyclic dependency detected: A -> A" in errors("tasks:\n  A: {agent: dev, dependencies: [A]}\n")[0]


def test_wl03_tasks_that_wait_for_the_same_task_are_one_parallel_group() -> None:
    plan = plan_of("""
        tasks:
          A: {agent: dev}
          B: {agent: dev, dependencies: [A]}
          C: {agent: dev, dependencies: [A]}
    """)
    assert plan.groups == (("A",), ("B", "C"))


def test_wl04_a_loop_without_a_bound_is_refused_by_task_and_field() -> None:
    (message,) = errors("tasks:\n  A:\n    agent: dev\n    loop: {exit_conditions: ['loop.iteration > 1']}\n")
    assert "loop requires max_iterations" in message
    assert "`A`" in message
    assert "`loop.max_iterations`" in message


def test_wl04_a_default_elsewhere_does_not_replace_a_bound() -> None:
    text = "config: {max_iterations_default: 7}\ntasks:\n  A:\n    agent: dev\n    loop: {exit_when: any}\n"
    (found,) = refused(text)
    assert "loop requires max_iterations" in found.message
    assert found.fix is not None
    assert found.fix.edits[0].text == "max_iterations: 7, "


def test_wl05_an_unknown_agent_is_refused() -> None:
    assert "agent 'custom-agent' not found" in errors("tasks:\n  A: {agent: custom-agent}\n")[0]


@pytest.mark.parametrize(
    "overlay",
    [
        "paired_workflow: {enabled: true, challenger_agent: nobody, max_iterations: 2}",
        "agentic_review: {enabled: true, reviewer_agent: nobody, max_iterations: 2}",
        "confidence_loop: {enabled: true, threshold: 0.5, max_iterations: 2, "
        "metrics: [{type: llm_judge, evaluator_agent: nobody}]}",
    ],
)
def test_wl05_a_named_agent_must_exist(overlay: str) -> None:
    text = f"tasks:\n  A:\n    agent: dev\n    overlays:\n      policy_gate: {{enabled: true}}\n      {overlay}\n"
    (message,) = errors(text)
    assert "agent 'nobody' not found" in message


def test_wl06_without_a_name_the_default_workflow_is_used(tmp_path: Path) -> None:
    found = files(tmp_path, rulewright="project: p\nworkflow: {file: flows/main.yaml}\n", flows__main=CHAIN)
    assert found.path == str(tmp_path / "flows" / "main.yaml")
    assert [task.id for task in compile_workflow(found).tasks] == ["A", "B", "C"]


def test_wl06_a_missing_workflow_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name the workflow"):
        files(tmp_path, rulewright="project: p\n")
    with pytest.raises(UsageError, match="which does not exist"):
        files(tmp_path, rulewright="project: p\nworkflow: {file: nowhere.yaml}\n")


@pytest.mark.parametrize(
    ("text", "task", "field"),
    [
        ("tasks:\n  T: {description: d}\n", "T", "agent"),
        ("tasks:\n  T: {agent: x}\n", "T", "agent"),
        ("tasks:\n  T: {agent: dev, dependencies: [U]}\n", "T", "dependencies"),
        ("tasks:\n  T: {agent: dev, loop: {max_iterations: 0}}\n", "T", "loop.max_iterations"),
        ("tasks:\n  T: {agent: dev, loop: {max_iterations: 2, exit_conditions: ['a b']}}\n", "T", "exit_conditions[0]"),
        ("tasks:\n  T: {agent: dev, overlays: {policy_gate: {risk_tier: T9}}}\n", "T", "risk_tier"),
        ("tasks:\n  T: {agent: dev, outputs: [{path: a, contract: b@1}]}\n", "T", "outputs[0]"),
    ],
)
def test_wl07_a_validation_error_names_task_and_field(text: str, task: str, field: str) -> None:
    found = [message for message in errors(text) if task in message and field in message]
    assert found, errors(text)


def test_wl07_nothing_is_executed_after_a_validation_error() -> None:
    assert refused("tasks:\n  T: {agent: x}\n  U: {agent: dev}\n")


def test_wl09_mistakes_in_project_workflow_and_agents_are_reported_together(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="project: p\nworkflow: {file: w.yaml, agents: {directory: agents}, engine: {max_tasks: 1}}\n",
        w="tasks:\n  A: {agent: ghost}\n  B: {agent: dev, loop: {exit_conditions: ['GO == GO == x']}}\n",
        agents__writer="name: writer\nrole: {expertise: [prose]}\n",
    )
    with pytest.raises(DocumentError) as failure:
        compile_workflow(found)
    codes = {each.code for each in failure.value.diagnostics}
    assert {"unknown-key", "unknown-agent", "loop-without-bound", "agent-without-description"} <= codes
    names = {Path(each.span.path).name for each in failure.value.diagnostics}
    assert names == {"rulewright.yaml", "w.yaml", "writer.yaml"}


def test_wl15_both_blocks_are_allowed_when_one_is_off() -> None:
    assert (
        errors("""
        tasks:
          A:
            agent: dev
            overlays:
              paired_workflow: {enabled: true, challenger_agent: le, max_iterations: 2}
              agentic_review: {enabled: false, reviewer_agent: reviewer, max_iterations: 2}
    """)
        == []
    )


@pytest.mark.parametrize("name", ["loop", "agentic_review", "paired_workflow", "confidence_loop"])
def test_wl16_every_loop_has_its_bound_when_it_is_loaded(name: str) -> None:
    settings = OVERLAYS.get(name, "{exit_when: any, max_iterations: 3}").replace("max_iterations: 3, ", "")
    settings = settings.replace(", max_iterations: 3", "")
    body = f"    loop: {settings}\n" if name == "loop" else f"    overlays:\n      {name}: {settings}\n"
    assert any("loop requires max_iterations" in message for message in errors(f"tasks:\n  A:\n    agent: dev\n{body}"))


def test_wl18_a_call_of_what_does_not_exist_is_a_disallowed_construct() -> None:
    text = "tasks:\n  A: {agent: dev, loop: {max_iterations: 2, exit_conditions: [\"os.system('rm -rf /')\"]}}\n"
    assert all("expression uses disallowed construct" in found.message for found in refused(text))


@pytest.mark.parametrize("written", ["eval('1')", "__import__('os') == 1", "__class__.__base__ == X", "open('f')"])
def test_wl18_nothing_reaches_the_interpreter(written: str) -> None:
    text = f'tasks:\n  A: {{agent: dev, loop: {{max_iterations: 2, exit_conditions: ["{written}"]}}}}\n'
    assert any("expression uses disallowed construct" in found.message for found in refused(text))


@pytest.mark.parametrize("path", ["unknown.path == GO", "pair.challenger_approved == true", "confidence_score > 0.5"])
def test_wl20_a_path_that_does_not_exist_at_its_place_is_refused(path: str) -> None:
    text = f'tasks:\n  A: {{agent: dev, loop: {{max_iterations: 2, exit_conditions: ["{path}"]}}}}\n'
    assert any(found.message.partition(": ")[2].startswith("unknown name") for found in refused(text))


def test_wl22_an_unknown_contract_type_is_refused() -> None:
    text = """
        contracts: {design@1: {required_sections: [Overview]}}
        tasks:
          A: {agent: dev, outputs: [{path: a.md, contract: requirements@3}]}
    """
    assert "unknown artifact type: requirements@3" in errors(text)[0]


def test_wl24_a_contract_written_in_place_needs_no_registry() -> None:
    text = """
        tasks:
          A:
            agent: dev
            outputs:
              - {path: a.md, contract: {required_sections: [Overview], required_fields: [id], file_format: markdown}}
    """
    assert (errors(text), warnings(text)) == ([], [])
    contract = task_of(text).outputs[0].contract
    assert contract is not None
    assert (contract.required_sections, contract.required_fields, contract.file_format) == (
        ("Overview",), ("id",), "markdown",
    )  # fmt: skip


def test_wl25_contracts_without_a_registry_are_refused() -> None:
    assert (
        "no registry defines contract types"
        in errors("tasks:\n  A: {agent: dev, outputs: [{path: a, contract: b@1}]}\n")[0]
    )


def test_wl25_only_an_explicit_flag_relaxes_it(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="project: p\nworkflow: {file: w.yaml, allow_missing_contracts: true}\n",
        w="tasks:\n  A: {agent: dev, outputs: [{path: a, contract: b@1}]}\n",
    )
    assert compile_workflow(found).tasks[0].outputs[0].contract is None


def test_wl25_a_registry_of_the_project_is_read(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="project: p\nworkflow: {file: w.yaml, contracts: types.yaml}\n",
        w="tasks:\n  A: {agent: dev, outputs: [{path: a, contract: b@1}]}\n",
        types="contracts: {b@1: {required_fields: [id]}}\n",
    )
    contract = compile_workflow(found).tasks[0].outputs[0].contract
    assert contract is not None
    assert (contract.type, contract.required_fields) == ("b@1", ("id",))


def test_wl26_an_agent_inherits_field_by_field_and_its_own_words_win(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="project: p\nworkflow: {file: w.yaml}\n",
        w="tasks:\n  A: {agent: analyst}\n  B: {agent: base}\n",
        agents__base="""
            name: base
            role: {description: Asks., expertise: [questions]}
            llm: {provider: p, model: small, hyperparameters: {temperature: 0}}
        """,
        agents__analyst="name: analyst\nextends: base\nllm: {model: large}\n",
    )
    agent = compile_workflow(found).agents["analyst"]
    assert agent.llm == {"provider": "p", "model": "large", "hyperparameters": {"temperature": 0}}
    assert (agent.description, agent.expertise) == ("Asks.", ("questions",))


def test_wl26_extending_a_usual_agent_needs_no_description_of_its_own() -> None:
    plan = plan_of("agents: {mine: {extends: ba, llm: {model: m}}}\ntasks:\n  A: {agent: mine}\n")
    assert plan.agents["mine"].llm == {"model": "m"}
    assert plan.agents["mine"].description


def test_wl27_an_agent_without_a_description_stops_the_load() -> None:
    assert (
        "`role.description` is missing"
        in errors("agents: {mine: {display_name: Mine}}\ntasks:\n  A: {agent: mine}\n")[0]
    )


def test_ex70_the_evaluator_neither_evaluates_nor_imports() -> None:
    configuration_never_becomes_code()


def golden() -> list[Any]:
    try:
        rows: list[dict[str, Any]] = json.loads(
            (folder("workflow") / "golden_expressions.json").read_text(encoding="utf-8")
        )
    except pytest.skip.Exception:
        return []
    return [pytest.param(row, id=row["id"]) for row in rows]


@pytest.mark.parametrize("row", golden())
def test_golden_expressions_mean_what_their_rows_say(row: dict[str, Any]) -> None:
    try:
        program = build(row["expr"], Environment(open=True), expect=BOOL).program
    except ExpressionError:
        assert row["expect"] == {"error": True}
        return
    assert row["expect"] == {"value": condition(program, Polarity.PERMITTING)(row["context"]).holds}


def test_hil07_with_people_off_a_warning_takes_their_place() -> None:
    text = "tasks:\n  A: {agent: dev, requires_human: true, overlays: {hil: {enabled: false}}}\n"
    assert any("runs without waiting for a person" in message for message in warnings(text))
    task = task_of(text)
    assert task.warnings == ("`requires_human` is set, but `hil` is off: the task runs without a pause",)
    walk = Walk(task.machine)
    walk.take("ready")
    assert walk.state.place == "work"


def test_oc01_overlays_have_one_order_whatever_the_file_says() -> None:
    task = task_of(f"""
        tasks:
          A:
            agent: dev
            overlays:
              confidence_loop: {OVERLAYS["confidence_loop"]}
              paired_workflow: {OVERLAYS["paired_workflow"]}
              policy_gate: {{enabled: true}}
              hil: {{enabled: true}}
    """)
    assert task.overlays == ("hil", "policy_gate", "paired_workflow", "confidence_loop")
    assert [loop.name for loop in task.machine.loops] == ["paired_workflow", "confidence_loop"]
    order = [place.name for place in task.machine.places if place.activity in ("agent", "score", "challenge", "gate")]
    assert order == ["work", "score", "challenge", "gate", "gate_again"]


def test_oc06_the_same_file_gives_the_same_plan() -> None:
    text = composed(("hil", "policy_gate", "agentic_review", "confidence_loop"), "T2")
    assert plan_of(text) == plan_of(text)
    assert plan_of(text).hash == plan_of(text).hash != ""


def test_a_workflow_file_that_is_empty_or_no_mapping_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    for text in ("", "- a\n", "tasks: [\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DocumentError):
            load_workflow(path)
    with pytest.raises(UsageError, match=r"workflow file not found: "):
        load_workflow(tmp_path / "other.yaml")


def test_the_metrics_of_the_examples_are_read() -> None:
    assert METRICS in composed(("confidence_loop",))
    assert check(workflow(composed(("policy_gate", "confidence_loop")))) == ()


def test_every_published_rule_about_loading_and_expressions_is_held_here() -> None:
    rules = json.loads((folder("workflow") / "rules.json").read_text(encoding="utf-8"))
    wanted = {row["id"] for row in rules if row["id"].rstrip("0123456789") in {"WL", "EX"}}
    here = {found.upper() for found in re.findall(r"def test_([a-z]+\d+)_", Path(__file__).read_text("utf-8"))}
    assert wanted <= here
    rows = json.loads((folder("workflow") / "golden_expressions.json").read_text(encoding="utf-8"))
    assert len(golden()) == len(rows) >= 26
