"""Shapes: the common part of all chat formats, from JSON values to messages.

Providers and tools write the same data under different keys: a role, content as text or as a list of parts, tool calls
and their results. `messages` reads them all; keys without a field are kept in `Message.metadata`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from shlex import quote
from typing import Final, TypeAlias

import msgspec

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import (
    FOR_NOTHING,
    Conversation,
    Message,
    Part,
    Role,
    ToolCall,
    finish_of,
    repeats,
)
from rulewright_runtime.transcripts.readers.content import Content, attached, tool_call
from rulewright_runtime.transcripts.readers.message_rows import internal_of
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    list_at,
    object_in,
    optional,
    parsed,
    record_at,
    rest,
    shown,
    text_at,
    word,
)

ROLE_WORDS: Final[dict[str, Role]] = {
    "system": "system", "developer": "developer",
    "user": "user", "human": "user", "customer": "user", "client": "user", "visitor": "user",
    "assistant": "assistant", "ai": "assistant", "bot": "assistant", "chatbot": "assistant", "chatgpt": "assistant",
    "gpt": "assistant", "model": "assistant", "agent": "assistant",
    "tool": "tool", "function": "tool", "observation": "tool", "ipython": "tool",
}  # fmt: skip
AGENT: Final = "agent"  # a program, or a person
BOTS: Final = tuple(each for each, role in ROLE_WORDS.items() if role == "assistant" and each != AGENT)
_LONG_NAME: Final = 60
EXPECTED: Final = (
    "expected", "expected_output", "ideal", "ground_truth", "target", "reference_answer", "reference",
)  # fmt: skip


_COMPARED: Final = frozenset(("chosen", "rejected"))  # two chats, or two answers of preference data
_IN_LIST: Final = re.compile(r"(\w+)\[[0-9]+\]")
_NUMBERS: Final = re.compile(r"(?i)(.*[ _])?(id|nr|no|number|date|time)")  # names of columns that nobody speaks in
_PLAIN_NAME: Final = re.compile(r"[^\W_][\w .-]{0,39}")


def columns_hint(names: Sequence[str]) -> str:
    """The option that names the speakers or columns; for two plain names as it may be typed, the user first unless a
    name says otherwise, and not for two answers to compare."""
    option = "`--columns user=NAME,assistant=NAME`"
    if (
        len(names) != 2
        or any(map(_NUMBERS.fullmatch, names))
        or _COMPARED.issuperset(map(str.lower, names))
        or not all(map(_PLAIN_NAME.fullmatch, names))
    ):
        return option
    places = {"user": 0, "assistant": 2}
    user, assistant = sorted(names, key=lambda name: places.get(ROLE_WORDS.get(name.lower(), ""), 1))
    return f"{option}, such as `--columns {quote(f'user={user},assistant={assistant}')}`"


Reader: TypeAlias = Callable[[Sequence[Record]], Iterator[Conversation | ShapeError]]


class Format(msgspec.Struct, frozen=True):
    """A chat format: its name, and functions that recognise and read its records.

    `recognises` says whether a record is of the format. `read` yields conversations, or why one is refused; it gets one
    record or, if a conversation spans several records of a file (`joins`), all of them. With `local_ids` the ids of
    conversations are unique only in their file.
    """

    name: str
    recognises: Callable[[Record], bool]
    read: Reader
    joins: bool = False
    local_ids: bool = False


def attempt(read: Callable[..., Conversation], *given: object) -> Conversation | ShapeError:
    """The conversation that `read` returns, or why there is none."""
    try:
        return read(*given)
    except ShapeError as wrong:
        return wrong


def one_by_one(read: Callable[[Record], Conversation]) -> Reader:
    return lambda records: (attempt(read, record) for record in records)


def each_of(
    items: Callable[[Record], Iterable[tuple[object, str]]], read: Callable[[object, str], Conversation]
) -> Reader:
    """The reader of records with several `items`, each with its path, of which each is one conversation."""
    return lambda records: (attempt(read, value, where) for record in records for value, where in items(record))


def record_by_record(read: Callable[[Record], Iterator[Conversation]]) -> Reader:
    def conversations(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
        for record in records:
            try:
                yield from read(record)
            except ShapeError as wrong:
                yield wrong

    return conversations


def role_at(value: object, where: str, key: str = "role") -> Role:
    """The role for any of its common names; `key` is its key in the record. Raises ShapeError for an unknown one."""
    role = ROLE_WORDS.get(value.strip().lower()) if isinstance(value, str) else None
    if role is None:
        expected = "`system`, `developer`, `user`, `assistant` or `tool`"
        raise ShapeError(f"{where}.{key} is {shown(value)}; expected {expected}{_naming_of(value, where, key)}")
    return role


def _naming_of(speaker: object, where: str, key: str) -> str:
    """The option that names the role of a speaker in a list of messages; empty for any other place."""
    if not is_text(speaker) or not speaker or not (place := _IN_LIST.fullmatch(where)):
        return ""
    keys = "" if key == "role" else f"role={key},content=value,"
    return f"; name its role with `--columns {quote(f'messages={place[1]},{keys}assistant={_option_of(speaker)}')}`"


def _option_of(speaker: str) -> str:
    """The value of `--columns` for a speaker; `*` stands for the end of a long name."""
    return speaker if len(speaker) <= _LONG_NAME else f"{speaker[:_LONG_NAME]}*"


def unknown_speaker(speaker: str, where: str) -> ShapeError:
    """Why a speaker without a role is refused, with the option that names it."""
    user, assistant = (quote(f"{role}={_option_of(speaker) or 'NAME'}") for role in ("user", "assistant"))
    named = f"a speaker that `--columns {user}` or `{assistant}` names"
    return ShapeError(f"{where} is {shown(speaker)}; expected a role, or {named}")


def bot_in(speakers: Iterable[Json]) -> str:
    """The first speaker who can only be the assistant, and no person; empty if there is none."""
    return next((each for each in map(word, speakers) if each.strip().lower() in BOTS), "")


def refuse_agent(speakers: Iterable[Json], named: str = "", option: str = "") -> None:
    """Raise ShapeError where a speaker `agent` may be a person of a service desk, whose messages are not the
    assistant's: next to another word for the assistant, or to the one that is `named` or found elsewhere in the file.
    `option` is what `--columns` needs as well."""
    words = [*dict.fromkeys(map(word, speakers))]
    agent = next((each for each in words if each.strip().lower() == AGENT), None)
    if agent is None:
        return
    if bot := named or bot_in(words):
        options = (quote(f"{option}system={agent}"), quote(f"{option}assistant={bot}|{agent}"))
        raise ShapeError(
            f"`{bot}` is the assistant, so `{agent}` may be a person; say so with `--columns {options[0]}`, or name "
            f"both with `--columns {options[1]}`"
        )


def chat(values: object, where: str = "messages") -> tuple[Message, ...]:
    """The messages in a list of records with roles and contents, in order.

    A record with tool results in addition to text becomes several messages, and one that the other side did not see is
    of the system. Raises ShapeError.
    """
    records = list_at(values, where)
    if notes := internal_of(records):
        records = [
            {**record_at(each, where), "role": "system"} if at in notes else each for at, each in enumerate(records)
        ]
    if not records:
        raise ShapeError(f"`{where}` is empty; a conversation needs at least one message")
    return tuple(message for i, value in enumerate(records) for message in messages(value, f"{where}[{i}]"))


def related(found: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, in which each tool result without a name gets the name of its call, and each thought of the
    assistant that was recorded alone belongs to what the assistant did next."""
    names = {call.id: call.name for message in found for call in message.tool_calls if call.id}
    if not names and not any(map(_only_thinks, found)):
        return tuple(found)
    messages: list[Message] = []
    for message in found:
        if message.role == "tool" and message.name is None and message.tool_call_id in names:
            message = msgspec.structs.replace(message, name=names[message.tool_call_id])
        if message.role == "assistant" and messages and _only_thinks(messages[-1]):
            thoughts = "\n".join(filter(None, [messages.pop().reasoning, message.reasoning])) or None
            message = msgspec.structs.replace(message, reasoning=thoughts)
        messages.append(message)
    return tuple(messages)


