"""What lint knows of the facts of a state machine is so in every conversation that is judged."""

from __future__ import annotations

import pytest
from tests.runtime.plans import check, lexicon, plan, talk

from rulewright.expression.build import build
from rulewright.linting.lint_run import lint_text
from rulewright.lower.machines import FACTS
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.scan import Scenario, Session
from rulewright_runtime.plan.state_machine import StateMachine, Transition
from rulewright_runtime.plan.verifiers import TraceVerifier
from rulewright_runtime.transcripts.messages import Transcript, Turn

MACHINE = """\
states: [calm, told]
initial: calm
cues:
  danger: {{patterns: [afraid]}}
transitions:
  - {{from: calm, on: danger, to: told, when: {when}}}
"""
BACKWARDS = Scenario(sessions=(Session(2, 1, 1), Session(1, 2, 2)))


def steps(whens: list[str], transcript: Transcript, scenario: Scenario | None = None) -> int:
    """How many transitions a conversation makes from state to state, each under its condition."""
    states = "abc"
    made = [Transition((states[at],), states[at + 1], "danger", build(w, FACTS).program) for at, w in enumerate(whens)]
    machine = StateMachine("a", tuple(states), tuple(made))
    lexicons = {"danger": lexicon("afraid", role="both")}
    whole = plan(check(TraceVerifier("m")), scenario=scenario, lexicons=lexicons, machines={"m": machine})
    (result,) = execute(whole, [transcript])
    return len(result.verdicts[0].extra["trace"]["steps"])


def codes(when: str) -> list[str]:
    return [found.code for found in lint_text(MACHINE.format(when=when), "m.yaml").diagnostics]


def test_a_conversation_may_start_with_turn_0() -> None:
    first = Transcript("t", "", "m", (Turn(0, "user", "I am afraid"), Turn(0, "assistant", "Oh")))
    assert steps(["turn == 0"], first) == 1
    assert codes("turn < 1") == []
    assert codes("turn < 0") != []


def test_sessions_may_be_numbered_downwards() -> None:
    said = talk("I am afraid", "yes", "I am still afraid", "oh")
    assert steps(["session == 2", "sessions_in_state < 0"], said, BACKWARDS) == 2
    assert codes("sessions_in_state < 0") == []


@pytest.mark.parametrize("when", ["turns_in_state < 0", "session < 1"])
def test_these_never_hold(when: str) -> None:
    assert codes(when) != []
