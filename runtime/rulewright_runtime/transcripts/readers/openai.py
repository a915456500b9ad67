"""OpenAI: lists of messages, chat completions, fine-tuning examples, logged requests with responses, Responses items.

Anthropic's messages, TRL's prompts with completions and most data sets of messages have the same shape. ShareGPT's
items, with the speaker in `from` and the text in `value`, are read as such messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, SaidTexts
from rulewright_runtime.transcripts.readers.content import as_json, tool_call
from rulewright_runtime.transcripts.readers.message_rows import refuse_confusion, refuse_disorder, refuse_unnamed
from rulewright_runtime.transcripts.readers.payloads import INPUT_KEYS, is_of_langchain, run_messages, talk
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    name_of,
    object_in,
    parsed,
    record_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import (
    EXPECTED,
    KNOWN,
    ROLE_WORDS,
    TIMES,
    Format,
    bot_in,
    calls_in,
    comparable,
    item_messages,
    messages,
    record_by_record,
    refuse_agent,
    role_at,
    unknown_speaker,
)

LISTS: Final = ("messages", "conversation", "conversations", "chat", "dialog", "dialogue", "contents", "user_input")
_BESIDE: Final = ("history", "chat_history", "items", "input", "prompt")  # may repeat the messages
_SYSTEMS: Final = ("system", "systemInstruction", "system_instruction", "instructions")  # next to the messages
ANSWERS: Final = ("response", "output", "completion", "reply", "message")  # next to the messages
_ASKING: Final = ("messages", "contents", *INPUT_KEYS)  # where no list of messages is
_EMPTY: Final[tuple[Json, ...]] = (None, "", [], {})
_REQUESTS: Final = ("request", "body", "request_body", "requestBody")
_RESPONSES: Final = ("response", "result", "response_body", "responseBody")
# The keys of a line's conversation.
CONVERSATION_KEYS: Final = ("conversation_id", "chat_id", "session_id", "thread_id", "dialog_id", "conversation")
SHARED_KEYS: Final = ("model", "scenario_id", *EXPECTED)  # of a whole conversation
_NO_ANSWER: Final = Message("assistant", metadata={"error": "the request has no answer"})
_OF_LINES: Final = KNOWN.union(SHARED_KEYS, TIMES)  # the keys of a line whose meaning is known
_MESSAGE_KEYS: Final = ("role", "content", "type")
NAMES: Final = ("id", "conversation_id", "conversation_hash", "custom_id", "prompt_id", "uuid", "request_id")


def listed(record: Record) -> str | None:
    """The key under which a record holds its messages."""
    return next((key for key in LISTS if is_list(record.get(key)) and _has_roles(record[key])), None)


def _has_roles(values: list[Json]) -> bool:
    return all(is_record(value) and ("role" in value or is_of_langchain(value)) for value in values[:1])


def _is_chat(record: Record) -> bool:
    return listed(record) is not None or _is_completion(record) or _is_response(record) or _is_prompted(record)


def _is_completion(record: Record) -> bool:
    choices = _choices(record)
    return is_list(choices) and any(is_record(choice) and "message" in choice for choice in choices)


def _choices(record: Record) -> Json:
    """The choices of a completion; the candidates of Gemini have a `content` in place of a `message`."""
    candidates = record.get("candidates")
    if not is_list(candidates):
        return record.get("choices")
    return [{"message": {"role": "model", **each["content"]}, **rest(each, "content")}
            if is_record(each) and is_record(each.get("content")) else each for each in candidates]  # fmt: skip


def _is_response(record: Record) -> bool:
    lists = [record[key] for key in ("output", "input", "items") if is_list(record.get(key))]
    return any(all(is_record(each) and ("role" in each or "type" in each) for each in items[:1]) for items in lists)


def _is_exchange(record: Record) -> bool:
    """Whether it is a logged request, response, or both; the body may be one level deeper, as in a batch."""
    held = [_body(record[key]) for key in (*_REQUESTS, *_RESPONSES) if is_record(record.get(key))]
    is_batched = "custom_id" in record and ("response" in record or "result" in record)
    return is_batched or any(_is_chat(each) or _is_message(each) for each in held)


def _failed(response: Record) -> bool:
    """Whether a response, or the result of a batch, is an error."""
    return response.get("error") is not None or word(response.get("type")) in ("errored", "canceled", "expired")


def _is_message(record: Record) -> bool:
    return "role" in record and "content" in record


def _is_prompted(record: Record) -> bool:
    return is_list(record.get("prompt")) and _has_roles(record["prompt"]) and "completion" in record


def _body(record: Record) -> Record:
    """The body of a request or response; the message in a result of Anthropic's batches."""
    body = first_of(record, ("body", "message"))
    return _with_speaker(body if is_record(body) else record)