def _only_thinks(message: Message) -> bool:
    if message.reasoning is None or message.role != "assistant":
        return False
    return not (message.shown.strip() or message.tool_calls or message.metadata.get("error"))


def ended(found: Sequence[Message], record: Record) -> list[Message]:
    """The messages, the last of which is not whole if the record around it says so."""
    end = finish_of(record) if found else None
    if end is None:
        return list(found)
    return [*found[:-1], msgspec.structs.replace(found[-1], metadata={**found[-1].metadata, "finish": end})]


def comparable(found: Sequence[Message]) -> list[object]:
    """What was said and done in messages, without ids and metadata, for comparison."""
    return [
        (each.role, each.parts, [(call.name, call.arguments) for call in each.tool_calls], each.refusal)
        for each in found
    ]


TIMES: Final = ("timestamp", "created_at", "createdAt", "time", "date")


KNOWN: Final = frozenset((
    "role", "content", "parts", "name", "tool_calls", "function_call", "tool_call_id", "reasoning", "reasoning_content",
    "thinking", "refusal", "usage", "timestamp", "type", "audio", "toolInvocations", "experimental_attachments",
    "invalid_tool_calls",
))  # fmt: skip
_PLAIN: Final = {"role", "content"}
_BESIDE: Final = frozenset(("parts", "audio", "toolInvocations", "experimental_attachments"))  # the content
_TEXTS: Final = frozenset(("content", "text", "value", "message", "body"))  # next to the content, in any case
_OF_PASSAGES: Final = ("text", "content", "page_content", "pageContent", "passage", "chunk", "context", "body")
_CAMEL_CASE: Final = {"toolCalls": "tool_calls", "toolCallId": "tool_call_id"}
_NESTED: Final = ("replies", "messages", "children", "thread")
SAYING: Final = _BESIDE | {"content", "tool_calls", "invalid_tool_calls", "function_call", "refusal"}


