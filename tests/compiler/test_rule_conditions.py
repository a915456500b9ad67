"""The rules about conditions, compared with an evaluation of every possible case."""

from __future__ import annotations

import random
from typing import Final

from tests.compiler.mutations.conditions import BOUND, Condition, cases, chain, condition, joined
from tests.rounds import rounds

from rulewright.linting.lint_run import lint_text
from rulewright.linting.lint_settings import RuleSelection

CASES: Final = tuple(cases())
DRAWN: Final = rounds(75, 150)
RULES: Final = ("comparison_out_of_range", "condition_adds_nothing", "condition_always_holds", "condition_never_holds")
CODES: Final = frozenset(rule.replace("_", "-") for rule in RULES)
WORKFLOW: Final = """\
tasks:
  build:
    agent: dev
    overlays:
      policy_gate: {{enabled: true, risk_tier: T1}}
      agentic_review: {{enabled: true, reviewer_agent: le, max_iterations: {bound}}}
      confidence_loop:
        enabled: true
        max_iterations: {bound}
        metrics: [{{type: lint_score, source: ruff.json}}, {{type: test_coverage, source: coverage.json}}]
        exit_conditions:
          - "{condition}"
"""


def reported(written: Condition) -> set[str]:
    """The findings for a condition that ends a loop, and the redundant ones of its parts."""
    text = WORKFLOW.format(bound=BOUND, condition=written.text)
    said = lint_text(text, "workflow.yaml", RuleSelection(tuple(sorted(CODES)))).diagnostics
    return {found.code for found in said if "this part" not in found.message} & CODES


def truths(written: Condition) -> list[bool]:
    """Whether the condition holds, case by case."""
    return [written.holds(case) for case in CASES]


def is_constant(written: Condition) -> bool:
    return len(set(truths(written))) == 1


def test_a_condition_is_reported_as_constant_exactly_where_it_is() -> None:
    chance = random.Random(7)
    seen = {True: 0, False: 0}
    for _ in range(DRAWN):
        written = condition(chance)
        found = reported(written)
        assert ("condition-never-holds" in found) == (not any(truths(written))), written.text
        assert ("condition-always-holds" in found) == all(truths(written)), written.text
        seen[is_constant(written)] += 1
    assert min(seen.values()) >= DRAWN // 8


def test_a_part_is_reported_as_redundant_exactly_where_it_can_be_removed() -> None:
    chance = random.Random(8)
    seen = {True: 0, False: 0}
    for sign, parts in (chain(chance) for _ in range(DRAWN)):
        whole = joined(sign, parts)
        if is_constant(whole):
            continue
        decided = any(map(is_constant, parts))
        idle = any(truths(joined(sign, parts[:at] + parts[at + 1 :])) == truths(whole) for at in range(len(parts)))
        found = reported(whole)
        assert ("comparison-out-of-range" in found) == decided, whole.text
        if not decided:
            assert ("condition-adds-nothing" in found) == idle, whole.text
        seen[idle] += 1
    assert min(seen.values()) >= DRAWN // 8
