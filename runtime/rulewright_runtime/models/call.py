"""Calls of models: request, answer and failure, and the key of an answer in the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias

import msgspec

from rulewright_runtime.digests import sha256
from rulewright_runtime.english import escape_surrogates
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.capabilities import Capabilities

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refusal", "filter", "other"]
TOO_LONG: Final = "too_long"  # the kind of failure of a call that does not fit into the context window
WHOLE: Final = "stop"  # the finish of an answer that was neither cut off nor refused


def ending(finish: str) -> str:
    """How a reply that is not whole ended, as a clause: `it ended with length`."""
    return "its `finish_reason` does not say that it is whole" if finish == "other" else f"it ended with `{finish}`"


class ChatMessage(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Role
    content: str


class ModelCall(msgspec.Struct, frozen=True):
    """One call of a model. All fields determine the answer and are part of the call's key.

    `temperature` None leaves it to the model; it is not sent to a model that does not accept one. `schema` is the JSON
    Schema of the reply; not every provider enforces it, so the reply is always parsed strictly.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float | None = None
    schema: dict[str, Any] | None = None


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Usage(msgspec.Struct, frozen=True):
    """Token counts of the endpoint; None when it does not report them."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None


class ModelAnswer(msgspec.Struct, frozen=True):
    """The answer of a model.

    `model` is the model's name in the response. `finish` other than `stop` means that `text` is not a complete reply:
    cut off at the token limit, refused, or filtered. `raw` is the unchanged body. `seconds` is the duration of the
    call and `usd` its cost at today's price, as far as they are known. `is_new`: given now, not by the ledger.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    raw: str = ""
    seconds: float | None = None
    usd: float | None = None
    is_new: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply is complete."""
        return self.finish == WHOLE


class Identity(msgspec.Struct, frozen=True):
    """The identity of a model, part of a run and of every call's key. It holds no credentials.

    `endpoint` is the base URL without user information and query, the module of a callable, or the argv of a command;
    `api_version` the version of the wire format; `wrapper` the version of the code that builds requests, with the
    fields that the user adds to each.
    """

    provider: str
    model: str
    endpoint: str = ""
    api_version: str = ""
    wrapper: str = ""


class CallFailure(RuntimeFailure):
    """A call without an answer.

    `kind` is `timeout`, `network`, `limited` (429), `server` (5xx, 408, 409, 425, 529), `malformed` (not in the
    provider's format), `too_long` (prompt and reply do not fit into the context window), `rejected` (400, 413, 422:
    this request will never work), `forbidden` (403: this request, by a filter of its content, or every request) or
    `denied` (401, 402, 404, a certificate that is not trusted: no request will work). `retry_after` is in seconds, if
    the server sends it. `raw` is the response body, if any. `attempts` is how often the call was made.
    """

    attempts = 1

    def __init__(
        self, message: str, kind: str, *, status: int = 0, retry_after: float | None = None, raw: str = ""
    ) -> None:
        self.kind, self.status, self.retry_after, self.raw = kind, status, retry_after, escape_surrogates(raw)
        super().__init__(escape_surrogates(message))

    def rewritten(self, text: Callable[[str], str], raw: Callable[[str], str]) -> CallFailure:
        """Return this failure with another message and another body, which the functions make of its own."""
        other = raw(self.raw)
        return CallFailure(text(str(self)), self.kind, status=self.status, retry_after=self.retry_after, raw=other)

    @property
    def may_be_retried(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRIED

    @property
    def is_outage(self) -> bool:
        """Whether the failure is one of the endpoint or its access, not of the call."""
        return self.kind in OUTAGES

    @property
    def is_fatal(self) -> bool:
        """Whether every call to this model fails until the settings are changed."""
        return self.kind == "denied"


OUTAGES = frozenset({"timeout", "network", "limited", "server", "forbidden", "denied"})
RETRIED = frozenset({"timeout", "network", "limited", "server", "malformed", "forbidden"})


class Model(Protocol):
    """The interface of models. Several calls may be in flight at a time."""

    @property
    def identity(self) -> Identity:
        """The identity of the model."""

    @property
    def capabilities(self) -> Capabilities:
        """The accepted parameters and the context window."""

    @property
    def host(self) -> str:
        """The host that receives a call's text; empty for this process and this machine."""

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the answer. Raises CallFailure; may be cancelled at any await."""

    async def aclose(self) -> None:
        """Close connections and processes."""


class CallRequest(msgspec.Struct, frozen=True):
    """One call for one position in a run: a check's window, a repetition of its vote, an attempt at a usable reply.

    `purpose` is `check`, `edge`, `turn` or another reason for the call. `repetition` and `attempt` count from 0 and are
    part of the key: a second vote is never answered by the first.
    """

    call: ModelCall
    transcript_id: str = ""
    check_id: str = ""
    purpose: str = "check"
    window: int = 0
    repetition: int = 0
    attempt: int = 0

    @property
    def question(self) -> tuple[object, ...]:
        """What the attempts at a usable reply have in common."""
        return self.transcript_id, self.check_id, self.purpose, self.window, self.repetition


class _KeyFields(msgspec.Struct, frozen=True):
    """Everything that determines an answer."""

    identity: Identity
    call: ModelCall
    repetition: int
    attempt: int


def request_key(identity: Identity, request: CallRequest) -> str:
    """Return the key (hex): equal for equal messages, model, parameters, schema, repetition and attempt.

    It does not depend on the transcript, the check, the run or the scorecard, so an answer is paid once for all.
    """
    fields = _KeyFields(identity, request.call, request.repetition, request.attempt)
    return sha256(msgspec.json.encode(fields, order="deterministic")).hexdigest()
