"""An example conversation in lines of text."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rulewright_runtime.strict_json import JsonMapping

LONG: Final = 60  # characters from which on a text is shown line by line
_USUAL: Final = ("scenario_id", "open")  # keys of a scenario that every example has
_SHOWN: Final = ("role", "content", "tool_calls", "tool_call_id", "usage")  # keys of its messages that are shown


def conversation_lines(
    messages: Iterable[JsonMapping],
    scenario: JsonMapping | None = None,
    verdicts: JsonMapping | None = None,
    **more: Any,
) -> Iterator[str]:
    """The scenario and the other verdicts of a conversation, and its messages."""
    shown = {key: value for key, value in (scenario or {}).items() if key not in _USUAL}
    if scenario:
        yield f"scenario: {', '.join(f'{key} {as_json(value)}' for key, value in shown.items())}"
    yield from (f"{name}: {_record(value)}" for name, value in (verdicts or {}).items())
    yield from (f"{name}: {value}" for name, value in more.items())
    yield from map(_message, messages)


def _record(item: Any) -> str:
    """What another check says of a conversation."""
    if isinstance(item, dict):
        return f"{item['verdict']}, confidence {item['confidence']:g}, rationale_code {as_json(item['rationale_code'])}"
    return "no record" if item is None else str(item)


def _message(message: JsonMapping) -> str:
    content = message["content"] if isinstance(message["content"], str) else as_json(message["content"])
    called = ", ".join(
        call["function"]["name"] + call["function"]["arguments"].removesuffix("{}")
        for call in message.get("tool_calls", ())
    )
    more = {key: value for key, value in message.items() if key not in _SHOWN} | message.get("usage", {})
    others = "".join(f", {name} {as_json(value)}" for name, value in more.items())
    return f"{message['role']}: {as_json(content[:LONG])}{_beyond(content)}{called and f', and calls {called}'}{others}"


def _beyond(text: str) -> str:
    return f" ... ({len(text)} characters)" if len(text) > LONG else ""


def as_json(value: object) -> str:
    """A value as JSON on one line; None is `absent`."""
    return "absent" if value is None else json.dumps(value, ensure_ascii=False, default=str)
