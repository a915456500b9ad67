"""Checks that agree on every usual conversation, and differ on an odd one that a scan accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.policies.test_conversations import project

from rulewright.api import check_transcript
from rulewright.policies import compare
from rulewright_runtime.interpreter import evaluator

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
def test_what_data_may_hold_is_no_proof_of_equality(
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
