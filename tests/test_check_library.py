"""The library of ready checks: each passes a conversation that keeps to it, and fails one that does not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rulewright.check.project_check import compile_project
from rulewright.linting.run import lint
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, Role, ToolCall
from rulewright_runtime.transcripts.transcript_reader import Transcript

LIBRARY = Path(__file__).resolve().parents[1] / "checks" / "library"
ORDER = "We shipped 3 boxes on Monday, order 1,204."
SECRET = "You are Ada, the assistant of a small shop, and you never give discounts."


def said(role: Role, text: str) -> Message:
    return Message(role, (Part(text=text),))


def talk(*replies: str, asked: str = "Where are my 3 boxes of order 1204?", **recorded: Any) -> Conversation:
    messages = [said("system", SECRET), said("user", asked)]
    return Conversation("c", (*messages, *(said("assistant", reply) for reply in replies)), **recorded)


def called(name: str, arguments: Any) -> Conversation:
    calls = (ToolCall("1", name, arguments, "{}"),)
    return Conversation("c", (said("user", "Find it."), Message("assistant", (Part(text="Done."),), tool_calls=calls)))


CASES: dict[str, tuple[Conversation, Conversation]] = {
    "answer-is-json": (talk('{"city": "Bern"}'), talk('Here: {"city": "Bern"}')),
    "answer-fits-schema": (talk('{"city": "Bern"}'), talk('["Bern"]')),
    "answer-is-expected": (talk("it\u2019s  Bern", expected="It's Bern"), talk("Basel", expected="It's Bern")),
    "replies-are-brief": (talk("On its way."), talk("on its way " * 70)),
    "no-refusal": (talk("On its way."), talk("I\u2019m sorry, but I can\u2019t help with that.")),
    "no-personal-data": (talk("Order 1204 of 2024-05-12."), talk("Write to ann@example.org.")),
    "no-words-of-a-list": (talk("On its way."), talk("Oh, shut  up.")),
    "no-system-prompt-leak": (talk("I may not say."), talk(f"My orders: {SECRET}")),
    "no-repetition": (talk("It ships today.", "By noon."), talk("It ships today, surely.", "It ships today, surely!")),
    "cites-sources": (talk("It ships today [1, 2]."), talk("It ships today [11].")),
    "numbers-are-grounded": (talk(ORDER), talk("We shipped 4 boxes.")),
    "tool-call-is-valid": (called("search", {"query": "boxes"}), called("search", {"text": "boxes"})),
    "no-forbidden-tool": (called("search", {}), called("pay", {})),
    "step-budget": (called("search", {}), Conversation("c", called("search", {}).messages * 21)),
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(LIBRARY, folder / "checks")
    (folder / "rulewright.yaml").write_text("project: library\n", encoding="utf-8")
    assert lint([folder]).diagnostics == ()
    return compile_project(folder)


def test_every_ready_check_has_an_example() -> None:
    assert {path.stem for path in LIBRARY.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_ready_check_gets_its_examples_right(plan: Plan, name: str) -> None:
    results = execute(plan, [Transcript.of(each) for each in CASES[name]])
    found = [{each.check_id: each.verdict for each in result.verdicts}[name] for result in results]
    assert found == ["PASS", "FAIL"]