def passages(value: object) -> Iterator[Message]:
    """Yield retrieved passages, a text or a list of texts or of objects with one, as the result of a tool; nothing
    without any text. Raises ShapeError for a passage that holds no text."""
    listed = value if is_list(value) else [value]
    text = "\n\n".join(filter(None, map(_passage, listed)))
    if text:
        more = {"passages": value} if any(map(is_record, listed)) else {}
        yield Message("tool", (Part(text=text),), "retrieval", metadata=more)


def document_in(value: Record) -> Record:
    """The document in a search result of LlamaIndex or a serialised object of LangChain; else the value itself."""
    return next((each for key in ("document", "node", "kwargs") if is_record(each := value.get(key))), value)


def _passage(value: object) -> str:
    if value is None or value == "":
        return ""
    text = word(first_of(document_in(value), _OF_PASSAGES) if is_record(value) else value)
    if not text:
        raise ShapeError(f"a passage is {shown(value)}; expected a text, or an object with a `text`")
    return text


def messages(value: object, where: str) -> list[Message]:
    """The messages in one record: the tool results it contains, then the message itself. Raises ShapeError."""
    record = record_at(value, where)
    if record.keys() == _PLAIN and is_text(record["content"]):  # as most messages are
        return [Message(role_at(record["role"], where), (Part(text=record["content"]),))]
    record = _with_usual_calls(_with_blocks(record))
    if SAYING.isdisjoint(record):
        raise ShapeError(f"{where} has no `content`")
    read = Content(where)
    for content in _contents(record, where):
        read.add(content)
    read.parts += [] if any(part.text or part.kind != "text" for part in read.parts) else attached(record)
    role = role_at(record.get("role"), where)
    message = Message(
        role,
        tuple(read.parts),
        optional(record.get("name")),
        (*_calls(record, where), *read.calls),
        optional(record.get("tool_call_id")),
        "\n".join(filter(None, [_reasoning(record), *read.reasoning])) or _hidden(read),
        "\n".join(filter(None, [text_at(record.get("refusal"), f"{where}.refusal"), *read.refusals])) or None,
        {key: value for key, value in record.items() if key not in KNOWN and value is not None} | read.more,
        object_in(record.get("usage")),
        optional(record.get("timestamp")),
    )
    for key in ("text", "value", *(key for key in message.metadata if key.lower() in _TEXTS)):
        if is_text(record.get(key)) and not repeats(message.shown, record[key]):
            raise ShapeError(f"{where} has a `content` and another `{key}`")
    for key in filter(message.metadata.__contains__, _NESTED):
        if is_list(inner := record[key]) and any(is_record(each) and not SAYING.isdisjoint(each) for each in inner):
            raise ShapeError(f"{where}.{key} contains messages; put each in the list that it belongs to")
    if not read.results:
        return [message]
    calls = [Message(role, tool_calls=message.tool_calls)] if message.tool_calls else []  # before their results
    reply = msgspec.structs.replace(message, tool_calls=())
    return [*calls, *read.results, *([reply] if reply.shown.strip() or reply.reasoning else [])]


