"""The conversation as expressions see it: `turns`, `messages`, `tool_calls`, `usage`, `answer`, `expected` and more.

What was not recorded is absent, so that reading it is an error and no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Turn, is_turn
from rulewright_runtime.values import from_host

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rulewright_runtime.plan.question import Beside
    from rulewright_runtime.transcripts.messages import Message, Transcript

Record = JsonObject
# The names under which tools record the same: the field, the key, and what the key's value is divided by.
USAGE: Final = (
    ("input_tokens", ("input_tokens", "prompt_tokens", "promptTokens", "prompt"), 1),
    ("output_tokens", ("output_tokens", "completion_tokens", "completionTokens", "completion"), 1),
    ("total_tokens", ("total_tokens", "totalTokens", "total"), 1),
    ("cost", ("cost", "cost_usd", "total_cost", "total_cost_usd"), 1),
    ("latency", ("latency", "latency_seconds", "duration_seconds"), 1),
    ("latency", ("latency_ms", "latencyMs", "duration_ms"), 1000),
)


class PlacedText(msgspec.Struct, frozen=True):
    """Whose text it is, and the number of the turn in which or after which it stands."""

    role: str
    turn: int


class Aside(Turn, frozen=True, kw_only=True):
    """What a judge is shown beside the turns, under a head of its own; its role and number are those of its quotes."""

    head: str


class View:
    """One conversation; each part is made when an expression first reads it."""

    def __init__(self, transcript: Transcript) -> None:
        """Of a transcript that was read."""
        self._transcript = transcript
        self._bindings: dict[tuple[str, ...], Record] = {}

    def bindings(self, roots: tuple[str, ...]) -> Record:
        """Those of the roots that the conversation has; the same dict for the same roots."""
        kept = self._bindings.get(roots)
        if kept is None:
            found = ((root, ROOTS[root](self)) for root in roots if root in ROOTS)
            kept = self._bindings[roots] = {root: value for root, value in found if value is not None}
        return kept

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
        """Every message, those of the system and of tools included."""
        return [_message(each) for each in self._transcript.conversation.messages]

    @cached_property
    def tool_calls(self) -> list[Record]:
        """The calls of all messages in their order, each with its result where there is one."""
        results = {each.get("tool_call_id"): each["text"] for each in self.messages if each["role"] == "tool"}
        return [_known(**call, result=results.get(call["id"])) for each in self.messages for call in each["tool_calls"]]

    @cached_property
    def usage(self) -> Record:
        """Tokens, cost in the currency it was recorded in, and seconds; of all answers where each of them has it."""
        whole = usage_of(self._transcript.conversation.usage)
        answers = [each["usage"] for each in self.messages if each["role"] == "assistant"]
        shared = set.intersection(*map(set, answers)) if answers else set()
        return {name: sum(each[name] for each in answers) for name in sorted(shared)} | whole

    @cached_property
    def transcript(self) -> Record:
        """The conversation as a whole."""
        spoken = [f"{turn['role']}: {turn['content']}" for turn in self.turns]
        read = self._transcript
        metadata = from_host(read.conversation.metadata)
        return {"id": read.id, "model": read.model, "text": "\n".join(spoken), "metadata": metadata}

    @property
    def answer(self) -> str | None:
        """What the assistant said last."""
        return str(self.replies[-1]["content"]) if self.replies else None

    @property
    def expected(self) -> Json:
        """The answer that was wanted, where one was recorded."""
        return from_host(self._transcript.conversation.expected)

    @cached_property
    def places(self) -> dict[str, PlacedText]:
        """Where each text stands first."""
        found: dict[str, PlacedText] = {}
        for turn in self.turns:
            found.setdefault(turn["content"], PlacedText(turn["role"], turn["number"]))
        for number, message in self._numbered():
            found.setdefault(message.text, PlacedText(message.role, number))
        return found

    def place_of(self, item: Record) -> PlacedText:
        """Where a turn, message or tool call stands."""
        if "number" in item:
            return PlacedText(item["role"], item["number"])
        for (number, message), record in zip(self._numbered(), self.messages, strict=True):
            calls = [call["id"] for call in record["tool_calls"]]
            if record is item or item.get("id") in calls:
                return PlacedText(message.role, number)
        return PlacedText("assistant", 0)

    def asides(self, shows: Collection[Beside], turns: Sequence[int]) -> list[Turn]:
        """The turns of these indices, and among them what is shown beside them: what was called and given before a
        reply belongs to it, anything else to the turn before; what stands before the first turn is always shown."""
        expected = self._transcript.conversation.expected if "expected" in shows else None
        waiting: list[Turn] = []
        if expected is not None:
            text = expected if isinstance(expected, str) else _json(expected)
            waiting.append(Aside(0, "expected", text, head="expected answer"))
        index = -1
        shown: list[Turn] = []
        wanted = {-1, *turns}
        for number, message in self._numbered():
            own = list(_asides(message, number, shows))
            if not is_turn(message):
                waiting += own
                continue
            owner = index + (message.role == "assistant" and index >= 0)
            shown += waiting if owner in wanted else []
            index += 1
            shown += [self._transcript.turns[index], *own] if index in wanted else []
            waiting = []
        return shown + (waiting if index in wanted else [])

    def _numbered(self) -> Iterator[tuple[int, Message]]:
        """Every message with the number of its turn, or of the turn before it."""
        numbers = iter(self._transcript.turns)
        current = self._transcript.turns[0].turn if self._transcript.turns else 0
        for message in self._transcript.conversation.messages:
            if is_turn(message):
                current = next(numbers).turn
            yield current, message


ROOTS: Final[Mapping[str, Callable[[View], object]]] = {
    "transcript": lambda view: view.transcript,
    "turns": lambda view: view.turns,
    "replies": lambda view: view.replies,
    "messages": lambda view: view.messages,
    "tool_calls": lambda view: view.tool_calls,
    "usage": lambda view: view.usage,
    "answer": lambda view: view.answer,
    "expected": lambda view: view.expected,
}


def _asides(message: Message, number: int, shows: Collection[Beside]) -> Iterator[Aside]:
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
    """What a record says of tokens, cost and time, under our names; what is no number is left out."""
    found: Record = {}
    for field, keys, divisor in USAGE:
        for key in keys:
            value = recorded.get(key)
            if field not in found and isinstance(value, (int, float)) and not isinstance(value, bool):
                found[field] = float(value) / divisor if field in ("cost", "latency") else int(value)
    return found


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
