"""Calls: what is asked of a model, what it answers, and how a call fails."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.capabilities import Capabilities

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refusal", "filter", "other"]
WHOLE: Final = "stop"  # how an answer ends that was neither cut nor refused


class ChatMessage(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Role
    content: str


class ModelCall(msgspec.Struct, frozen=True):
    """One question to a model. Everything in here determines the answer and is part of the call's key.

    `temperature` None leaves it to the model; a model that takes no temperature is not sent one. `schema` is the JSON
    Schema of the wanted reply; a provider that can't enforce it is told in its own way or not at all, so the reply is
    parsed as strictly as any other.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float | None = None
    schema: dict[str, Any] | None = None


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the endpoint counts them; None where it does not say."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None


class ModelAnswer(msgspec.Struct, frozen=True):
    """What a model said.

    `model` is the name under which the endpoint says it answered. `finish` other than `stop` means that `text` is not
    a whole reply: cut at the token limit, refused, or filtered. `raw` is the body as it came.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    raw: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the endpoint says that the model had finished."""
        return self.finish == WHOLE


class Identity(msgspec.Struct, frozen=True):
    """Who answers: part of a run and of every call's key. It holds no key and no token.

    `endpoint` is the base URL without user information and query, the module of a callable, or the argv of a command;
    `api_version` the version of the wire format; `wrapper` the version of the code that forms requests.
    """

    provider: str
    model: str
    endpoint: str = ""
    api_version: str = ""
    wrapper: str = ""


class CallFailure(RuntimeFailure):
    """A call without an answer.

    `kind` is `timeout`, `network`, `limited` (429), `server` (5xx, 408, 409, 425, 529), `malformed` (an answer that is
    not the provider's format), `too_long` (prompt and reply do not fit into the window), `rejected` (400, 413, 422:
    this request will never work) or `denied` (401, 402, 403, 404: no request will work). `retry_after` is in seconds,
    where the server says it. `raw` is what came, if anything.
    """

    def __init__(
        self, message: str, kind: str, *, status: int = 0, retry_after: float | None = None, raw: str = ""
    ) -> None:
        """Keep the reason and what a scheduler needs of it."""
        self.kind, self.status, self.retry_after, self.raw = kind, status, retry_after, raw
        super().__init__(message)

    @property
    def may_be_retried(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRIED

    @property
    def is_outage(self) -> bool:
        """Whether it says nothing of the call: nobody was there, or nobody is let in."""
        return self.kind in OUTAGES

    @property
    def is_fatal(self) -> bool:
        """Whether no call to this model can succeed until somebody changes something."""
        return self.kind == "denied"


OUTAGES = frozenset({"timeout", "network", "limited", "server", "denied"})
RETRIED = frozenset({"timeout", "network", "limited", "server", "malformed"})


class Model(Protocol):
    """A model, however it is reached. Several calls may be in flight at a time."""

    @property
    def identity(self) -> Identity:
        """Who answers."""

    @property
    def capabilities(self) -> Capabilities:
        """The parameters it takes, and its window."""

    @property
    def host(self) -> str:
        """The host that a call's text is sent to; empty where it stays in this process or on this machine."""

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """The answer. Raises CallFailure, and is cancelled at any await."""

    async def aclose(self) -> None:
        """Give up connections and processes."""
