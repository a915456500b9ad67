"""Adapters play the assistant: what they are asked, and the one that answers with prepared replies."""

from __future__ import annotations

import re
from typing import Any, Final, Protocol

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.files.input_files import read_expanded
from rulewright_runtime.models.call import ChatMessage, ModelAnswer

RAW: Final = "llm/raw"  # turns are sent to the model and replies recorded unchanged (seed 004)


class AdapterError(RuntimeFailure):
    """A model that can't be opened, or a turn without an answer."""


class TurnRequest(msgspec.Struct, frozen=True):
    """The request for one turn. The model receives only `context` and `messages`, the last of which is the user's.

    `conversation` (the scenario's id), `session`, `turn` and `run` are for the adapter's bookkeeping. `run` is an id
    that a resumed run keeps; it is empty unless the adapter `keeps_conversations`.
    """

    conversation: str
    session: int
    turn: int
    opens_session: bool
    context: str
    messages: tuple[ChatMessage, ...]
    run: str = ""


def transcript_id_of(model: str, scenario_id: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', model).strip('-') or 'model'}__{scenario_id}"


class Adapter(Protocol):
    """A model under evaluation. Several conversations may be active at once, so `reply` has to be thread-safe.

    An adapter may also have an `identity`, a string that differs for models that share a name but answer differently,
    and the `parameters` of its calls, which are recorded with each reply. One that `keeps_conversations` remembers the
    earlier turns itself.
    """

    @property
    def model(self) -> str:
        """The model's name in transcripts."""

    @property
    def harness(self) -> str:
        """The interface to the model: `llm/raw`, or the name of a product."""

    def reply(self, request: TurnRequest) -> ModelAnswer:
        """Return the reply to one turn. Any exception is recorded as an error of the turn."""


class ScriptedAdapter:
    """Answers with prepared replies: `{"model": NAME, "replies": {scenario_id: [reply, ...]}}`, one for each turn.

    A reply is a string, or `{"error": message}` for a turn that fails.
    """

    harness = RAW

    def __init__(self, replies: dict[str, list[Any]], model: str = "scripted") -> None:
        self.model = model
        self._replies = replies

    @property
    def identity(self) -> str:
        """The sha256 (hex) of the prepared replies."""
        return sha256(msgspec.json.encode(self._replies, order="deterministic")).hexdigest()

    def reply(self, request: TurnRequest) -> ModelAnswer:
        """Return the prepared reply. Raises AdapterError without one, and for a prepared error."""
        prepared = self._replies.get(request.conversation, [])
        index = sum(message.role == "assistant" for message in request.messages)
        reply = prepared[index] if index < len(prepared) else None
        if isinstance(reply, str):
            return ModelAnswer(reply, "")
        if isinstance(reply, dict):
            raise AdapterError(str(reply.get("error", "the prepared reply is an error")))
        raise AdapterError(f"no reply is prepared for turn {request.turn}")


def open_scripted(path: str) -> Adapter:
    """Open the prepared replies in a file. Raises AdapterError for one that can't be read."""
    try:
        script = strict_json.decode(read_expanded(path), type=_Script)
    except (OSError, *strict_json.UNDECODED) as error:
        raise AdapterError(f"the scripted replies `{path}` can't be read: {reason_of(error)}") from None
    return ScriptedAdapter(script.replies, script.model)


class _Script(msgspec.Struct):
    replies: dict[str, list[Any]]
    model: str = "scripted"
