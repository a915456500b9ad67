"""Messages in an export of Slack: the text that was shown of each, and the events of a channel."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from rulewright_runtime.strict_json import Json, JsonMapping

_EVENT: Final = re.compile(r"(channel|group)_\w+|bot_(add|remove)|(un)?pinned_item|reminder_add")
_SHOWN: Final = ("pretext", "title", "text", "alt_text")  # keys of blocks and attachments
_INSIDE: Final = ("elements", "fields", "blocks", "accessory", "rows")


def is_slack(row: JsonMapping) -> bool:
    """Whether it is a message in an export of Slack."""
    return row.get("type") == "message" and {"ts", "text"} <= row.keys()


def is_event(row: JsonMapping) -> bool:
    """Whether it is an event of a channel in an export of Slack, which lists events as messages of a member."""
    return row.get("type") == "message" and _EVENT.fullmatch(str(row.get("subtype"))) is not None


def slack_message(row: JsonMapping) -> JsonMapping:
    """A message of an export of Slack without its parts, whose text follows where the message does not repeat it, and
    one of an old bot with the name of its speaker, which is under other keys; any other row as it is."""
    if is_slack(row) and (text := _text_of(row)):
        row = {key: value for key, value in row.items() if not isinstance(value, dict | list)} | {"text": text}
    if row.get("type") != "message" or row.get("subtype") != "bot_message" or "user" in row:
        return row
    return {**row, "user": row.get("username") or row.get("bot_id")}


def _text_of(row: JsonMapping) -> Json:
    """The text of a message, and what only its blocks, attachments and files show; another value as it is."""
    text = html.unescape(row["text"]) if isinstance(row["text"], str) else row["text"]  # `&` is written as `&amp;`
    if not isinstance(text, str | None) or not any(row.get(key) for key in ("blocks", "attachments", "files")):
        return text
    lines = [text] if text else []
    known = _plain(text or "")
    for part in (*_texts(row.get("blocks")), *_texts(row.get("attachments")), *_files(row.get("files"))):
        if _plain(part) not in known:
            lines.append(part)
            known += f"\n{_plain(part)}"
    return "\n".join(lines)


def _plain(text: str) -> str:
    return "".join(text.split())


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts in blocks or attachments, except previews of links."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    if not isinstance(value, dict) or "from_url" in value:
        return
    for key in _SHOWN if "type" in value else (*_SHOWN, "value"):  # the value of a button is not shown
        text = value.get(key)
        if isinstance(text, str):
            yield html.unescape(text)
        else:
            yield from _texts(text)
    for key in _INSIDE:
        yield from _texts(value.get(key))


def _files(value: Json) -> Iterator[str]:
    for each in value if isinstance(value, list) else ():
        is_image = isinstance(each, dict) and str(each.get("mimetype")).startswith("image/")
        yield "[image]" if is_image else "[file]"
