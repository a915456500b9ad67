"""The seed of the confidence loop (T007): its two fragments with their exact findings, and its scenarios as far as the
compiler and the machine decide them."""

from pathlib import Path

import pytest
from tests.compiler.workflow.workflows_in_place import Walk, broken, errors, refused, task_of, warnings
from tests.shared_data import folder

from rulewright.check.workflow_check import check, compile_workflow
from rulewright.claims.workflow import CLAIMS, prove_workflow
from rulewright.linting.lint_run import lint
from rulewright.load import load_text
from rulewright.proving.results import Proved, Refuted
from rulewright.workflow import load_workflow, workflow_of

HERE = Path(__file__).parent / "seed"
CONFIG = (HERE / "config.yaml").read_text(encoding="utf-8")
MENDED = CONFIG.replace("- type: llm_judge\n", "- type: llm_judge\n            evaluator_agent: reviewer\n").replace(
    '          - "pair.challenger_approved == true"  # if paired_workflow also enabled\n', ""
)
JUDGED = """
    tasks:
      build:
        agent: dev
        overlays:
          policy_gate: {{enabled: true}}
          confidence_loop:
            enabled: true
            threshold: 0.80
            max_iterations: 3
            metrics:
              - type: llm_judge{judge}
"""
UNGATED = "confidence never promotes by itself; without an enabled `policy_gate` a gate of tier T1 is added"
LOOP = """
    tasks:
      build:
        agent: dev
        overlays:
          policy_gate: {enabled: true, risk_tier: T1}
          confidence_loop:
            {enabled: true, threshold: 0.80, max_iterations: 3, metrics: [{type: lint_score, source: r.json}]}
"""


def shown(path: Path) -> list[tuple[int, int, str, str, str]]:
    return [
        (each.span.line, each.span.column, str(each.severity), each.code, each.message)
        for each in check(load_workflow(path))
    ]


def test_the_fragments_are_those_of_the_seed() -> None:
    (seed,) = folder("seeds").glob("002_*")
    text = seed.read_text(encoding="utf-8")
    for name in ("separate_evaluator", "config"):
        assert (HERE / f"{name}.yaml").read_text(encoding="utf-8") in text


def test_the_first_fragment_lacks_its_agent_its_bound_and_whatever_ends_its_loop() -> None:
    loop = "task `implement`, `overlays.confidence_loop"
    assert shown(HERE / "separate_evaluator.yaml") == [
        (3, 3, "error", "missing-key", "`agent` is missing in `tasks.implement`"),
        (5, 7, "error", "loop-without-bound", f"{loop}.max_iterations`: loop requires max_iterations"),
        (
            5, 7, "warning", "confidence-without-gate",
            f"{loop}`: {UNGATED}",
        ),
        (
            5, 7, "warning", "loop-nothing-ends",
            f"{loop}`: nothing ends this loop: it has neither `threshold` nor `exit_conditions`",
        ),
        (
            8, 13, "advice", "judge-without-output",
            f"{loop}.metrics[0]`: the task declares no `outputs`, so the judge scores the agent's reply alone",
        ),
    ]  # fmt: skip


def test_the_second_fragment_has_two_mistakes_and_three_warnings() -> None:
    loop = "task `design-l1`, `overlays.confidence_loop"
    assert shown(HERE / "config.yaml") == [
        (
            5, 7, "warning", "confidence-without-gate",
            f"{loop}`: {UNGATED}",
        ),
        (
            11, 19, "error", "judge-without-evaluator",
            f"{loop}.metrics[0]`: llm_judge metric requires evaluator_agent to be set.",
        ),
        (
            13, 13, "warning", "metric-without-source",
            f"{loop}.metrics[1]`: `checklist_completion` counts as 0.0: `source` names no file",
        ),
        (
            15, 13, "warning", "metric-without-source",
            f"{loop}.metrics[2]`: `requirement_coverage` counts as 0.0: `requirements` names no list of ids",
        ),
        (19, 14, "error", "bad-condition", f"{loop}.exit_conditions[1]`: unknown name `pair`"),
    ]  # fmt: skip


def test_the_second_fragment_says_why_the_pair_does_not_exist() -> None:
    found = check(load_workflow(HERE / "config.yaml"))[-1]
    assert found.help == "`pair` exists only where `paired_workflow` is enabled"
    assert (found.span.column, found.span.end_column) == (14, 18)


def test_a_condition_of_the_gate_that_reads_the_gate_learns_what_it_can_read() -> None:
    text = LOOP.replace("risk_tier: T1", "risk_tier: T1, conditions: [policy_gate.verdict == PASS]")
    (found,) = [each for each in check(workflow_of(load_text(text, "w.yaml"))) if each.code == "bad-condition"]
    assert found.help == "the conditions of `policy_gate` decide its verdict; they can read `evidence` and `coverage`"


def test_the_linter_finds_the_same() -> None:
    path = HERE / "config.yaml"
    assert lint([path]).diagnostics == check(load_workflow(path))


