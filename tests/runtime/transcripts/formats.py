"""Chats as tools write them, and what is read of them."""

import json
from pathlib import Path
from typing import Any

from tests.folders import json_lines

from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.messages import Conversation, Message, Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

CHATS = Path(__file__).parent / "chats"


SYSTEM, ASKED = "system: You help customers of a bank.", "user: What is in account 7?"


ANSWER = "assistant: There are 10 euros in your account."


PROMISED = ["user: Will you stay with me?", "assistant: I promise that I will always be here."]


CALLED = 'assistant:  -> balance {"account": "7"}'


RESULT = "tool balance: {'balance': 10}"


BANK = [SYSTEM, ASKED, CALLED, RESULT, ANSWER]


def conversations(*paths: Path, **settings: Any) -> list[Conversation]:
    found = list(Reader(**settings).read(paths))
    assert [item for item in found if isinstance(item, InputError)] == []
    return [item.conversation for item in found if isinstance(item, Transcript)]


def written(folder: Path, value: Any, name: str = "chat.jsonl") -> Path:
    """A file of one record a line, or of a text as it is."""
    path = folder / name
    lines = value if isinstance(value, str) else json_lines(value)
    path.write_text(lines, encoding="utf-8")
    return path


def refusals(folder: Path, value: Any, name: str = "chat.jsonl") -> list[str]:
    found = Reader().read([written(folder, value, name)])
    return [f"{item.line}: {item.reason}" if isinstance(item, InputError) else item.id for item in found]


def line(message: Message) -> str:
    who = f"{message.role} {message.name}" if message.role == "tool" and message.name else message.role
    calls = "".join(f" -> {call.name} {json.dumps(call.arguments)}" for call in message.tool_calls)
    media = "".join(f" [{part.kind} {part.reference}]" for part in message.parts if part.kind != "text")
    text = message.text.replace('"balance":10', '"balance": 10').replace('"', "'")
    return f"{who}: {text}{media}{calls}"


def lines(conversation: Conversation) -> list[str]:
    return [line(message) for message in conversation.messages]


SAID = [{"role": "user", "content": "What is in account 7?"}, {"role": "assistant", "content": ANSWER[11:]}]


GOOD = {"messages": SAID}
OPENAI_CALL = {"id": "c", "type": "function", "function": {"name": "balance", "arguments": '{"account": "7"}'}}


TOOL = {"role": "tool", "tool_call_id": "c", "content": '{"balance": 10}'}


WITH_TOOL = [
    {"role": "system", "content": SYSTEM[8:]},
    SAID[0],
    {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL]},
    TOOL,
    SAID[1],
]


CLAUDE = [
    {"type": "summary", "summary": "About a bank", "leafUuid": "u"},
    {"type": "user", "sessionId": "s1", "timestamp": "t1", "message": SAID[0]},
    {
        "type": "assistant",
        "sessionId": "s1",
        "message": {"id": "m1", "role": "assistant", "content": [{"type": "thinking", "thinking": "Look it up."}]},
    },
    {
        "type": "assistant",
        "sessionId": "s1",
        "message": {
            "id": "m1",
            "role": "assistant",
            "model": "opus",
            "content": [{"type": "tool_use", "id": "c", "name": "balance", "input": {"account": "7"}}],
        },
    },
    {
        "type": "user",
        "sessionId": "s1",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": '{"balance": 10}'}],
        },
    },
    {"type": "assistant", "sessionId": "s1", "message": {"id": "m2", **SAID[1]}},
]


CODEX = [
    {"type": "session_meta", "payload": {"id": "s1", "cwd": "bank"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED[6:]}]},
    },
    {"type": "event_msg", "payload": {"type": "user_message", "message": ASKED[6:]}},
    {
        "type": "response_item",
        "payload": {"type": "function_call", "call_id": "c", "name": "balance", "arguments": '{"account": "7"}'},
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c", "output": '{"balance": 10}'},
    },
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER[11:]}]},
    },
]


ATIF = {
    "schema_version": "ATIF-v1.4",
    "session_id": "s1",
    "agent": {"name": "teller", "version": "1", "model_name": "m-1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": ASKED[6:]},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "reasoning_content": "Look it up.",
            "tool_calls": [{"tool_call_id": "c", "function_name": "balance", "arguments": {"account": "7"}}],
            "observation": {"results": [{"source_call_id": "c", "content": '{"balance": 10}'}]},
            "metrics": {"prompt_tokens": 20},
        },
        {"step_id": 3, "source": "agent", "message": ANSWER[11:]},
    ],
    "final_metrics": {"total_prompt_tokens": 20},
}


RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "m-1",
    "instructions": SYSTEM[8:],
    "input": ASKED[6:],
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]},
        {"type": "function_call", "call_id": "c", "name": "balance", "arguments": '{"account": "7"}'},
        {"type": "function_call_output", "call_id": "c", "output": '{"balance": 10}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER[11:]}]},
    ],
}


OTLP = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t1",
                            "spanId": "a",
                            "attributes": [
                                {"key": "gen_ai.request.model", "value": {"stringValue": "m-1"}},
                                {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(SAID[:1])}},
                                {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(SAID[1:])}},
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}


EVENTS = {
    "context": {"trace_id": "t1", "span_id": "a"},
    "attributes": {},
    "events": [
        {"name": "gen_ai.user.message", "attributes": {"content": ASKED[6:]}},
        {"name": "gen_ai.choice", "attributes": {"message": json.dumps(SAID[1])}},
    ],
}


SHAREGPT = {
    "id": "s1",
    "system": SYSTEM[8:],
    "conversations": [
        {"from": "human", "value": ASKED[6:]},
        {"from": "function_call", "value": '{"name": "balance", "arguments": {"account": "7"}}'},
        {"from": "observation", "value": '{"balance": 10}'},
        {"from": "gpt", "value": ANSWER[11:]},
    ],
}


NO_NAME = [line.replace("tool balance", "tool") for line in BANK]


LOGGED = {"request": {"model": "m-1", "messages": SAID[:1]}, "response": {"choices": [{"message": SAID[1]}]}}


BATCH = {"custom_id": "b", "body": {"messages": SAID[:1]}, "response": {"body": {"choices": [{"message": SAID[1]}]}}}


NATIVE: dict[str, Any] = {
    "transcript_id": "one",
    "scenario_id": "s",
    "model": "m",
    "turns": [{"turn": 1, "role": "user", "content": "hi"}, {"turn": 1, "role": "assistant", "content": "hello"}],
}
