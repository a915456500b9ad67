"""Transitions that are said to be hidden: without them every conversation has the same trace."""

import random
from typing import Any

import pytest
from msgspec.structs import replace
from tests.rounds import rounds
from tests.runtime.plans import check, lexicon, plan, talk

from rulewright.documents.state_machine import StateMachineDocument
from rulewright.documents.typed_reader import read_named
from rulewright.expression.build import build
from rulewright.linting.lint_run import lint_text
from rulewright.load import Mapping, load_text
from rulewright.lower.lexicons import TEXT
from rulewright.lower.machines import FACTS, lower_machine
from rulewright.proving.hidden_transitions import hidden_transitions
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.scan import Scenario, Session
from rulewright_runtime.plan.verifiers import StateMachine, TraceVerifier, Transition
from rulewright_runtime.transcripts.messages import Transcript, Turn

MACHINES = rounds(60, 400)
WHENS = (
    "turns_in_state > 0", "turns_in_state >= 1", "turns_in_state <= 0", "turns_in_state > 2", "session == 1",
    "session > 1",
    "sessions_in_state > 0 || turns_in_state > 2", "turn % 2 == 0", "turn < 3", "elapsed_hours.value() > 2.0",
    "elapsed_hours.hasValue()", "!(turn < 3)",
)  # fmt: skip
CUES = {"ask": "user", "tell": "assistant", "sigh": "both"}
STATES = "abcd"
SESSIONS = Scenario(sessions=(Session(1, 1, 2), Session(2, 3, 4, "a day later", 24.0), Session(3, 5, 9)))


def drawn(chance: random.Random) -> StateMachineDocument:
    lines = ["states: [a, b, c, d]", "initial: a", "cues:"]
    lines += [f"  {name}: {{role: {role}, patterns: [{name}]}}" for name, role in CUES.items()]
    lines.append("transitions:")
    for _ in range(chance.randint(2, 6)):
        before = ", ".join(chance.sample(STATES, chance.randint(1, 2)))
        when = f", when: '{chance.choice(WHENS)}'" if chance.random() < 0.6 else ""
        lines.append(f"  - {{from: [{before}], on: {chance.choice(list(CUES))}, to: {chance.choice(STATES)}{when}}}")
    root = load_text("\n".join(lines) + "\n", "machine.yaml").root
    assert isinstance(root, Mapping)
    return read_named(StateMachineDocument, root, "m")


def traces(machine: Any, lexicons: Any, talks: list[list[str]]) -> list[Any]:
    whole = plan(check(TraceVerifier("m")), scenario=SESSIONS, lexicons=lexicons, machines={"m": machine})
    return [each.verdicts[0].extra.get("trace", {}).get("steps") for each in execute(whole, [talk(*s) for s in talks])]


def test_without_a_hidden_transition_every_conversation_has_the_same_trace() -> None:
    chance = random.Random(9)
    hidden = 0
    for _ in range(MACHINES):
        document = drawn(chance)
        found = {document.transitions.index(each) for each, _ in hidden_transitions(document)}
        if not found:
            continue
        hidden += len(found)
        machine, lexicons = lower_machine(document, {}, TEXT, [])
        kept = tuple(each for at, each in enumerate(machine.transitions) if at not in found)
        words = ("ask", "tell", "sigh", "ask tell sigh", "hm", "sigh ask", "tell sigh")
        talks = [[chance.choice(words) for _ in range(chance.randint(2, 12))] for _ in range(40)]
        assert traces(machine, lexicons, talks) == traces(replace(machine, transitions=kept), lexicons, talks)
    assert hidden > MACHINES // 20


def of(text: str) -> list[int]:
    root = load_text(f"states: [a, b, c]\ninitial: a\ncues:\n  ask: {{patterns: [ask]}}\n{text}", "machine.yaml").root
    assert isinstance(root, Mapping)
    document = read_named(StateMachineDocument, root, "m")
    return [document.transitions.index(each) for each, _ in hidden_transitions(document)]


def test_two_earlier_transitions_may_hide_one_together() -> None:
    first = "transitions:\n  - {from: a, on: ask, to: b, when: turn < 3}\n"
    second = "  - {from: a, on: ask, to: c, when: turn >= 3}\n"
    third = "  - {from: a, on: ask, to: c}\n"
    assert of(first + second + third) == [2]
    assert of(first + third + second) == [2]
    assert of(first + third) == []


def test_nothing_is_hidden_by_a_condition_that_can_not_be_read_or_never_holds() -> None:
    first = "transitions:\n  - {from: a, on: ask, to: b}\n  - {from: a, on: ask, to: c, when: 'turn > 3'}\n"
    assert of(first) == [1]
    assert of(first.replace("to: b", "to: b, when: 'turn <'")) == []
    assert of(first.replace("turn > 3", "turn > 3 && turn < 2")) == []


def test_what_leads_back_within_a_turn_hides_nothing() -> None:
    loop = "transitions:\n  - {from: a, on: ask, to: a}\n  - {from: a, on: ask, to: b}\n"
    assert of(loop) == []
    there_and_back = loop.replace("to: a}", "to: c}") + "  - {from: c, on: ask, to: a}\n"
    assert of(there_and_back) == []
    assert of(loop.replace("to: a}", "to: c}")) == [1]


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


def test_the_condition_of_a_transition_is_built_once_for_all_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def counted(text: str, *args: Any, **more: Any) -> Any:
        built.append(text)
        return build(text, *args, **more)

    monkeypatch.setattr("rulewright.proving.hidden_transitions.build", counted)
    rows = "".join(f"  - {{from: a, on: ask, to: b, when: turn == {at}}}\n" for at in range(30))
    text = f"states: [a, b]\ninitial: a\ncues: {{ask: {{role: user, patterns: [ask]}}}}\ntransitions:\n{rows}"
    root = load_text(text, "machine.yaml").root
    assert isinstance(root, Mapping)
    assert list(hidden_transitions(read_named(StateMachineDocument, root, "m"))) == []
    assert len(built) == 30
