"""The conversation as the context of expressions: `turns`, `messages`, `tool_calls`, `usage`, `answer` and more.

A value that was not recorded is absent, so that reading it is an error.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec

from rulewright_runtime.plan.question import ShownContext
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Message, Transcript, Turn, is_turn, summed
from rulewright_runtime.values import INT_MAX, from_host

Record = JsonObject
# The keys under which tools record usage: the field, its keys, and the divisor of their values.
USAGE: Final = (
    ("input_tokens", ("input_tokens", "prompt_tokens", "promptTokens", "prompt"), 1),
    ("output_tokens", ("output_tokens", "completion_tokens", "completionTokens", "completion"), 1),
    ("total_tokens", ("total_tokens", "totalTokens", "total"), 1),
    ("cost", ("cost", "cost_usd", "total_cost", "total_cost_usd"), 1),
    ("latency", ("latency", "latency_seconds", "duration_seconds"), 1),
    ("latency", ("latency_ms", "latencyMs", "duration_ms"), 1000),
)


class TextLocation(msgspec.Struct, frozen=True):
    """The role of a text, and the number of its turn or of the turn before it."""

    role: str
    turn: int


class Aside(Turn, frozen=True, kw_only=True):
    """Context shown to a judge besides the turns, under its own heading; quotes of it name its role and number."""

    head: str


class View:
    """The context of one conversation; each part is computed when an expression first reads it."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._bindings: dict[tuple[str, ...], Record] = {}

    def bindings(self, roots: tuple[str, ...]) -> Record:
        """The values of the roots that the conversation has; the same dict for the same roots."""
        bindings = self._bindings.get(roots)
        if bindings is None:
            values = ((root, getattr(self, root)) for root in roots if root in ROOTS)
            bindings = self._bindings[roots] = {root: value for root, value in values if value is not None}
        return bindings

    @cached_property
    def turns(self) -> list[Record]:
        """The turns of user and assistant."""
        return [
            _known(number=turn.turn, role=turn.role, content=turn.content, branch=turn.branch_id)
            for turn in self._transcript.turns
        ]

    @cached_property
    def replies(self) -> list[Record]:
        """The assistant's turns."""
        return [turn for turn in self.turns if turn["role"] == "assistant"]

    @cached_property
    def messages(self) -> list[Record]:
        """Every message, including those of the system and of tools."""
        return [_message(each) for each in self._transcript.conversation.messages]

    @cached_property
    def tool_calls(self) -> list[Record]:
        """The tool calls of all messages, in order, each with its result if there is one."""
        return _with_results(self.messages)

    @cached_property
    def usage(self) -> Record:
        """Tokens, cost in the recorded currency, latency in seconds; sums over all replies if each has the field."""
        whole = usage_of(self._transcript.conversation.usage)
        answers = [each["usage"] for each in self.messages if each["role"] == "assistant"]
        return usage_of(summed(answers)) | whole

    @cached_property
    def transcript(self) -> Record:
        """The conversation as a whole."""
        lines = [f"{turn['role']}: {turn['content']}" for turn in self.turns]
        transcript = self._transcript
        metadata = from_host(transcript.conversation.metadata)
        about = {"id": transcript.id, "model": transcript.model, "text": "\n".join(lines), "metadata": metadata}
        return about if self.expected is None else about | {"expected": self.expected}

    @property
    def answer(self) -> str | None:
        """The text of the last reply; None if there is none."""
        return str(self.replies[-1]["content"]) if self.replies else None

    @property
    def expected(self) -> Json:
        """The expected answer, if one was recorded."""
        return from_host(self._transcript.conversation.expected)

    @cached_property
    def locations(self) -> dict[str, TextLocation]:
        """The first location of each text."""
        locations: dict[str, TextLocation] = {}
        for turn in self.turns:
            locations.setdefault(turn["content"], TextLocation(turn["role"], turn["number"]))
        for number, message in self._numbered():
            locations.setdefault(message.text, TextLocation(message.role, number))
        return locations

    def location_of(self, item: Record) -> TextLocation:
        """The location of a turn, message or tool call."""
        if "number" in item:
            return TextLocation(item["role"], item["number"])
        for (number, message), record in zip(self._numbered(), self.messages, strict=True):
            calls = [call["id"] for call in record["tool_calls"]]
            if record is item or item.get("id") in calls:
                return TextLocation(message.role, number)
        return TextLocation("assistant", 0)

    def with_asides(self, shows: Collection[ShownContext], turns: Sequence[int]) -> list[Turn]:
        """The turns at these indices, with their asides in order: tool calls and results before a reply belong to it,
        any other message to the turn before it; messages before the first turn are always included."""
        expected = self._transcript.conversation.expected if "expected" in shows else None
        waiting: list[Turn] = []
        if expected is not None:
            text = expected if isinstance(expected, str) else _json(expected)
            waiting.append(Aside(0, "expected", text, head="expected answer"))
        index = -1
        shown: list[Turn] = []
        selected = {-1, *turns}
        for number, message in self._numbered():
            own = list(_asides(message, number, shows))
            if not is_turn(message):
                waiting += own
                continue
            owner = index + (message.role == "assistant" and index >= 0)
            shown += waiting if owner in selected else []
            index += 1
            shown += [self._transcript.turns[index], *own] if index in selected else []
            waiting = []
        return shown + (waiting if index in selected else [])

    def _numbered(self) -> Iterator[tuple[int, Message]]:
        """Every message with the number of its turn, or of the turn before it."""
        numbers = iter(self._transcript.turns)
        current = self._transcript.turns[0].turn if self._transcript.turns else 0
        for message in self._transcript.conversation.messages:
            if is_turn(message):
                current = next(numbers).turn
            yield current, message


