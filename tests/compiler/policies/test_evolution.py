"""Conversations that are changed at random: each is yielded once, and stays what it was when it was tried."""

import json

from rulewright.witnesses.evolution import evolved
from rulewright_runtime.strict_json import JsonObject

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
START: list[JsonObject] = [
    {"messages": [{"role": "user", "content": "So?"}, {"role": "assistant", "content": "One moment."}]},
    {
        "messages": [
            {"role": "user", "content": "7 x"},
            {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]},
        ]
    },
]


def test_what_was_yielded_does_not_change_and_has_an_effect_of_its_own() -> None:
    tried: list[str] = []

    def effect(record: JsonObject) -> str | None:
        tried.append(json.dumps(record))
        return None if len(record["messages"]) == 1 else str(sorted({*tried[-1]}))

    before = json.dumps(START)
    found = [(record, json.dumps(record), effect(record)) for record in evolved(START, effect, ["yes", "no"], [3, 4])]
    assert len(found) > 5
    assert all(json.dumps(record) == written and written in tried for record, written, _ in found)
    assert len({said for *_, said in found}) == len(found)
    assert None not in {said for *_, said in found}
    assert json.dumps(START) == before


def test_the_changes_are_the_same_in_every_run() -> None:
    runs = [list(evolved(START, json.dumps, ["yes"], [3])) for _ in range(2)]
    assert runs[0] == runs[1]
    said = json.dumps(runs[0])
    assert all(each in said for each in ("yes", '"system"', "3 x"))
