"""Checks that agree on every usual conversation, and differ on an odd one that a scan accepts."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.policies.test_conversations import project
from tests.rounds import SEED, rounds

from rulewright.api import check_transcript
from rulewright.check.project_check import compile_project
from rulewright.policies import compare
from rulewright.policies.checks import UNDECIDED_VERDICT
from rulewright_runtime.interpreter import evaluator
from rulewright_runtime.plan.scan import Plan

SAID: dict[str, Any] = {"role": "assistant", "content": "yes"}


def called_with(arguments: str) -> dict[str, Any]:
    """A chat with one call of a tool."""
    call = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": arguments}}
    return {"messages": [{**SAID, "tool_calls": [call]}]}


X = "tool_calls[0].arguments.x"
TWICE = "turns.exists(a, turns.exists(b, a.content + b.content == 'no'))"
CALLED = "tool_calls.exists(c, has(c.arguments)"
GREATEST = "math.greatest(citations(transcript.text))"


@pytest.mark.parametrize(
    ("one", "two", "chat"),
    [
        # Arguments of a call may be any JSON, not only an object.
        (f"{CALLED} && (has(c.arguments.x) || !has(c.arguments.x)))", f"{CALLED})", called_with("[1]")),
        # The number in a text may be infinite, and one of JSON as large as a double.
        (f"double({X}) < 5.0 || double({X}) >= 5.0", f"double({X}) <= 1e301", called_with('{"x": "inf"}')),
        (f"double({X}) > 1e300", f"double({X}) > 1e301", called_with('{"x": 1e301}')),
        # The greatest of no numbers is an error.
        (f"{GREATEST} > 5 || {GREATEST} <= 5", "true", {"messages": [SAID]}),
        # A loop in a loop over many turns takes too many steps.
        (f"{TWICE} || !{TWICE}", "true", {"messages": [SAID] * 20}),
        # An expected answer may not be recorded.
        ("expected == 1 || expected != 1", "true", {"messages": [SAID]}),
    ],
)
def test_values_that_data_may_hold_prevent_a_proof_of_equality(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, two: str, chat: dict[str, Any]
) -> None:
    monkeypatch.setattr(evaluator, "MAX_STEPS", 300)
    monkeypatch.setattr(compare, "conversations_with", lambda *_: {})  # the proof alone is asked
    paths = [project(tmp_path / name, fail, "") for name, fail in (("one", one), ("two", two))]
    verdicts = [check_transcript(path.parent.parent, chat).verdicts[0].verdict for path in paths]
    assert verdicts[0] != verdicts[1]
    assert compare.policy_diff(*paths)["verdict"] != "equal", json.dumps([one, two])


@pytest.mark.parametrize(
    "chat",
    [
        {"messages": [SAID], "usage": {"total_tokens": 1e300}},
        {"messages": [SAID | {"usage": {"total_tokens": 2**62}}] * 3},
    ],
)
def test_more_tokens_than_an_int_can_count_are_none(tmp_path: Path, chat: dict[str, Any]) -> None:
    path = project(tmp_path, "has(usage.total_tokens)", "")
    assert check_transcript(path.parent.parent, chat).verdicts[0].verdict == "PASS"


ATOMS = (
    "size(turns) > 0", "size(replies) >= 1", "size(tool_calls) == 0", "answer == 'yes'", "answer.matches('^$')",
    "replies[0].content == 'yes'", "turns[size(turns) - 1].role == 'user'", "turns[0].number > 0", "expected == 1",
    "messages[0].role == 'user'", "tool_calls.exists(c, has(c.arguments.x))", f"double({X}) < 5.0", f"{X} == 'inf'",
    "tool_calls.all(c, has(c.result) || c.name == 'pay')", "has(tool_calls[0].arguments)", "usage.total_tokens > 5",
    "has(usage.cost)", "math.greatest(citations(transcript.text)) >= 1", "transcript.metadata.k == 1",
    "turns.exists(t, contains_any(t.content, ['YES']))", "turns.all(t, t.content.trim() != '')", "is_json(answer)",
    "timestamp(messages[0].timestamp).getHours() > 1", "1 / size(tool_calls) > 0", "json(answer).a == 1",
)  # fmt: skip
ODD: tuple[dict[str, Any], ...] = (
    {"messages": [SAID]},
    {"messages": [{"role": "user", "content": ""}]},
    {"messages": [{"role": "user", "content": "hi", "timestamp": "soon"}, SAID], "expected": 1, "usage": {"cost": 0}},
    *map(called_with, ("[1]", "no JSON", "null", '{"x": "inf"}', '{"x": 1e301}', '{"x": null}')),
    {"messages": [{"role": "system", "content": ""}, SAID | {"content": '{"a": 1}'}], "metadata": {"k": 1.0}},
    {
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": called_with("{}")["messages"][0]["tool_calls"]}
        ]
    },
    {"messages": [SAID | {"usage": {"total_tokens": 2**62}}] * 3 + [{"role": "user", "content": "\u2028[9]"}]},
)


def joined(chance: random.Random) -> str:
    """A few conditions, joined at random."""
    found = chance.choice(ATOMS)
    for _ in range(chance.randrange(3)):
        found = f"({found}) {chance.choice(('&&', '||'))} {chance.choice(('', '!'))}({chance.choice(ATOMS)})"
    return found


def test_every_odd_conversation_on_which_two_random_checks_differ_is_in_a_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "conversations_with", lambda *_: {})
    chance, differences = random.Random(SEED), 0
    for number in range(rounds(8, 400)):
        one = joined(chance)
        two = f"({one}) {chance.choice(('&&', '||'))} ({joined(chance)})"
        paths = [project(tmp_path / f"{name}{number}", fail, "") for name, fail in (("one", one), ("two", two))]
        found = compare.policy_diff(*paths)
        told = {(region["before"], region["after"]) for region in found["regions"]}
        plans = [compile_project(path.parent.parent) for path in paths]
        for chat in ODD:
            before, after = (verdict_in(plan, chat) for plan in plans)
            if before != after and "" not in (before, after):
                assert (before, after) in told, (one, two, chat)
                differences += 1
    assert differences


def verdict_in(plan: Plan, chat: dict[str, Any]) -> str:
    """The verdict in the words of regions; nothing where content is missing."""
    (found,) = check_transcript(plan, chat).verdicts
    if found.cause == "missing":
        return ""
    return UNDECIDED_VERDICT if found.rationale_code == "condition_undecided" else found.verdict
