"""A chat completion that arrives as a stream of server-sent events, joined to the one that it is the pieces of."""

from __future__ import annotations

from typing import Final

from rulewright_runtime import strict_json
from rulewright_runtime.models.call import CallFailure
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

STARTS: Final = ("data:", "event:", "id:", "retry:", ":")  # of the lines of a stream
_DONE: Final = b"[DONE]"  # the last event
_TEXTS: Final = ("content", "refusal")  # of a piece that are joined
_CALLS: Final = ("tool_calls", "function_call")


def is_stream(body: str) -> bool:
    """Whether a body is a stream of events, and not JSON."""
    return body.lstrip().startswith(STARTS)


def stated_error(data: JsonMapping) -> Json:
    """Return the error that a response, an event or a choice holds, or is itself (`object: error`), else nothing."""
    return data.get("error") or (data if "error" in (data.get("object"), data.get("type")) else None)


def joined(body: str) -> JsonObject:
    """Return the completion that the events are the pieces of; an event or choice with an error instead of it.

    Raises CallFailure for a stream that breaks off (`network`), and for events that are not pieces of one answer.
    """
    whole: JsonObject = {}
    texts: dict[str, list[str]] = {}
    message: JsonObject = {}
    finish = None
    for event in _events(body):
        if stated_error(event):
            return event
        whole |= {key: event[key] for key in ("model", "usage") if event.get(key)}
        choice = _choice(event, body)
        if choice is None:
            continue
        if stated_error(choice):
            return choice
        delta, end = choice.get("delta") or {}, choice.get("finish_reason") or finish
        if finish is not None and (end != finish or any(delta.get(key) for key in (*_TEXTS, *_CALLS))):
            raise _malformed("the stream continues after the end of its answer", body)
        _add(texts, delta, body)
        message.update({key: delta[key] for key in _CALLS if delta.get(key)})
        finish = end
    message |= {key: "".join(pieces) for key, pieces in texts.items()}
    if not message and finish is None:
        raise _malformed("the response is not JSON, but a stream of events", body)
    if finish is None:
        raise CallFailure("the stream of events ends before the answer does", "network", raw=body)
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


def _events(body: str) -> list[JsonObject]:
    """The JSON of each event before the last one. What an event of the type `error` holds is an error."""
    events, kind = [], b""
    for line in body.encode().splitlines():  # bytes end at line feeds and carriage returns, texts also elsewhere
        if not line or line.startswith(b"event:"):
            kind = line.removeprefix(b"event:").strip()
        value = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
        if value == _DONE:
            break
        if value:
            try:
                event = strict_json.decode(value)
            except strict_json.UNDECODED:
                raise _malformed("an event of the stream is not JSON", body) from None
            if not isinstance(event, dict):
                raise _malformed("an event of the stream is not a JSON object", body)
            events.append({**event, "object": "error"} if kind == b"error" else event)
    return events


def _choice(event: JsonMapping, body: str) -> JsonObject | None:
    """The piece of the only choice in an event; None in one that counts the tokens."""
    choices = event.get("choices") or []
    if not choices:
        return None
    is_first = isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict)
    if not is_first or choices[0].get("index") not in (0, None) or not isinstance(choices[0].get("delta", {}), dict):
        raise _malformed("an event of the stream has no single entry in `choices`", body)
    choice: JsonObject = choices[0]
    return choice


def _add(texts: dict[str, list[str]], delta: JsonMapping, body: str) -> None:
    for key in _TEXTS:
        piece = delta.get(key)
        if piece is not None and not isinstance(piece, str):
            raise _malformed(f"an event of the stream has no text under `{key}`", body)
        if piece is not None:
            texts.setdefault(key, []).append(piece)


def _malformed(reason: str, body: str) -> CallFailure:
    return CallFailure(reason, "malformed", raw=body)
