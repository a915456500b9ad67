"""Records with random values: each is read or refused, and none stops the reading of the others."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import rounds
from tests.runtime.transcripts import formats
from tests.runtime.transcripts.formats import ASKED, CHATS, GOOD, OPENAI_CALL, SAID

from rulewright_runtime.transcripts.chat_files import MAX_LINE
from rulewright_runtime.transcripts.containers import rows
from rulewright_runtime.transcripts.transcript_reader import Reader

VALUES: tuple[Any, ...] = (
    *(None, True, 5, 1.5, "", "x", "[1]", '{"a": 1}', "2025-01-01"),
    *([], [5], ["x"], [[]], [{}], {}, {"a": 1}, {"role": "user"}, {"type": "text"}, SAID, OPENAI_CALL),
)
PARTS = [
    {"type": "tool-f", "toolCallId": "c", "input": {}, "output": 1},
    {"type": "tool-invocation", "toolInvocation": {"toolName": "f", "args": {}, "result": 1}},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    {"functionCall": {"name": "f", "args": {}}},
    {"type": "data-x", "data": 1},
]
GENERATION = {
    "id": "g",
    "traceId": "t",
    "type": "GENERATION",
    "input": SAID[:1],
    "output": SAID[1],
    "metadata": {"a": 1},
}
OTHERS: list[dict[str, Any]] = [
    {"messages": [SAID[0], {"role": "assistant", "parts": PARTS, "toolInvocations": [], "audio": {"transcript": "a"}}]},
    {
        "contents": [{"role": "user", "parts": [{"text": ASKED}]}],
        "candidates": [{"content": {"parts": [{"text": "a"}]}}],
    },
    {"trace": {"id": "t", "timestamp": "1", "input": "a", "output": "b"}, "observations": [GENERATION]},
    {"root_span_id": "r", "span_id": "r", "input": {"messages": SAID}, "output": "b", "metrics": {"start": 1}},
    {"context.trace_id": "t", "attributes.llm.input_messages": [{"message.role": "user", "message.content": "a"}]},
    {
        "current_node": "b",
        "mapping": {
            name: {"parent": parent, "message": {"author": {"role": role}, "content": {"parts": ["a"]}}}
            for name, parent, role in (("a", None, "user"), ("b", "a", "assistant"))
        },
    },
    {"chat_messages": [{"uuid": "a", "sender": "human", "text": "a", "attachments": [{"file_name": "f"}]}]},
    {"run_type": "chain", "id": "r", "inputs": {"chat_history": SAID, "input": "a"}, "outputs": {"output": "b"}},
]


def records() -> Iterator[Any]:
    """A record of every format."""
    yield from (formats.RESPONSE, formats.SHAREGPT, formats.ATIF, formats.OTLP, formats.LOGGED, formats.BATCH)
    yield from (formats.NATIVE, {"messages": formats.WITH_TOOL}, *formats.CLAUDE, *formats.CODEX, *OTHERS)
    for path in sorted(CHATS.glob("*.json*")):
        yield from (row for _, row in rows(str(path), path.name, MAX_LINE) if isinstance(row, dict))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object and list in a value, with each of its keys or indices."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


@pytest.mark.parametrize("seed", range(rounds(4, 200)))
def test_a_record_with_random_values_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    for at, record in enumerate(records()):
        lines = []
        for _ in range(4):
            changed = copy.deepcopy(record)
            for holder, key in chosen.sample(found := list(places(changed)), min(len(found), chosen.randint(1, 3))):
                holder[key] = copy.deepcopy(chosen.choice(VALUES))
            lines.append(json.dumps(changed))
        path = tmp_path / f"{at}.jsonl"
        path.write_text("\n".join([*lines, json.dumps({**GOOD, "id": "good"})]) + "\n", encoding="utf-8")
        *_, last = sorted(Reader().read([path]), key=lambda item: item.line)
        assert last.line == len(lines) + 1
