"""Adapters: who plays the assistant. An adapter is a function in `ADAPTERS` that opens what a command line names.

A model is named `NAME:REST`. `scripted:FILE` answers with recorded replies; `product-http:URL` speaks to a product and
is experimental.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import Request as Call
from urllib.request import urlopen

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.input_files import read_expanded
from rulewright_runtime.models.call import ChatMessage
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable

RAW: Final = "llm/raw"  # turns go to the model as they are, and its replies are kept as they come (seed 004)
MAX_REPLY: Final = 2**20  # bytes of a product's answer


class AdapterError(RuntimeFailure):
    """A model that can't be opened, or a turn that it did not answer."""


class TurnRequest(msgspec.Struct, frozen=True):
    """One turn. The model reads `context` and `messages`, the last of which is the user's, and nothing else.

    `conversation` (the scenario's id), `session` and `turn` are for the adapter's own bookkeeping.
    """

    conversation: str
    session: int
    turn: int
    opens_session: bool
    context: str
    messages: tuple[ChatMessage, ...]


class Reply(msgspec.Struct, frozen=True):
    """What the model said, and what it cost where that is known.

    `finish` says why it is not whole: `length`, `refusal` or `filter`. `served_model` is the name under which the
    endpoint answered, `parameters` what it was asked with.
    """

    content: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str | None = None
    served_model: str | None = None
    parameters: JsonObject = {}


def transcript_id_of(model: str, scenario_id: str) -> str:
    """The id of the transcript in which a model plays a scenario."""
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', model).strip('-') or 'model'}__{scenario_id}"


class Adapter(Protocol):
    """A model under evaluation. Several conversations may be held at once, so `reply` has to bear threads.

    An adapter may also have an `identity`, a text that is another one for whoever answers differently under one name.
    """

    @property
    def model(self) -> str:
        """The model's name, as transcripts carry it."""

    @property
    def harness(self) -> str:
        """How the model is reached: `llm/raw`, or the name of a product."""

    def reply(self, request: TurnRequest) -> Reply:
        """The answer to one turn. Whatever is raised is recorded as an error of the turn."""


class ScriptedAdapter:
    """Answers with prepared replies: `{"model": NAME, "replies": {scenario_id: [reply, ...]}}`, one for each turn.

    A reply is a text, or `{"error": message}` for a turn that fails.
    """

    harness = RAW

    def __init__(self, replies: dict[str, list[Any]], model: str = "scripted") -> None:
        """Keep the replies."""
        self.model = model
        self._replies = replies

    @property
    def identity(self) -> str:
        """The fingerprint of the prepared replies."""
        return sha256(msgspec.json.encode(self._replies, order="deterministic")).hexdigest()

    def reply(self, request: TurnRequest) -> Reply:
        """The prepared reply. Raises AdapterError where none was prepared or where it says so."""
        prepared = self._replies.get(request.conversation, [])
        place = sum(message.role == "assistant" for message in request.messages)
        found = prepared[place] if place < len(prepared) else None
        if isinstance(found, str):
            return Reply(found)
        if isinstance(found, dict):
            raise AdapterError(str(found.get("error", "the prepared reply is an error")))
        raise AdapterError(f"no reply is prepared for turn {request.turn}")


class ProductAdapter:
    """A product over HTTP (experimental): it keeps the conversation itself and is sent one message at a time.

    POST `{conversation, session, turn, opens_session, context, message}`, answered by `{reply}`. The conversation's
    name is a digest, so that the scenario's name tells the product nothing.
    """

    experimental = True

    def __init__(self, url: str, timeout: float = 120.0) -> None:
        """Speak to `url`. Raises AdapterError where it is not a web address."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise AdapterError(f"`{url}` is not a web address; expected `product-http:https://...`")
        self.model = parts.hostname
        self.harness = f"product/{parts.hostname}"
        self._url, self._timeout = url, timeout

    def reply(self, request: TurnRequest) -> Reply:
        """The product's answer. Raises AdapterError where it gives none."""
        body = {
            "conversation": hashlib.sha256(request.conversation.encode()).hexdigest()[:16],
            "session": request.session,
            "turn": request.turn,
            "opens_session": request.opens_session,
            "context": request.context,
            "message": request.messages[-1].content,
        }
        call = Call(self._url, msgspec.json.encode(body), {"Content-Type": "application/json"})
        try:
            with urlopen(call, timeout=self._timeout) as answer:
                data = answer.read(MAX_REPLY + 1)
            if len(data) > MAX_REPLY:
                raise AdapterError(f"the product's answer has more than {MAX_REPLY} bytes")
            found = strict_json.decode(data, type=JsonObject).get("reply")
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            raise AdapterError(f"the product did not answer: {error}") from None
        if not isinstance(found, str):
            raise AdapterError("the product's answer has no text under `reply`")
        return Reply(found)


def _scripted(path: str) -> Adapter:
    try:
        written = strict_json.decode(read_expanded(path), type=_Script)
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise AdapterError(f"the scripted replies `{path}` can't be read: {reason}") from None
    return ScriptedAdapter(written.replies, written.model)


class _Script(msgspec.Struct):
    replies: dict[str, list[Any]]
    model: str = "scripted"


ADAPTERS: Final[dict[str, Callable[[str], Adapter]]] = {"product-http": ProductAdapter, "scripted": _scripted}


def open_adapter(specification: str) -> Adapter:
    """The model that a command line names. Raises AdapterError where there is no such adapter."""
    name, colon, rest = specification.partition(":")
    if not colon or name not in ADAPTERS:
        known = ", ".join(f"`{each}:...`" for each in sorted(ADAPTERS))
        raise AdapterError(f"unknown model `{specification}`; expected one of {known}")
    return ADAPTERS[name](rest)