def _with_speaker(request: Record) -> Record:
    """A request of Gemini whose only content names no role: it is the user's."""
    found = request.get("contents")
    content = found[0] if is_list(found) and len(found) == 1 else found
    if not is_record(content) or "role" in content or "parts" not in content:
        return request
    return {**request, "contents": [{"role": "user", **content}]}


def conversations(record: Record, names: Sequence[str] = ANSWERS) -> Iterator[Conversation]:
    """Yield the conversations in a record: one, or one for each choice of a completion. An answer next to the messages
    is under one of `names`. Raises ShapeError."""
    key = _only_list(record)
    if _is_completion(record):
        key, asked = _question(record)
        for answer, index in _answers(record):
            yield _conversation(record, (*asked, *answer), "choices", "candidates", key, index=index)
    elif _is_exchange(record):
        yield from _exchange(record)
    elif key is not None:
        asked = talk(record[key], key)
        times = (first_of(record[key][at], TIMES) for at in (0, -1) if is_record(record[key][at]))
        refuse_disorder(times, record[key])
        found = (*instructions(record), *asked, *answer_beside(record, asked, key, names))
        yield _conversation(record, found, key, names=names)
    elif _is_message(record):
        yield _conversation(record, tuple(messages(record, "message")), *_MESSAGE_KEYS)
    elif _is_prompted(record):
        completion = record["completion"]
        after = talk(completion, "completion") if is_list(completion) else _one(completion, "assistant")
        yield _conversation(record, (*talk(record["prompt"], "prompt"), *after), "prompt", "completion")
    else:
        yield _conversation(record, tuple(_response(record)), "input", "output", "items", "instructions")


def _only_list(record: Record) -> str | None:
    """The key under which a record holds its messages. Raises ShapeError where a second one holds others, and where
    the choices of a completion hold no message."""
    keys = [key for key in LISTS if is_list(record.get(key)) and record[key] and _has_roles(record[key])]
    for key in keys[1:]:
        if comparable(talk(record[key], key)) != comparable(talk(record[keys[0]], keys[0])):
            raise ShapeError(f"`{keys[0]}` and `{key}` contain different messages")
    others = [key for key in _BESIDE if _lists_messages(record.get(key))] if keys else []
    held = {as_json(each) for key in keys[:1] if others for each in comparable(talk(record[key], key))}
    for key in others:
        if not held.issuperset(map(as_json, comparable(talk(record[key], key)))):
            raise ShapeError(f"`{key}` contains other messages than `{keys[0]}`")
    choices = _choices(record)
    are_options = is_list(choices) and choices and all(map(is_text, choices))  # of a question, not of a completion
    if is_list(choices) and not are_options and not _is_completion(record):
        raise ShapeError(f"`{'candidates' if is_list(record.get('candidates')) else 'choices'}` contains no message")
    return listed(record)


def _lists_messages(value: Json) -> bool:
    return is_list(value) and all(is_record(each) and {"role", "content"} <= each.keys() for each in value)


def instructions(record: Record) -> list[Message]:
    """The message of the system that is next to the messages: a text or parts."""
    value = first_of(record, _SYSTEMS)
    if not isinstance(value, str | list | dict) or not value:
        return []
    content = value if isinstance(value, dict) and "parts" in value else {"content": value}
    return messages({**content, "role": "system"}, next(key for key in _SYSTEMS if record.get(key) is not None))


def answer_beside(record: Record, asked: Sequence[Message], key: str, names: Sequence[str] = ANSWERS) -> list[Message]:
    """The answer that is next to the messages, under one of `names`. Raises ShapeError if they end with another
    answer, or lack tool calls that are next to them."""
    called = {call.name for each in asked for call in each.tool_calls}
    for calls in ("tool_calls", "toolCalls"):
        if _called(record.get(calls)) - called:
            raise ShapeError(f"`{calls}` is not among the messages in `{key}`")
    spoken = SaidTexts(each.shown for each in asked)
    for name in names:
        value = record.get(name)
        if value in _EMPTY or (name == "message" and not is_record(value)):  # a note
            continue
        answer = run_messages({name: value}, (name,), "assistant", name)
        if not answer and asked[-1].role != "assistant":
            raise ShapeError(f"`{name}` contains no message")
        if all(spoken.repeat(each.shown) for each in answer):
            continue
        if asked[-1].role == "assistant":
            raise ShapeError(f"`{name}` is not among the messages in `{key}`")
        return answer
    return []


def _called(calls: Json) -> set[str]:
    """The names of tool calls. Raises ShapeError for one without a name."""
    calls = calls_in(calls)
    return (
        {each if is_text(each) else tool_call(each, "tool_calls").name for each in calls} if is_list(calls) else set()
    )