def test_with_its_two_mistakes_corrected_the_second_fragment_compiles_and_keeps_the_invariants() -> None:
    workflow = workflow_of(load_text(MENDED, "workflow.yaml"))
    (task,) = compile_workflow(workflow).tasks
    assert task.overlays == ("hil", "policy_gate", "confidence_loop")
    assert task.gate is not None
    assert (task.gate.risk_tier, task.gate.implicit) == ("T1", True)
    found = prove_workflow(workflow)
    assert [each.claim for each in found] == list(CLAIMS)
    assert broken(found) == []


def test_with_its_two_mistakes_corrected_the_second_fragment_is_still_impossible() -> None:
    last = prove_workflow(workflow_of(load_text(MENDED, "workflow.yaml")))[-1].result
    assert isinstance(last, Refuted)
    assert last.reason == (
        "task `design-l1`: the T1 gate never says PASS: `evidence` names no file for `acceptance`, nor for `lint` or"
        " `security`"
    )
    gate = "    overlays:\n      policy_gate: {enabled: true, risk_tier: T0, evidence: {acceptance: junit.xml}}\n"
    gated = MENDED.replace("    overlays:\n", gate)
    told = prove_workflow(workflow_of(load_text(gated, "workflow.yaml")))[-1].result
    assert isinstance(told, Proved)
    assert told.remarks == (
        "`design-l1`: confidence at most 0.5 (threshold 0.8); start, 5 times (work, score), exhausted:confidence_loop,"
        " gate, done with 1 decision of a person",
    )
    alone = gated.replace("overlays:\n", "overlays:\n      hil: {enabled: false}\n")
    without = prove_workflow(workflow_of(load_text(alone, "workflow.yaml")))
    assert isinstance(without[-1].result, Refuted)
    assert without[-1].result.reason == "task `design-l1`: confidence is at most 0.5, below the threshold 0.8"
    sources = gated.replace("checklist_completion\n", "checklist_completion\n            source: list.md\n").replace(
        "requirement_coverage\n", "requirement_coverage\n            requirements: req.md\n            source: [src]\n"
    )
    told = prove_workflow(workflow_of(load_text(sources, "workflow.yaml")))[-1].result
    assert isinstance(told, Proved)
    assert told.remarks == ("`design-l1`: confidence at most 1 (threshold 0.8); start, work, score, gate, done",)


def test_with_the_pair_enabled_its_condition_is_legal_and_decided_after_the_challenger() -> None:
    pair = "      paired_workflow: {enabled: true, challenger_agent: le, max_iterations: 5}\n"
    text = CONFIG.replace("    overlays:\n", "    overlays:\n" + pair).replace(
        "- type: llm_judge\n", "- type: llm_judge\n            evaluator_agent: reviewer\n"
    )
    assert errors(text) == []
    assert any("even below the threshold" in message for message in warnings(text))
    walk = Walk(task_of(text).machine)
    walk.take("ready")
    walk.take("worked")
    walk.take("scored", confidence_score=0.5)
    assert walk.state.place == "challenge"
    walk.take("challenged", confidence_score=0.5, pair={"challenger_approved": True})
    assert walk.state.place == "gate"
    assert [each for each in walk.effects if each.startswith("advise")] == []


@pytest.mark.parametrize(
    "overlay",
    [
        "agentic_review: {enabled: true, coder_agent: le, reviewer_agent: reviewer, max_iterations: 3}",
        "paired_workflow: {enabled: true, driver_agent: le, challenger_agent: pe, max_iterations: 3}",
        "paired_workflow: {enabled: true, challenger_agent: le, role_switch: subtask, max_iterations: 3}",
    ],
)
def test_the_author_never_judges(overlay: str) -> None:
    text = JUDGED.format(judge="\n                evaluator_agent: le")
    text = text.replace("policy_gate: {enabled: true}", f"policy_gate: {{enabled: true}}\n          {overlay}")
    assert [found.code for found in refused(text)] == ["judge-is-the-author"]


def test_raw_mode_holds_the_threshold_against_every_metric() -> None:
    walk = Walk(task_of(LOOP.replace("enabled: true, threshold", "enabled: true, mode: raw, threshold")).machine)
    walk.take("ready")
    for metrics, place in (
        ({"a": 0.85, "b": 0.79}, "work"), ({}, "work"), ({"a": 0.85, "b": 0.80}, "gate"),
    ):  # fmt: skip
        walk.take("worked")
        walk.take("scored", metrics=metrics)
        assert walk.state.place == place


def test_a_threshold_that_is_met_exactly_is_met() -> None:
    walk = Walk(task_of(LOOP).machine)
    walk.take("ready")
    walk.take("worked")
    walk.take("scored", confidence_score=0.8)
    assert walk.state.place == "gate"


@pytest.mark.parametrize("said", [{}, {"confidence_score": None}, {"confidence_score": "0.9"}])
def test_a_score_that_is_absent_or_no_number_meets_nothing(said: dict[str, object]) -> None:
    walk = Walk(task_of(LOOP).machine)
    walk.take("ready")
    walk.take("worked")
    walk.take("scored", **said)
    assert walk.state.place == "work"
