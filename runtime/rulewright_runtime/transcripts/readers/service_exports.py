"""Exports of services in which people and bots talk: calls of Vapi and Retell, chats of Intercom and Teams.

What nobody said to the other side, an event or an internal note, is a message of the system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from rulewright_runtime.english import plural
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.content import text_of_markup
from rulewright_runtime.transcripts.readers.message_rows import refuse_disorder
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    list_at,
    object_in,
    record_at,
    records_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import (
    ROLE_WORDS,
    Format,
    attempt,
    chat,
    record_by_record,
)

_SPEAKERS: Final = {"lead": "user", "contact": "user", "admin": "assistant", "team": "assistant"}  # of Intercom


def _text_of(subject: str, text: str, record: Record) -> str:
    """What a message says: its subject, its text, the content of cards, and a placeholder for any other attachment."""
    cards = [
        word(each.get("content")) if ".card." in word(each.get("contentType")) else ""
        for each in _items(record, "attachments")
    ]
    return "\n".join(filter(None, [subject, text, *(card or "[attachment]" for card in cards)]))


def _items(record: Record, *path: str) -> list[JsonObject]:
    """The objects in the list under these keys; none where a key is missing. Raises ShapeError for other values."""
    for key in path[:-1]:
        record = record_at(record.get(key) or {}, key)
    return records_at(record.get(path[-1]), path[-1])


def _vapi_items(record: Record) -> list[JsonObject]:
    call = object_in(record.get("message")) or record  # in a message to a server
    items, others = _items(call, "artifact", "messages"), _items(call, "messages")
    return _fuller("`artifact` contains other messages than `messages`", items, others, "message")


def _fuller(why: str, one: list[JsonObject], other: list[JsonObject], content: str) -> list[JsonObject]:
    """The longer of two lists of the same messages. Raises ShapeError if it lacks some of the other one."""
    most, least = (one, other) if len(one) >= len(other) else (other, one)
    messages = Counter((word(each.get("role")), str(each.get(content))) for each in most)
    if Counter((word(each.get("role")), str(each.get(content))) for each in least) - messages:
        raise ShapeError(why)
    return most


def _vapi(record: Record) -> Iterator[JsonObject]:
    for at, item in enumerate(_vapi_items(record)):
        role = word(item.get("role"))
        texts = [item[key] for key in ("message", "result", "content", "transcript") if item.get(key)]
        if any(each != texts[0] for each in texts):
            raise ShapeError(f"messages[{at}] has two different texts")
        yield {
            "role": {"tool_calls": "assistant", "tool_call_result": "tool"}.get(role, role),
            "content": texts[0] if texts else "",
            "tool_calls": item.get("toolCalls"),
            "tool_call_id": item.get("toolCallId"),
            "name": item.get("name"),
            "timestamp": item.get("time"),
        }


def _retell(record: Record) -> Iterator[JsonObject]:
    lists = _items(record, "transcript_with_tool_calls"), _items(record, "transcript_object")
    why = "`transcript_with_tool_calls` contains other utterances than `transcript_object`"
    for item in _fuller(why, *lists, "content"):
        role, content = word(item.get("role")).lower(), first_of(item, ("content", "digit"))
        if role == "tool_call_invocation":
            call = {"id": item.get("tool_call_id"), "name": item.get("name"), "arguments": item.get("arguments")}
            yield {"role": "assistant", "content": content, "tool_calls": [call]}
        elif role == "tool_call_result":
            yield {"role": "tool", "content": content, "tool_call_id": item.get("tool_call_id")}
        elif content is None and role not in ROLE_WORDS:
            yield {"role": "system", "content": role, "name": role}
        else:
            yield {"role": "user" if role in ("transfer_target", "dtmf") else role, "content": content}


def _intercom(record: Record) -> Iterator[JsonObject]:
    inner = record_at(record["conversation_parts"], "conversation_parts")
    listed = list_at(inner.get("conversation_parts"), "conversation_parts.conversation_parts")
    total = word(inner.get("total_count")).removesuffix(".0")
    if total.isdecimal() and int(total[:20]) > len(listed):
        raise ShapeError(
            f"`conversation_parts` contains {len(listed)} of {plural(int(total[:20]), 'part')}; export all of them"
        )
    parts = _items(inner, "conversation_parts")
    refuse_disorder(part.get("created_at") for part in parts)
    for part in [record_at(record.get("source"), "source"), *parts]:
        author, kind = object_in(part.get("author")), word(part.get("part_type"))
        text = _text_of(text_of_markup(part.get("subject"), "subject"), text_of_markup(part.get("body"), "body"), part)
        role = _SPEAKERS.get(word(author.get("type")), author.get("type"))
        event = not text or kind.startswith("note")
        yield {
            "role": "system" if event else role,
            "content": text or kind,
            "name": kind if event else author.get("name"),
            "timestamp": part.get("created_at") or record.get("created_at"),
        }


def _teams_message(item: Record) -> JsonObject:
    body, speaker = record_at(item.get("body") or {}, "body"), object_in(item.get("from"))
    content, kind = body.get("content"), word(item.get("messageType"))
    is_html = word(body.get("contentType")).lower() == "html"
    text = text_of_markup(content, "body.content") if is_html else text_at(content, "body.content").strip()
    text = _text_of(text_at(item.get("subject"), "subject"), text, item)
    who = next((key for key in (*_TEAMS, *speaker) if is_record(speaker.get(key))), "nobody")
    return {
        "role": _TEAMS.get(who, who) if text and kind.lower() in ("message", "") else "system",
        "content": text or kind,
        "name": next((word(each.get("displayName")) for each in speaker.values() if is_record(each)), None),
        "timestamp": item.get("createdDateTime"),
    }


_TEAMS: Final = {"application": "assistant", "user": "user"}


def _is_of_teams(record: object) -> bool:
    return is_record(record) and {"messageType", "createdDateTime", "body", "from"} <= record.keys()


def _is_page(record: Record) -> bool:
    values = record.get("value")
    return is_list(values) and any(map(_is_of_teams, values))


def _teams(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    """Yield the chats and the threads of channels, each in the order of its times: Graph lists the last one first."""
    threads: dict[str, list[Record]] = {}
    for page, following in zip(records, [*records[1:], {}], strict=True):
        is_followed = "value" in following and following.get("@odata.context") == page.get("@odata.context")
        if page.get("@odata.nextLink") and not is_followed:
            raise ShapeError("more messages are under `@odata.nextLink`; write all pages to one file, in order")
        for record in _items(page, "value") or [{**page}]:
            if record.get("replies@odata.nextLink"):
                raise ShapeError("more replies are under `replies@odata.nextLink`; export all of them")
            thread = word(record.get("chatId")) or word(record.get("replyToId")) or word(record.get("id"))
            threads.setdefault(thread, []).extend([record, *_items(record, "replies")])
    for name, found in threads.items():
        yield attempt(_thread, name, found)


def _thread(name: str, found: list[Record]) -> Conversation:
    try:
        found.sort(key=lambda each: datetime.fromisoformat(word(each.get("createdDateTime"))))
    except (TypeError, ValueError):
        raise ShapeError("a `createdDateTime` is not a time") from None
    return Conversation(name, chat(_filled(map(_teams_message, found))), source="teams")


def _filled(items: Iterable[JsonObject]) -> list[JsonObject]:
    return [{key: value for key, value in item.items() if value is not None or key == "content"} for item in items]


def _read(name: str, items_of: Callable[[Record], Iterable[JsonObject]], record: Record) -> Iterator[Conversation]:
    call = object_in(object_in(record.get("message")).get("call"))
    about = rest(record, "messages", "message", "artifact", "source", "conversation_parts", "transcript_object")
    number = next(filter(None, map(word, (record.get("id"), record.get("call_id"), call.get("id")))), "")
    yield Conversation(
        number, chat(_filled(items_of(record))), metadata=rest(about, "id", "transcript_with_tool_calls"), source=name
    )


def _format(
    name: str, recognises: Callable[[Record], bool], items_of: Callable[[Record], Iterable[JsonObject]]
) -> Format:
    return Format(name, recognises, record_by_record(partial(_read, name, items_of)))


def _is_of_vapi(record: Record) -> bool:
    call = object_in(record.get("message")) or record
    lists = (object_in(call.get("artifact")).get("messages"), call.get("messages"))
    values = next((each for each in lists if is_list(each) and each), [])
    return any(is_record(each) and "secondsFromStart" in each and "content" not in each for each in values[:1])


FORMATS: Final = (
    _format("vapi", _is_of_vapi, _vapi),
    _format("retell", lambda record: is_list(record.get("transcript_object")), _retell),
    _format("intercom", lambda record: {"source", "conversation_parts"} <= record.keys(), _intercom),
    Format("teams", lambda record: _is_of_teams(record) or _is_page(record), _teams, joins=True),
)
