"""Messages: a recorded conversation, independent of its source format, and its turns.

Conversation    id, messages, scenario_id, expected, metadata, usage, source, model
`-- Message     role, parts, name, tool_calls, tool_call_id, reasoning, refusal, metadata, usage, timestamp
    |-- Part        kind (text, image, audio, file), text, reference, digest
    `-- ToolCall    id, name, arguments, raw
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, get_args

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

# The ends of answers that are not whole; a refusal is whole.
Cut = Literal["length", "filter", "other"]
CUT: Final[dict[str, str]] = {"length": "at the token limit", "filter": "by a filter", "other": "before its end"}
KEYS: Final = (
    "finish", "finish_reason", "finish_reasons", "finishReason", "stop_reason", "stopReason", "done_reason",
    "gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.finish_reason",
)  # fmt: skip
_HOLDERS: Final = ("response_metadata", "generation_info", "additional_kwargs")  # of LangChain
_WORDS: Final[dict[str, Cut]] = {
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"), "length"
    ),
    **dict.fromkeys(
        (
            "filter", "content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content",
            "spii", "guardrail_intervened",
        ),
        "filter",
    ),
    **dict.fromkeys(("other", "error", "incomplete", "cancelled", "canceled", "aborted", "interrupted"), "other"),
}  # fmt: skip


def finish_of(record: JsonMapping) -> Cut | None:
    """Return the key of `CUT` for an answer that the record says is not whole, else None."""
    return next((found for each in _reasons(record) if (found := _WORDS.get(_plain(each)))), None)


def _reasons(record: JsonMapping) -> Iterator[object]:
    for key in filter(record.__contains__, KEYS):
        value = record[key]
        yield from value if isinstance(value, list) else [value]
    details = record.get("incomplete_details")  # of the Responses API
    if isinstance(details, dict):
        yield details.get("reason") or "incomplete"
    if record.get("status") == "incomplete":
        yield "incomplete"
    for holder in _HOLDERS:
        if isinstance(inner := record.get(holder), dict):
            yield from _reasons(inner)


def _plain(reason: object) -> str:
    word = reason if isinstance(reason, str) else ""
    return word.lower().replace("-", "_").removeprefix("finish_reason_")


Role = Literal["system", "developer", "user", "assistant", "tool"]
Kind = Literal["text", "image", "audio", "file"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SIMULATED: Final = "user:"  # prefix of a user turn's `harness`, before the name of the model that wrote it
TURNS: Final = "turns"  # the source of a conversation that was recorded as turns
NOTHING: Final[JsonMapping] = {}
SPEAKERS: Final = ("user", "assistant")  # whose messages are turns
FOR_NOTHING: Final = ("0", "false", "nan", "no", "none", "null")  # texts of logs and tables


class Part(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a message: `text`, or a medium by its `reference` (address or name) and the `digest` of its bytes."""

    kind: Kind = "text"
    text: str = ""
    reference: str = ""
    digest: str = ""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A tool call of the assistant. `arguments` are parsed JSON, None if the text `raw` is not JSON."""

    id: str
    name: str
    arguments: Json = None
    raw: str = ""


class Message(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One message. A tool's result is a message of the role `tool` that names its call in `tool_call_id`.

    `usage` (tokens and costs) and `timestamp` are as recorded; `metadata` holds the other keys of the record.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    metadata: JsonObject = {}
    usage: JsonObject = {}
    timestamp: str | None = None

    @property
    def text(self) -> str:
        """The texts of its parts, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if part.kind == "text")

    @property
    def shown(self) -> str:
        """The visible text: texts, the refusal, and a placeholder such as `[image]` for each medium."""
        pieces = [part.text if part.kind == "text" else f"[{part.kind}]" for part in self.parts]
        return "\n".join(filter(None, [*pieces, self.refusal]))