ROOTS: Final = ("transcript", "turns", "replies", "messages", "tool_calls", "usage", "answer", "expected")


def _asides(message: Message, number: int, shows: Collection[ShownContext]) -> Iterator[Aside]:
    if "system" in shows and message.role in ("system", "developer"):
        yield Aside(number, message.role, message.shown, head=message.role)
    if "tools" in shows:
        for call in message.tool_calls:
            head = f"turn {number}, assistant calls {_json(call.name)}"
            yield Aside(number, "assistant", call.raw or _json(call.arguments), head=head)
        if message.role == "tool":
            yield Aside(number, "tool", message.shown, head=f"turn {number}, tool {_json(message.name or '')} answers")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def usage_of(recorded: JsonMapping) -> Record:
    """The tokens, cost and latency in a record, under our names; other values than numbers from 0, and counts of tokens
    beyond an int, are omitted."""
    usage: Record = {}
    for field, keys, divisor in USAGE:
        for key in keys:
            value = recorded.get(key)
            if field in usage or not isinstance(value, (int, float)) or isinstance(value, bool):
                continue
            is_count = field not in ("cost", "latency")
            if 0 <= value <= (INT_MAX if is_count else sys.float_info.max):  # NaN and -1 stand for no number
                usage[field] = int(value) if is_count else float(value) / divisor
    return usage


def _with_results(messages: Sequence[Record]) -> list[Record]:
    """The tool calls of the messages with their results. A result belongs to the call of its id in the last message
    before it that has one; without an id, to one of the last calls."""
    calls: list[Record] = []
    last: dict[str, deque[Record]] = {}  # by id, the calls of the last message with one of that id
    early: list[Record] = []
    for message in messages:
        if asked := [dict(each) for each in message["tool_calls"]]:
            calls += asked
            of_id: dict[str, deque[Record]] = {}
            for each in asked:
                of_id.setdefault(each["id"], deque()).append(each)
            last |= of_id | {"": deque(asked)}
        elif message["role"] == "tool" and not _answer(last, message):
            early.append(message)
    for message in early:
        _answer(last, message)
    return [each | {"result": "\n".join(each["result"])} if "result" in each else each for each in calls]


def _answer(calls: Mapping[str, deque[Record]], result: Record) -> bool:
    """Give a result to the first call of its id that has none, or add it to the last one's. Whether there is a call."""
    found = calls.get(result.get("tool_call_id") or "")
    if found:
        while len(found) > 1 and "result" in found[0]:
            found.popleft()
        found[0].setdefault("result", []).append(result["text"])
    return bool(found)


def _message(message: Message) -> Record:
    return _known(
        role=message.role,
        text=message.text,
        name=message.name,
        tool_call_id=message.tool_call_id,
        reasoning=message.reasoning,
        refusal=message.refusal,
        timestamp=message.timestamp,
        tool_calls=[
            _known(id=call.id, name=call.name, arguments=from_host(call.arguments), raw=call.raw)
            for call in message.tool_calls
        ],
        media=[{"kind": part.kind, "reference": part.reference} for part in message.parts if part.kind != "text"],
        usage=usage_of(message.usage),
        metadata=from_host(message.metadata),
    )


def _known(**fields: Any) -> Record:
    return {name: value for name, value in fields.items() if value is not None}
