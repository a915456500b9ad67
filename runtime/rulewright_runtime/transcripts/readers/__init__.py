"""Readers: each module reads the conversations of one format or of a few alike; a format is a line in `FORMATS`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import Final

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import OutageError
from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.containers import is_messages
from rulewright_runtime.transcripts.readers import (
    agent_sessions,
    chat_apps,
    evaluation_tools,
    native,
    openai,
    plain_text,
    service_exports,
    spans,
    tracing_tools,
)
from rulewright_runtime.transcripts.readers.columns import FIELDS
from rulewright_runtime.transcripts.readers.payloads import is_of_langchain
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    is_list,
    is_record,
    is_text,
    object_in,
    record_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.slack import is_slack

LINES: Final = openai.LINES
_PRINTED: Final = re.compile(r"""\s*\[\s*\{\s*'""")  # a list of dicts
# In the order in which they are tried: the most specific formats first.
FORMATS: Final = (
    native.FORMAT,
    plain_text.FORMAT,
    agent_sessions.ATIF,
    evaluation_tools.INSPECT,
    evaluation_tools.PROMPTFOO,
    evaluation_tools.OPENAI_EVALS,
    evaluation_tools.DEEPEVAL,
    tracing_tools.LANGSMITH,
    tracing_tools.BRAINTRUST,
    tracing_tools.LANGFUSE,
    tracing_tools.AGENTS,
    chat_apps.CHATGPT,
    chat_apps.CLAUDE,
    agent_sessions.SESSIONS,
    spans.FORMAT,
    *service_exports.FORMATS,
    openai.SHAREGPT,
    openai.FORMAT,
    LINES,
)


def format_of(record: Record) -> Format | None:
    """The format of a record, built-in or of a plug-in; None if no reader recognises it."""
    return next((each for each in FORMATS if each.recognises(record)), None) or _plug_in_format(record)


def _plug_in_format(record: Record) -> Format | None:
    """The plug-in format of a record; None for a chat of the native format and for a row of a table."""
    if is_turns(record) or not any(isinstance(value, dict | list) for value in record.values()):
        return None
    from rulewright_runtime.transcripts.readers.plug_in_formats import plug_in_formats

    return next((each for each in plug_in_formats() if _recognises(each, record)), None)


def _recognises(format: Format, record: Record) -> bool:
    try:
        return format.recognises(record) is True
    except OutageError:
        raise
    except Exception:  # a plug-in that fails does not recognise the record
        return False


def is_turns(record: Record) -> bool:
    """Whether it is a line of the native format: a turn, or a conversation with `turns`."""
    is_numbered = "turn" in record and ("role" in record or "content" in record)
    return has_turns(record) or (is_numbered and not any(key in record for key in openai.CONVERSATION_KEYS))


def has_turns(record: Record) -> bool:
    """Whether it is a conversation of the native format; those of DeepEval also have `turns`."""
    is_count = isinstance(record.get("turns"), int | float)
    return "turns" in record and not is_count and not evaluation_tools.is_talk(record)


def unknown(record: Record) -> str:
    """The error message for a record that no reader recognises."""
    if reason := not_json(record):
        return reason
    keys = ticked(key[:30] for key in list(record)[:6])
    more = f" and {len(record) - 6} more" if len(record) > 6 else ""
    shape = f"an object with the keys {keys}{more}" if record else "an empty object"
    return f"unknown shape: {shape}; expected {EXPECTED}{_mapping_of(record)}"


def not_json(record: Record) -> str:
    """Why the messages of a record are refused whose list is a text that is not JSON; empty for any other record."""
    texts = ((key, value) for key in openai.LISTS if is_text(value := record.get(key)))
    key = next((key for key, text in texts if _PRINTED.match(text)), None)
    return f"`{key}` is a list as Python prints it, not JSON; write it with `json.dumps`" if key else ""


def _paths_in(record: Record, depth: int = 3) -> Iterator[tuple[str, Json]]:
    """Yield the keys of a record with their values, inside objects as paths."""
    for key, value in record.items():
        yield key, value
        if is_record(value) and depth > 1:
            yield from ((f"{key}.{path}", inner) for path, inner in _paths_in(value, depth - 1))


def _items_in(record: Record) -> tuple[str, Record] | None:
    """The path of the longest list of objects in a record, which may be its messages, and its first item, if that holds
    a text."""
    lists = {
        path: value for path, value in _paths_in(record) if is_list(value) and value and all(map(is_record, value))
    }
    path = max(lists, key=lambda each: len(lists[each]), default=None)
    item = {} if path is None else record_at(lists[path][0], path)
    return (path[:60], item) if path and _texts_in(item) else None


def _named_in(item: Record) -> list[str]:
    """The mapping of an item's speaker and text, unless they are under `role` and `content` or as in LangChain:
    to their keys if usual."""
    if is_of_langchain(item):
        return []
    usual = {"role": (*FIELDS["role"], "from"), "content": FIELDS["content"]}
    keys = {field: next((each for each in names if is_text(item.get(each))), "KEY") for field, names in usual.items()}
    return [f"{field}={key}" for field, key in keys.items() if field not in item]


def _texts_in(record: Record) -> list[str]:
    return [path[:40] for path, value in _paths_in(record) if is_text(value)][:8]


def _answer_in(record: Record) -> str | None:
    """The path of an answer next to the messages: an object that names the assistant as its role."""
    found = (path for path, value in _paths_in(record, 4) if is_record(value) and _is_answer(value))
    return next((path for path in found if not set(openai.ANSWERS).isdisjoint(path.split("."))), None)


def _is_answer(value: Record) -> bool:
    return word(value.get("role")) == "assistant" and bool(value.get("content"))


def _inner_list(items: Json) -> str:
    """The mapping of a list of conversations, which the items of a list may be."""
    inner = _items_in(record_at(items[0], "item")) if is_list(items) and items else None
    return "" if inner is None else f"; if it is a conversation, write `messages={inner[0]}`"


def _is_keyed(record: Record) -> bool:
    """Whether it holds records by number or column, as pandas writes them, or conversations by name."""
    schema, values = record.get("schema"), list(record.values())
    if is_list(record.get("data")) and (is_list(record.get("columns")) or (is_record(schema) and "fields" in schema)):
        return True
    rows = [value for value in values if is_record(value) and value]
    if len(values) < 2 or len(rows) < len(values):
        return len(values) > 1 and all(map(is_messages, values))
    is_numbered = all(map(str.isdecimal, record)) or all(all(map(str.isdecimal, row)) for row in rows)
    return is_numbered or all(openai.listed(row) is not None for row in rows)


def _sessions_in(record: Record) -> tuple[str, str] | None:
    """The key of a list whose items each hold a list of messages, and the key of that; empty if each is such a list."""
    for key, items in record.items():
        if not is_list(items) or not items:
            continue
        if all(map(is_messages, items)):
            return key, ""
        keys = items[0] if all(map(is_record, items)) else ()
        inner = next((each for each in keys if all(is_messages(object_in(item).get(each)) for item in items)), None)
        if inner is not None:
            return key, inner
    return None


def _joining_of(key: str, inner: str) -> str:
    path = quote(f"messages={key}[]{'.' if inner else ''}{inner}")
    each = f"`--columns {quote(f'messages={inner}')}`" if inner else "a line of each"
    return f" (items of `{key}` contain messages: write `--columns {path}` for one conversation, {each} for several)"


def _mapping_of(record: Record) -> str:
    """The option that reads a record of any shape; empty for one that can hold no conversation."""
    if is_slack(record):
        return " (an export of Slack is read with `--columns role=user,content=text,user=MEMBER,assistant=MEMBER`)"
    if (sessions := _sessions_in(record)) is not None:
        return _joining_of(*sessions)
    if {"chosen", "rejected"} <= record.keys():
        one, prompt = record["chosen"], record.get("prompt")
        exchange = "user=prompt,assistant=chosen" if is_text(one) and prompt else "messages=chosen"
        pairs = "messages=prompt+chosen" if is_list(one) and is_list(prompt) else exchange
        return f" (read one of the two answers: name it with `--columns {pairs}`)"
    if _is_keyed(record):
        return (
            ' (it contains several records in one object: write a list of them, as pandas does with `orient="records"`)'
        )
    is_nested = any(isinstance(value, dict | list) and value for value in record.values())
    pairs = "user=KEY,assistant=KEY` or `role=KEY,content=KEY`"
    if is_nested:
        if (items := _items_in(record)) is not None:
            path, item = items
            answer = _answer_in(record)
            named = [f"messages={path}", *_named_in(item)]
            pairs = ",".join([*named, *([f"assistant={answer}"] if answer else [])])
            keys = f"an item of `{path}` has {ticked(_texts_in(item))}{_inner_list(record.get(path))}"
            return f" (name your keys with `--columns {pairs}`; {keys})"
        paths = " or `user=KEY.KEY,assistant=KEY.KEY`" * any(isinstance(value, dict) for value in record.values())
        pairs = f"messages=KEY,role=KEY,content=KEY`{paths}"
    return f" (name your keys with `--columns {pairs})" if is_nested or len(record) > 1 else ""


EXPECTED: Final = (
    "`messages` with `role` and `content`, `conversations` with `from` and `value`, `turns`, or a format of "
    "`rulewright inspect-data --help`"
)
