"""OpenAI's agents SDK: the traces that its processors export."""

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.transcripts.view import usage_of

ASKED = {"role": "user", "content": "hi"}
CALLS = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALLS]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "none"}
SAID = {"role": "assistant", "content": "hello"}
TRACE: dict[str, Any] = {"object": "trace", "id": "t", "workflow_name": "desk", "group_id": "g", "metadata": None}


def span(own: str, kind: str, start: int, /, **data: Any) -> dict[str, Any]:
    times = {"started_at": f"2026-01-01T10:00:0{start}+00:00", "ended_at": f"2026-01-01T10:00:0{start + 2}+00:00"}
    ids = {"id": own, "trace_id": "t", "parent_id": None if kind == "agent" else "a", "error": None}
    return {"object": "trace.span", **ids, **times, "span_data": {"type": kind, **data}}


def generation(name: str, start: int, asked: list[Any], said: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "output_tokens": 2}
    return span(name, "generation", start, input=asked, output=[said], model="m-1", usage=usage)


SPANS = [
    generation("1", 1, [ASKED], CALLING),
    span("f", "function", 3, name="find", input="{}", output="none"),
    generation("2", 4, [ASKED, CALLING, RESULT], SAID),
    span("a", "agent", 0, name="desk", tools=["find"]),
]


@pytest.mark.parametrize("records", [[TRACE, *SPANS], [*SPANS, TRACE]])
def test_the_generations_of_a_group_are_one_conversation(records: list[Any], tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, records))
    assert (found.source, found.id, found.model) == ("openai-agents", "g", "m-1")
    assert lines(found) == ["user: hi", "assistant:  -> find {}", "tool find: none", "assistant: hello"]
    assert usage_of(found.usage) == {"input_tokens": 10, "output_tokens": 4, "latency": 4.0}


def test_a_response_whose_items_a_processor_adds_is_read(tmp_path: Path) -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}
    response = {"id": "r", "model": "m-1", "output": [item], "usage": {"input_tokens": 5}}
    for asked in ("hi", [ASKED]):
        given = span("1", "response", 1, response_id="r", input=asked, response=response)
        (found,) = conversations(written(tmp_path, [given]))
        assert (found.id, found.model, lines(found)) == ("t", "m-1", ["user: hi", "assistant: hello"])


@pytest.mark.parametrize(
    "records",
    [[TRACE], [TRACE, SPANS[1]], [TRACE, span("1", "response", 1, response_id="r"), SPANS[3]]],
)
def test_a_trace_without_messages_is_refused(records: list[Any], tmp_path: Path) -> None:
    (found, *_) = refusals(tmp_path, records)
    assert "records neither what was asked nor what was answered" in found
