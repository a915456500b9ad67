"""An answer that a provider or a tool records as cut is incomplete in every format: nothing passes next to it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from tests.runtime.transcripts.formats import written

from rulewright_runtime.transcripts.messages import CUT, Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

ASKED: Final = {"role": "user", "content": "How much?"}
SAID: Final = {"role": "assistant", "content": "You can take up to"}


def _span(**more: Any) -> dict[str, Any]:
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "How much?"}]}])
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "You can take up to"}], **more}]
    found = {"gen_ai.input.messages": asked, "gen_ai.output.messages": json.dumps(said)}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in found.items()]
    return {"traceId": "1", "spanId": "2", "name": "chat", "startTimeUnixNano": "1", "attributes": attributes}


def _with_reasons(reason: str) -> dict[str, Any]:
    span = _span()
    value = {"arrayValue": {"values": [{"stringValue": reason}]}}
    return {**span, "attributes": [*span["attributes"], {"key": "gen_ai.response.finish_reasons", "value": value}]}


def _run(outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "r",
        "trace_id": "r",
        "name": "chat",
        "run_type": "llm",
        "inputs": {"messages": [ASKED]},
        "outputs": outputs,
    }


def _sample(reason: str, *, repeated: bool) -> dict[str, Any]:
    output = {"model": "m", "choices": [{"message": SAID, "stop_reason": reason}]}
    listed = [ASKED, SAID] if repeated else [ASKED]
    return {"id": 1, "epoch": 1, "input": "How much?", "target": "", "messages": listed, "output": output}


RECORDS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "a completion": ({"messages": [ASKED], "choices": [{"message": SAID, "finish_reason": "length"}]}, "length"),
    "a filtered completion": (
        {"messages": [ASKED], "choices": [{"message": SAID, "finish_reason": "content_filter"}]},
        "filter",
    ),
    "a logged exchange": (
        {"request": {"messages": [ASKED]}, "response": {"choices": [{"message": SAID, "finish_reason": "length"}]}},
        "length",
    ),
    "a message of Anthropic": (
        {"request": {"messages": [ASKED]}, "response": {**SAID, "type": "message", "stop_reason": "max_tokens"}},
        "length",
    ),
    "an item of Responses": (
        {"input": [ASKED], "output": [{**SAID, "type": "message", "status": "incomplete"}]},
        "other",
    ),
    "Responses": (
        {
            "input": [ASKED],
            "output": [{**SAID, "type": "message"}],
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        },
        "length",
    ),
    "logged Responses": (
        {
            "request": {"input": "How much?"},
            "response": {"output": [{**SAID, "type": "message"}], "incomplete_details": {"reason": "content_filter"}},
        },
        "filter",
    ),
    "Gemini": (
        {
            "contents": [{"role": "user", "parts": [{"text": "How much?"}]}],
            "candidates": [{"content": {"role": "model", "parts": [{"text": "Up to"}]}, "finishReason": "MAX_TOKENS"}],
        },
        "length",
    ),
    "Bedrock": (
        {
            "request": {"messages": [{"role": "user", "content": [{"text": "How much?"}]}]},
            "response": {
                "output": {"message": {"role": "assistant", "content": [{"text": "Up to"}]}},
                "stopReason": "guardrail_intervened",
            },
        },
        "filter",
    ),
    "a message in a list": ({"messages": [ASKED, {**SAID, "finishReason": "content-filter"}]}, "filter"),
    "beside the messages": ({"messages": [ASKED, SAID], "finish_reason": "length"}, "length"),
    "LangChain": (
        {"messages": [ASKED, {"type": "ai", "content": "Up to", "response_metadata": {"finish_reason": "length"}}]},
        "length",
    ),
    "a span's message": (_span(finish_reason="length"), "length"),
    "a span's event": (
        {
            **_span(),
            "attributes": [],
            "events": [
                {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "How?"}}]},
                {
                    "name": "gen_ai.choice",
                    "attributes": [
                        {"key": "message", "value": {"stringValue": json.dumps({"content": "Up to"})}},
                        {"key": "finish_reason", "value": {"stringValue": "length"}},
                    ],
                },
            ],
        },
        "length",
    ),
    "a span": (_with_reasons("max_tokens"), "length"),
    "LangSmith": (_run({"choices": [{"message": SAID, "finish_reason": "length"}]}), "length"),
    "LangSmith's generations": (
        _run({"generations": [[{"text": "Up to", "generation_info": {"finish_reason": "length"}}]]}),
        "length",
    ),
    "LangSmith's messages": (
        _run(
            {
                "generations": [
                    [
                        {
                            "text": "Up to",
                            "generation_info": {"finish_reason": "length"},
                            "message": {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "Up to", "type": "ai"}},
                        }
                    ]
                ]
            }
        ),
        "length",
    ),
    "Inspect": (_sample("max_tokens", repeated=False), "length"),
    "Inspect with messages": (_sample("content_filter", repeated=True), "filter"),
}


def _read(folder: Path, record: dict[str, Any]) -> Transcript:
    (found,) = Reader().read([written(folder, [record])])
    assert isinstance(found, Transcript), found
    return found


@pytest.mark.parametrize(("record", "end"), RECORDS.values(), ids=RECORDS)
def test_the_last_reply_is_cut(tmp_path: Path, record: dict[str, Any], end: str) -> None:
    turns = _read(tmp_path, record).turns
    assert [(turn.role, turn.finish) for turn in turns] == [("user", None), ("assistant", end)]
    assert end in CUT


@pytest.mark.parametrize(
    "reason", ["stop", "end_turn", "STOP", "tool_calls", "refusal", "stop_sequence", None, 3, "eos"]
)
def test_any_other_reason_is_the_end_of_a_whole_reply(tmp_path: Path, reason: object) -> None:
    record = {"messages": [ASKED], "choices": [{"message": SAID, "finish_reason": reason}], "status": "in_progress"}
    assert [turn.finish for turn in _read(tmp_path, record).turns] == [None, None]