def answered(record: Record, found: Sequence[Message], names: Sequence[str] = ANSWERS) -> tuple[Message, ...]:
    """The messages, after which an answer is missing where the record says so, by an error or an empty answer."""
    answers = [record[key] for key in names if key in record and key != "message"]  # which may be a note
    is_missing = bool(record.get("error")) or any(each in _EMPTY for each in answers)
    return (*found, _NO_ANSWER) if is_missing and found[-1].role != "assistant" else tuple(found)


def _answers(record: Record) -> Iterator[tuple[list[Message], int | None]]:
    choices = _choices(record)
    for index, value in enumerate(choices):
        choice = record_at(value, f"choices[{index}]")
        answer = messages(choice.get("message"), f"choices[{index}].message")
        if answer[-1].role != "assistant":
            raise ShapeError(f"choices[{index}].message.role is `{answer[-1].role}`; expected `assistant`")
        more = rest(choice, "message", "index", "logprobs")
        last = msgspec.structs.replace(answer[-1], metadata={**answer[-1].metadata, **more})
        yield [*answer[:-1], last], index if len(choices) > 1 else None


def _exchange(record: Record) -> Iterator[Conversation]:
    """Yield the request's messages with each answer of the response."""
    request = _body(record_at(first_of(record, _REQUESTS) or rest(record, *_RESPONSES), "request"))
    response = _body(record_at(first_of(record, _RESPONSES) or {}, "response"))
    asked = _request_messages(request)
    outer = rest(record, *_REQUESTS, *_RESPONSES, *LISTS)
    answers = conversations(response) if response and not _failed(response) else [Conversation("", ())]
    for answer in answers:
        found = (*asked, *answer.messages)
        yield Conversation(
            _name(record) or answer.id,
            (*found, *(() if found and found[-1].role == "assistant" else (_NO_ANSWER,))),
            answer.scenario_id,
            first_of(record, EXPECTED),
            {**rest(request, *LISTS, *_ASKING, "instructions", "model"), **answer.metadata, **outer},
            answer.usage,
            "openai",
            answer.model or word(request.get("model")),
        )


def _question(record: Record) -> tuple[str, tuple[Message, ...]]:
    """The messages of a request, as a list, its JSON text or one text, and their key. Raises ShapeError for a list
    without messages."""
    record = _with_speaker(record)
    key = listed(record)
    if key is None:
        key = next((each for kind in (str | list, dict) for each in _ASKING if _asks(record, each, kind)), "")
        if is_record(record.get(key)):
            return key, (*instructions(record), *_object_messages(record[key], key, "user"))
        if is_list(record.get(key)) and not _has_roles(record[key]):
            raise ShapeError(f"`{key}` contains no messages with a `role`")
    return key, (*instructions(record), *(prompt_messages(record[key]) if key else ()))


def _asks(record: Record, key: str, kind: type | UnionType) -> bool:
    """Whether a value of this type is a question; the object `text` of a request is the format of its answer."""
    return bool(record.get(key)) and isinstance(record[key], kind) and not (key == "text" and kind is dict)


def _object_messages(value: Json, key: str, role: str) -> list[Message]:
    """The messages in an object. Raises ShapeError if there is none."""
    found = run_messages({key: value}, (key,), role, key)
    if not found:
        raise ShapeError(f"`{key}` contains no message")
    return found


def _request_messages(request: Record) -> tuple[Message, ...]:
    if listed(request) is None and ("input" in request or "instructions" in request):
        return tuple(_response(request))
    return _question(request)[1]


def _response(record: Record) -> Iterator[Message]:
    """Yield the messages of the Responses API: instructions, input, output."""
    yield from instructions(record)
    for key in ("items", "input", "output"):
        value = record.get(key)
        if is_record(value) and value:
            yield from _object_messages(value, key, "assistant" if key == "output" else "user")
        elif isinstance(value, str):
            yield from _one(value, "assistant" if key == "output" else "user")
        elif is_list(value):
            for index, item in enumerate(value):
                yield from item_messages(item, f"{key}[{index}]")


def _one(value: object, role: str) -> tuple[Message, ...]:
    return tuple(messages({"role": role, "content": value}, "content"))


def _conversation(
    record: Record, found: tuple[Message, ...], *read: str, index: int | None = None, names: Sequence[str] = ANSWERS
) -> Conversation:
    if not found:
        raise ShapeError("the conversation has no message")
    name = _name(record)
    scenario = record.get("scenario_id") or object_in(record.get("metadata")).get("scenario_id")
    expected = next((key for key in EXPECTED if record.get(key) is not None), None)
    found = answered(record, found, names)
    known = (*read, *(["id"] if name else []), "model", "usage", "scenario_id", *([expected] if expected else []))
    return Conversation(
        name if index is None else f"{name}#{index}",
        found,
        word(scenario) or None,
        record[expected] if expected else None,
        rest(record, *known),
        object_in(record.get("usage")),
        "openai",
        word(record.get("model")),
    )