def summed(usages: Sequence[JsonMapping]) -> JsonObject:
    """The sums of the numbers that every one of several usages has; infinite ones stand for no number."""
    found: JsonObject = {}
    for name in usages[0] if usages else ():
        given = [usage.get(name) for usage in usages]
        numbers = [each for each in given if isinstance(each, int | float) and not isinstance(each, bool)]
        if len(numbers) == len(usages):
            found[name] = _sum(numbers)
    return found


def _sum(values: Sequence[int | float]) -> int | float:
    try:
        return sum(values) if all(isinstance(each, int) for each in values) else math.fsum(values)
    except OverflowError:
        return math.inf


class Conversation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One conversation: its messages in order, and the data recorded about the whole.

    `expected` is the expected answer, if one was recorded; `source` is the format it was read from. `record` is set by
    readers of several records: which of them, counted from 0, the conversation begins with.
    """

    id: str
    messages: tuple[Message, ...]
    scenario_id: str | None = None
    expected: Json = None
    metadata: JsonObject = {}
    usage: JsonObject = {}
    source: str = ""
    model: str = ""
    record: int = 0


class Turn(msgspec.Struct, frozen=True):
    """One message of the user or the assistant. A user's turn and its reply may share a number; `error` is recorded by
    a harness instead of a message, `finish` next to an incomplete one, `usage` (tokens, cost, latency) next to any.
    `model` and `served_model` are the names of the model that wrote it, where they are recorded."""

    turn: int
    role: str
    content: str
    branch_id: str | None = None
    error: Json = None
    harness: str | None = None
    finish: str | None = None
    usage: JsonObject | msgspec.UnsetType = msgspec.UNSET
    model: str | msgspec.UnsetType = msgspec.UNSET
    served_model: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def more(self) -> JsonObject:
        """The fields that few turns have."""
        return {key: value for key in _MORE if (value := getattr(self, key)) not in (None, msgspec.UNSET)}

    @property
    def simulated_by(self) -> str:
        """The model that wrote this turn as the user; empty if none did."""
        is_simulated = self.role == "user" and self.harness is not None and self.harness.startswith(SIMULATED)
        return self.harness[len(SIMULATED) :] if is_simulated and self.harness else ""


_MORE: Final = ("branch_id", "error", "harness", "finish", "model", "served_model")


def turns_of(messages: Sequence[Message], about: JsonMapping = NOTHING) -> tuple[Turn, ...]:
    """The messages of user and assistant as turns; `about` is recorded about the whole, such as how its end was cut.

    A user's message starts a new number, which the first reply shares; further replies have numbers of their own. An
    assistant's message that only calls tools is not a turn. The `error` in a message's metadata is that of its turn.
    """
    turns = [
        Turn(
            number,
            message.role,
            message.shown,
            error=_error(message),
            finish=_finish(message),
            model=_name(message, "model"),
            served_model=_name(message, "served_model"),
        )
        for number, message in _numbered(messages)
    ]
    if turns and turns[-1].role == "assistant" and turns[-1].finish is None:
        turns[-1] = msgspec.structs.replace(turns[-1], finish=finish_of(about))
    return tuple(turns)


def _error(message: Message) -> Json:
    """The error of a message; None if a log or table says that there is none."""
    error = message.metadata.get("error")
    value = error.strip().lower() if isinstance(error, str) else error
    return None if not value or value in FOR_NOTHING else error


def _name(message: Message, key: str) -> str | msgspec.UnsetType:
    return name if isinstance(name := message.metadata.get(key), str) else msgspec.UNSET


def _finish(message: Message) -> str | None:
    return finish_of(message.metadata) if message.role == "assistant" else None


def _numbered(messages: Sequence[Message]) -> Iterator[tuple[int, Message]]:
    number, answered = 0, True
    for message in messages:
        if not is_turn(message):
            continue
        is_answer = message.role == "assistant"
        number += answered or not is_answer
        answered = is_answer
        yield number, message


def is_turn(message: Message) -> bool:
    """Whether a message is a turn: it is the user's or the assistant's, and does not only call tools."""
    return message.role in SPEAKERS and (not message.tool_calls or bool(message.shown.strip()))


def _message(turn: Turn) -> Message:
    """A turn as a message, with its other fields in `metadata`."""
    role: Role = "assistant" if turn.role == "assistant" else "user"
    return Message(role, (Part(text=turn.content),), metadata={"turn": turn.turn, **turn.more}, usage=turn.usage or {})


class SaidTexts:
    """Texts of messages, in which others are looked up. A text is repeated if it is one of them, a line of one, or a
    long passage of one; white space is ignored. A short one may be in a text by chance: `No` is in `Nothing`."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._lines: set[str] = set()
        self._wholes: list[str] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add what was said."""
        whole = _unspaced(text)
        self._wholes.append(whole)
        self._lines |= {whole, *map(_unspaced, text.split("\n"))}

    def repeat(self, part: str) -> bool:
        """Whether one of the texts repeats `part`; each does if it is empty."""
        wanted = _unspaced(part)
        if not wanted or wanted in self._lines:
            return bool(self._lines)
        self._wholes = ["\n".join(self._wholes)]  # searched as one; they have no white space
        return len(wanted) >= _PASSAGE and wanted in self._wholes[0]


def repeats(text: str, part: str) -> bool:
    """Whether a text repeats `part`, as one of several does."""
    return SaidTexts((text,)).repeat(part)


def _unspaced(text: str) -> str:
    return "".join(text.split())


def digest_of(data: bytes) -> str:
    return f"blake2b:{blake2b(data, digest_size=16).hexdigest()}"


_PASSAGE: Final = 20  # characters
UNKNOWN_MODEL: Final = "unknown"


class Transcript(msgspec.Struct, frozen=True):
    """One conversation as turns, with its path and line; `scenario_id` is empty if it was not played from a scenario.

    `recorded` is the conversation that the turns were taken from, None if only turns were recorded.
    """

    id: str
    scenario_id: str
    model: str
    turns: tuple[Turn, ...]
    path: str = ""
    line: int = 0
    recorded: Conversation | None = None

    @classmethod
    def of(cls, conversation: Conversation, path: str = "", line: int = 0) -> Transcript:
        name, scenario = conversation.id, conversation.scenario_id or ""
        model, turns = conversation.model or UNKNOWN_MODEL, turns_of(conversation.messages, conversation.metadata)
        return cls(name, scenario, model, turns, path, line, conversation)

    @property
    def conversation(self) -> Conversation:
        """The conversation with all its messages: as recorded, or else made from the turns."""
        if self.recorded is not None:
            return self.recorded
        return Conversation(
            self.id, tuple(map(_message, self.turns)), self.scenario_id or None, source=TURNS, model=self.model
        )

    @property
    def simulated_by(self) -> tuple[str, ...]:
        """The models that wrote turns as the user, sorted."""
        if {turn.harness for turn in self.turns if turn.role == "user"} <= {None}:
            return ()
        return tuple(sorted({turn.simulated_by for turn in self.turns} - {""}))

    @property
    def authors(self) -> tuple[str, ...]:
        """The judged model, those that played the user, and the other names that turns, and messages of the assistant
        that only call tools, record for their model, such as that of the model behind an alias."""
        names = {name for turn in self.turns for name in (turn.model, turn.served_model)}
        calling = [each for each in self.recorded.messages if each.tool_calls] if self.recorded else []
        names |= {_name(each, key) for each in calling for key in ("model", "served_model")}
        return (self.model, *self.simulated_by, *sorted(name for name in names if name and isinstance(name, str)))

    @property
    def harness(self) -> str:
        """The harnesses that the turns record, such as `llm/raw`, joined by commas; empty if none is recorded."""
        return ", ".join(sorted({turn.harness for turn in self.turns if turn.harness}))
