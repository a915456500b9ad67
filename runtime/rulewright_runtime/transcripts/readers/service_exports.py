"""Exports of services in which people and bots talk: calls of Vapi and Retell, chats of Intercom and Teams.

What nobody said to the other side, an event or an internal note, is a message of the system.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_list,
    is_record,
    list_at,
    object_in,
    record_at,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, attempt, chat, record_by_record

_BREAK: Final = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/tr)\b[^<>]*>", re.IGNORECASE)
_TAG: Final = re.compile(  # of markup in messages; anything else between angle brackets was said
    r"</?(?:a|at|attachment|b|blockquote|br|code|codeblock|div|em|emoji|font|h[1-6]|hr|i|img|li|ol|p|pre|s|span|strong"
    r"|sub|sup|systemeventmessage|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>=]*+=[^<>]*+|\s*+/?)>",
    re.IGNORECASE,
)
_SPEAKERS: Final = {"lead": "user", "contact": "user", "admin": "assistant", "team": "assistant"}  # of Intercom, beside


def _text(markup: object) -> str:
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", word(markup)))).strip()


def _items(record: Record, *path: str) -> list[JsonObject]:
    """The objects in the list under these keys; none if there is no such list."""
    for key in path[:-1]:
        record = object_in(record.get(key))
    values = record.get(path[-1])
    return [record_at(value, f"{path[-1]}[{at}]") for at, value in enumerate(values)] if is_list(values) else []


def _vapi_items(record: Record) -> list[JsonObject]:
    call = object_in(record.get("message")) or record  # in a message to a server
    items, others = _items(call, "artifact", "messages"), _items(call, "messages")
    return _fuller("`artifact` holds other messages than `messages`", items, others, "message")


def _fuller(why: str, one: list[JsonObject], other: list[JsonObject], content: str) -> list[JsonObject]:
    """The longer of two lists of the same messages. Raises ShapeError if it lacks some of the other one."""
    most, least = (one, other) if len(one) >= len(other) else (other, one)
    said = Counter((word(each.get("role")), word(each.get(content))) for each in most)
    if Counter((word(each.get("role")), word(each.get(content))) for each in least) - said:
        raise ShapeError(why)
    return most


def _vapi(record: Record) -> Iterator[JsonObject]:
    for item in _vapi_items(record):
        role = word(item.get("role"))
        yield {
            "role": {"tool_calls": "assistant", "tool_call_result": "tool"}.get(role, role),
            "content": item.get("result") if role == "tool_call_result" else item.get("message"),
            "tool_calls": item.get("toolCalls"),
            "tool_call_id": item.get("toolCallId"),
            "name": item.get("name"),
            "timestamp": item.get("time"),
        }


def _retell(record: Record) -> Iterator[JsonObject]:
    lists = _items(record, "transcript_with_tool_calls"), _items(record, "transcript_object")
    why = "`transcript_with_tool_calls` holds other utterances than `transcript_object`"
    for item in _fuller(why, *lists, "content"):
        role = word(item.get("role"))
        if role == "tool_call_invocation":
            call = {"id": item.get("tool_call_id"), "name": item.get("name"), "arguments": item.get("arguments")}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        elif role == "tool_call_result":
            yield {"role": "tool", "content": item.get("content"), "tool_call_id": item.get("tool_call_id")}
        elif role in ("agent", "user", "transfer_target"):
            yield {"role": "user" if role == "transfer_target" else role, "content": item.get("content")}
        else:
            yield {"role": "system", "content": role, "name": role}


def _intercom(record: Record) -> Iterator[JsonObject]:
    parts = _items(record, "conversation_parts", "conversation_parts")
    total = object_in(record["conversation_parts"]).get("total_count")
    if isinstance(total, int) and total > len(parts):
        raise ShapeError(f"`conversation_parts` holds {len(parts)} of {total} parts; export all of them")
    for part in [record_at(record.get("source"), "source"), *parts]:
        author, kind = object_in(part.get("author")), word(part.get("part_type"))
        said = _text(part.get("body")) or "[attachment]" * bool(part.get("attachments"))
        role = _SPEAKERS.get(word(author.get("type")), author.get("type"))
        event = not said or kind == "note"
        yield {
            "role": "system" if event else role,
            "content": said or kind,
            "name": kind if event else author.get("name"),
            "timestamp": part.get("created_at") or record.get("created_at"),
        }


def _teams_message(item: Record) -> JsonObject:
    body, speaker = object_in(item.get("body")), object_in(item.get("from"))
    content = body.get("content")
    said = _text(content) if word(body.get("contentType")).lower() == "html" else word(content).strip()
    said = said or "[attachment]" * bool(item.get("attachments"))
    role = next((role for key, role in _TEAMS.items() if is_record(speaker.get(key))), "system")
    kind = word(item.get("messageType"))
    return {
        "role": role if said and kind == "message" else "system",
        "content": said or kind,
        "name": next((word(each.get("displayName")) for each in speaker.values() if is_record(each)), None),
        "timestamp": item.get("createdDateTime"),
    }


_TEAMS: Final = {"application": "assistant", "user": "user"}


def _is_of_teams(record: object) -> bool:
    return is_record(record) and {"messageType", "createdDateTime", "body", "from"} <= record.keys()


def _teams(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    """Yield the chats and the threads of channels, each in the order of its times: Graph lists the last one first."""
    threads: dict[str, list[Record]] = {}
    for record in (each for page in records for each in (_items(page, "value") or [{**page}])):
        thread = word(record.get("chatId")) or word(record.get("replyToId")) or word(record.get("id"))
        threads.setdefault(thread, []).append(record)
    for name, found in threads.items():
        yield attempt(_thread, name, found)


def _thread(name: str, found: list[Record]) -> Conversation:
    try:
        found.sort(key=lambda each: datetime.fromisoformat(word(each["createdDateTime"])))
    except (TypeError, ValueError):
        raise ShapeError("a `createdDateTime` is no time") from None
    return Conversation(name, chat(_filled(map(_teams_message, found))), source="teams")


def _filled(items: Iterable[JsonObject]) -> list[JsonObject]:
    return [{key: value for key, value in item.items() if value is not None or key == "content"} for item in items]


def _read(name: str, told: Callable[[Record], Iterable[JsonObject]], record: Record) -> Iterator[Conversation]:
    call = object_in(object_in(record.get("message")).get("call"))
    about = rest(record, "messages", "message", "artifact", "source", "conversation_parts", "transcript_object")
    number = next(filter(None, map(word, (record.get("id"), record.get("call_id"), call.get("id")))), "")
    yield Conversation(
        number, chat(_filled(told(record))), metadata=rest(about, "id", "transcript_with_tool_calls"), source=name
    )


def _format(name: str, recognises: Callable[[Record], bool], told: Callable[[Record], Iterable[JsonObject]]) -> Format:
    return Format(name, recognises, record_by_record(partial(_read, name, told)))


def _is_of_vapi(record: Record) -> bool:
    call = object_in(record.get("message")) or record
    lists = (object_in(call.get("artifact")).get("messages"), call.get("messages"))
    values = next((each for each in lists if is_list(each) and each), [])
    return any(is_record(each) and "secondsFromStart" in each and "content" not in each for each in values[:1])


FORMATS: Final = (
    _format("vapi", _is_of_vapi, _vapi),
    _format("retell", lambda record: is_list(record.get("transcript_object")), _retell),
    _format("intercom", lambda record: {"source", "conversation_parts"} <= record.keys(), _intercom),
    Format(
        "teams",
        lambda record: _is_of_teams(record) or any(map(_is_of_teams, _items_of_page(record))),
        _teams,
        joins=True,
    ),
)


def _items_of_page(record: Record) -> list[object]:
    values = record.get("value")
    return [*list_at(values, "value")[:1]] if is_list(values) else []
