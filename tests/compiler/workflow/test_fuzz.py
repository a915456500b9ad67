"""Workflows that nobody would write: whatever a file holds is refused with findings, or compiles and is proved."""

import copy
import json
import random
from typing import Any

import pytest
from tests.compiler.workflow.workflows_in_place import broken
from tests.rounds import rounds

from rulewright.check.workflow_check import check, compile_workflow
from rulewright.claims.workflow import prove_workflow
from rulewright.diagnostics import Severity
from rulewright.errors import DocumentError
from rulewright.load import load_text
from rulewright.workflow import workflow_of
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.workflow.workflow_plan import decode

GOOD: dict[str, Any] = {
    "version": "1",
    "config": {"max_iterations_default": 4},
    "overlays": {"policy_gate": {"enabled": True, "risk_tier": "T2"}},
    "agents": {"mine": {"extends": "dev", "llm": {"model": "m"}}},
    "contracts": {"a@1": {"required_sections": ["x"]}},
    "tasks": {
        "one": {
            "agent": "mine",
            "outputs": ["o.md", {"path": "p.md", "contract": "a@1"}],
            "requires_human": True,
            "loop": {"max_iterations": 3, "exit_conditions": ["policy_gate.verdict == PASS", "loop.iteration > 2"]},
            "overlays": {
                "confidence_loop": {
                    "enabled": True, "mode": "composite", "threshold": 0.8, "max_iterations": 3, "exit_when": "any",
                    "metrics": [
                        {"type": "llm_judge", "weight": 0.5, "evaluator_agent": "reviewer", "criteria": ["c"]},
                        {"type": "lint_score", "weight": 1, "source": ["a", "b"]},
                    ],
                    "exit_conditions": ["confidence_score >= 0.8", "metrics.lint_score > 0.5"],
                },
                "paired_workflow": {
                    "enabled": True, "driver_agent": "dev", "challenger_agent": "le", "max_iterations": 3,
                    "role_switch": "subtask", "exit_conditions": ["pair.challenger_approved == true"],
                },
                "hil": {"enabled": True},
            },
        },
        "two": {
            "agent": "dev", "dependencies": ["one"], "inputs": ["o.md"],
            "overlays": {
                "agentic_review": {"enabled": True, "reviewer_agent": "reviewer", "max_iterations": 2},
                "policy_gate": {"conditions": ["review.decision == GO"], "require_coverage": True},
            },
        },
    },
}  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 3, 2.5, 10**20, "", "x", "GO", "one", "two", "dev", "T0", "T2", "raw", "all",
    "loop.iteration >= 1", "confidence_score >= 0.2", "pair.challenger_approved", "a b", [], {}, ["one"], [1], {"a": 1},
    [{"type": "lint_score"}], {"enabled": True}, {"enabled": True, "max_iterations": 1},
]  # fmt: skip


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    found = []
    if isinstance(node, dict):
        for key, value in node.items():
            found += [(node, key), *places(value)]
    elif isinstance(node, list):
        for number, value in enumerate(node):
            found += [(node, number), *places(value)]
    return found


def mutated(chance: random.Random) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(places(document))
        match chance.randrange(4):
            case 0:
                del container[key]
            case 1 if isinstance(container, dict):
                container[chance.choice(["enabled", "max_iterations", "agent", "exit_conditions", "zzz"])] = (
                    chance.choice(VALUES)
                )
            case 2:
                container[key] = copy.deepcopy(chance.choice([c[k] for c, k in places(GOOD)]))
            case _:
                container[key] = copy.deepcopy(chance.choice(VALUES))
    return document


def test_the_document_that_is_changed_is_good() -> None:
    found = workflow_of(load_text(json.dumps(GOOD), "w.json"))
    assert [each.message for each in check(found) if each.severity is Severity.ERROR] == []


@pytest.mark.parametrize("seed", range(rounds(1, 60)))
def test_whatever_a_file_holds_is_refused_or_proved(seed: int) -> None:
    chance = random.Random(seed)
    compiled = 0
    for _ in range(60):
        text = json.dumps(mutated(chance))
        try:
            workflow = workflow_of(load_text(text, "w.json"))
            plan = compile_workflow(workflow)
        except DocumentError:
            continue
        compiled += 1
        if not plan.tasks:
            with pytest.raises(PlanError, match="has no task"):
                decode(encode(plan))
            continue
        assert decode(encode(plan)) == plan, text
        assert broken(prove_workflow(workflow)) == [], text
    assert compiled


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf"])
@pytest.mark.parametrize("key", ["threshold: {}", "metrics: [{{type: lint_score, weight: {}}}]"])
def test_a_value_that_is_not_a_number_is_not_a_threshold_or_weight(number: str, key: str) -> None:
    loop = f"{{enabled: true, max_iterations: 2, {key.format(number)}}}"
    text = f"tasks: {{a: {{agent: dev, overlays: {{policy_gate: {{enabled: true}}, confidence_loop: {loop}}}}}}}\n"
    with pytest.raises(DocumentError):
        compile_workflow(workflow_of(load_text(text, "workflow.yaml")))
