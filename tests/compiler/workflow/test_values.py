"""The contexts of a proof cover every result of guards, and both results of an opaque condition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulewright.expression.build import build
from rulewright.expression.types import BOOL
from rulewright.lower.workflow_environments import TaskFeatures, loop_environment
from rulewright.proving.program_parts import paths_of
from rulewright.proving.workflow_values import (
    MAX_CONTEXTS,
    OPAQUE,
    TooManyContextsError,
    Truths,
    spoken,
    worlds,
)
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Polarity, condition

KNOWN = TaskFeatures("composite", ("lint_score", "test_coverage"), pair=True, review=True, gate=True, hil=True)


def program(text: str) -> Program:
    return build(text, loop_environment(KNOWN), expect=BOOL).program


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("review.decision == GO", {("review", "decision")}),
        ("metrics['lint_score'] > 0.5", {("metrics", "lint_score")}),
        ("metrics.all(m, metrics[m] > 0.5)", {("metrics",)}),
        ("confidence_score > 0.5 or loop.iteration > 2", {("confidence_score",), ("loop", "iteration")}),
    ],
)
def test_a_condition_says_what_it_reads(text: str, paths: set[tuple[str, ...]]) -> None:
    assert set(paths_of(program(text)) or ()) == paths


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("confidence_score >= 0.8", {True, False}),
        ("confidence_score > 1", {False}),
        ("confidence_score >= 0", {True, False}),  # false where it is absent
        ("confidence_score > 0.5 and confidence_score < 0.50001", {True, False}),
        ("metrics.lint_score > 0.3 and metrics.lint_score < 0.2", {False}),
        ("loop.iteration == 17", {True, False}),
        ("review.decision == GO and review.decision == NO_GO", {False}),
        ("metrics.all(m, metrics[m] >= 0.9) and size(metrics) > 1", {True, False}),
        ("review.feedback.contains('x')", {True, False}),
    ],
)
def test_contexts_show_every_answer(text: str, answers: set[bool]) -> None:
    truths = Truths()
    found = program(text)
    assert {truths.holds(found, world) for world in worlds([found], truths)} == answers


def test_what_a_comparison_cannot_foresee_is_a_coin() -> None:
    truths = Truths()
    found = program("review.feedback.contains('x')")
    assert truths.is_opaque(found)
    assert [world[OPAQUE] for world in worlds([found], truths)] == [{found.source: True}, {found.source: False}]
    assert not truths.is_opaque(program("review.decision == GO"))


def test_too_many_combinations_become_coins() -> None:
    truths = Truths()
    parts = [f"confidence_score > 0.{n}" for n in range(10, 40)]
    parts += ["metrics.lint_score > 0.1", "metrics.test_coverage > 0.1", "review.decision == GO"]
    parts += ["pair.challenger_approved", "policy_gate.verdict == PASS", "hil.resolved", "loop.iteration > 3"]
    said = worlds([program(part) for part in parts[-12:]], truths)
    assert len(said) == MAX_CONTEXTS
    assert all(len(world[OPAQUE]) == 12 for world in said)
    with pytest.raises(TooManyContextsError):
        worlds([program(part) for part in parts], truths)


def test_a_context_can_be_read_aloud() -> None:
    world = {"confidence_score": 0.8, "review": {"decision": "GO"}, OPAQUE: {"a > b": False}}
    assert spoken(world) == "confidence_score = 0.8, review.decision = GO, not (a > b)"


@settings(max_examples=60)
@given(
    low=st.integers(0, 100), high=st.integers(0, 100), score=st.integers(0, 1000),
    word=st.sampled_from(["GO", "NO_GO", None]), joined=st.sampled_from(["and", "or"]),
)  # fmt: skip
def test_no_input_gives_an_answer_that_no_context_gives(
    low: int, high: int, score: int, word: str | None, joined: str
) -> None:
    texts = [
        f"confidence_score >= {low / 100} {joined} review.decision == GO",
        f"confidence_score < {high / 100}",
        "not (review.decision == NO_GO)",
    ]
    found = [program(text) for text in texts]
    truths = Truths()
    said = {tuple(truths.holds(each, world) for each in found) for world in worlds(found, truths)}
    context = {"confidence_score": score / 1000, "review": {} if word is None else {"decision": word}}
    assert tuple(condition(each, Polarity.PERMITTING)(context).holds for each in found) in said