def _with_blocks(record: JsonObject) -> JsonObject:
    """A message of LlamaIndex, whose parts are its `blocks`, with the common keys; any other record as it is."""
    blocks = record.get("blocks")
    if (
        "content" in record
        or not is_list(blocks)
        or not all(is_record(each) and "block_type" in each for each in blocks)
    ):
        return record
    parts = [{**rest(each, "block_type"), "type": each["block_type"]} for each in map(object_in, blocks)]
    return {**rest(record, "blocks"), "parts": parts}


def _with_usual_calls(record: JsonObject) -> JsonObject:
    """A message of a JavaScript library, whose tool calls are under `toolCalls`, with the common keys."""
    names = {key: usual for key, usual in _CAMEL_CASE.items() if key in record and usual not in record}
    return {names.get(key, key): value for key, value in record.items()} if names else record


def _hidden(read: Content) -> str | None:
    """The empty reasoning of a message that holds nothing but a thought whose words the provider hides; else None."""
    return "" if read.reasoning and not (read.parts or read.calls or read.results or read.refusals) else None


def item_messages(value: object, where: str) -> list[Message]:
    """The messages in one item of the Responses API; a call or reasoning is a message of the assistant."""
    item = record_at(value, where)
    if item.get("type", "message") == "message" or "role" in item:
        return messages(item, where)
    return messages({"role": "assistant", "content": [item]}, where)


def _contents(record: Record, where: str) -> list[Json]:
    """What is under `content` and `parts`: both, unless the parts repeat the text; then spoken audio, and what the
    AI SDK before its version 5 stores besides them."""
    if _BESIDE.isdisjoint(record):
        return [record["content"]] if "content" in record else []
    found = [record[key] for key in ("content", "parts") if record.get(key) is not None]
    if len(found) == 2 and is_list(found[1]):
        texts = [
            part if isinstance(part, str) else part.get("text") for part in found[1] if isinstance(part, str | dict)
        ]
        found = found[1:] if found[0] == "".join(filter(is_text, texts)) else found
    if is_record(record.get("audio")):
        found.append({**record["audio"], "type": "audio"})
    called = list_at(record.get("toolInvocations") or [], f"{where}.toolInvocations") if "parts" not in record else []
    attached = list_at(record.get("experimental_attachments") or [], f"{where}.experimental_attachments")
    found += [{"type": "tool-invocation", "toolInvocation": each} for each in called]
    return found + [{**record_at(each, f"{where}.experimental_attachments"), "type": "file"} for each in attached]


def _reasoning(record: Record) -> str:
    value = first_of(record, ("reasoning_content", "reasoning", "thinking"))
    return value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()


def calls_in(value: Json) -> Json:
    """Tool calls as a list: also those in JSON text, and a single one; None for a text that says that there is none."""
    if is_text(value):
        value = None if value.strip().lower() in ("", "[]", "{}", *FOR_NOTHING) else parsed(value) or value
    return [value] if is_record(value) else value


def _calls(record: Record, where: str) -> list[ToolCall]:
    calls = calls_in(record.get("tool_calls") or object_in(record.get("additional_kwargs")).get("tool_calls"))
    found = [] if calls is None else list_at(calls, f"{where}.tool_calls")
    if record.get("function_call") is not None:
        found = [*found, record["function_call"]]
    if is_list(invalid := record.get("invalid_tool_calls")):  # of LangChain: their arguments are not JSON
        found = [*found, *invalid]
    return [tool_call(call, f"{where}.tool_calls[{at}]") for at, call in enumerate(found)]