def _name(record: Record) -> str:
    """The id of a record, if it is a text: a number is not unique outside its file."""
    return next((record[key] for key in NAMES if isinstance(record.get(key), str)), "")


def prompt_messages(prompt: object) -> tuple[Message, ...]:
    """A prompt as messages: from a list of messages, such a list as JSON text, or a user's text."""
    value = parsed(prompt) if isinstance(prompt, str) and prompt.lstrip()[:1] == "[" else prompt
    if is_list(value) and value and _has_roles(value):
        return talk(value, "prompt")
    return _one(prompt if isinstance(prompt, str) else msgspec.json.encode(prompt).decode(), "user")


def read_lines(
    records: Sequence[Record], keys: Sequence[str] = CONVERSATION_KEYS
) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations of a file whose lines are messages: those that the lines name under one of the keys, or
    else one; without keys always one. Data of a whole conversation are taken from the first line that has them, an
    expected answer from the last one: it is that of the last answer."""
    by_name: dict[str, dict[int, Record]] = {}
    bot = bot_in(record.get("role") for record in records)
    for number, record in enumerate(records):
        by_name.setdefault(name_of(first_of(record, keys)), {})[number] = record
    for name, numbered in by_name.items():
        first, lines = next(iter(numbered)), [*numbered.values()]
        shared = {key: line[key] for line in reversed(lines) for key in SHARED_KEYS if line.get(key) not in (None, "")}
        shared |= {key: line[key] for line in lines for key in EXPECTED if line.get(key) not in (None, "")}
        try:
            refuse_unnamed(by_name, name)
            refuse_agent((line.get("role") for line in lines), bot)
            refuse_disorder((first_of(line, TIMES) for line in lines), lines)
            refuse_confusion(lines, [*map(_role, lines)], _OF_LINES, certain=bool(name) or not keys)
        except ShapeError as wrong:
            yield wrong.at(first)
            continue
        for found in _read([{**shared, "id": name, "messages": lines}]):
            if isinstance(found, ShapeError):
                yield _of_line(numbered) or found.at(first)
            else:
                yield replace(found, record=first)


def _role(line: Record) -> str:
    """The role of a message; empty if it is unknown."""
    return ROLE_WORDS.get(word(line.get("role")).strip().lower(), "")


def _of_line(lines: Mapping[int, Record]) -> ShapeError | None:
    """Why the first line with a message that can't be read is refused; None if each can be read."""
    for number, line in lines.items():
        if is_text(role := line.get("role")) and not _role(line):
            return unknown_speaker(role, "message.role").at(number)
        try:
            messages(line, "message")
        except ShapeError as wrong:
            return wrong.at(number)
    return None


_read: Final = record_by_record(conversations)
LINES: Final = Format(
    "messages", lambda record: "role" in record and "content" in record, read_lines, joins=True, local_ids=True
)
FORMAT: Final = Format("openai", lambda record: _is_chat(record) or _is_exchange(record), _read)


def _with_speakers(record: Record) -> str | None:
    return next((key for key in LISTS if is_list(record.get(key)) and _has_speakers(record[key])), None)


def _has_speakers(values: list[Json]) -> bool:
    return bool(values) and is_record(values[0]) and "from" in values[0] and "value" in values[0]


def _of_speakers(record: Record) -> Iterator[Conversation]:
    key = _with_speakers(record) or "conversations"
    items = [_spoken_message(item, f"{key}[{index}]") for index, item in enumerate(record[key])]
    for found in conversations({**record, "id": word(first_of(record, NAMES)) or None, key: items}):
        yield msgspec.structs.replace(found, source="sharegpt", metadata=rest(found.metadata, "system"))


def _spoken_message(value: object, where: str) -> JsonObject:
    """An item as a message of OpenAI."""
    item = record_at(value, where)
    if "value" not in item:
        raise ShapeError(f"{where} has no `value`")
    speaker, value = item.get("from"), item.get("value")
    for key in ("content", "text"):
        if item.get(key) not in (None, value):
            raise ShapeError(f"{where} has a `value` and another `{key}`")
    more = rest(item, "from", "value", "text")
    if speaker == "function_call":
        call = parsed(value) if isinstance(value, str) else value
        return {**more, "role": "assistant", "content": None, "tool_calls": call if is_list(call) else [call]}
    role = "tool" if speaker == "function_response" else role_at(speaker, where, "from")
    if item.get("role") is not None and role_at(item["role"], where) != role:
        raise ShapeError(f"{where} has a `from` and another `role`")
    return {**more, "role": role, "content": value if is_list(value) else text_at(value, f"{where}.value")}


SHAREGPT: Final = Format("sharegpt", lambda record: _with_speakers(record) is not None, record_by_record(_of_speakers))
