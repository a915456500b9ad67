"""Calls of models: what a model accepts, request, answer and failure, and the key of an answer in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias

import msgspec

from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import RuntimeFailure


class Capabilities(msgspec.Struct, frozen=True):
    """The parameters that a model accepts.

    `temperature`: whether it accepts one. `limit`: the request's key for the reply's token limit. `structured`: whether
    the endpoint enforces a JSON Schema. `context`: the window in tokens for prompt and reply, `reply`: the longest
    useful reply in tokens; None if unknown. `bounds`: whether a schema's `maxLength` and `maxItems` are enforced
    instead of refused.
    """

    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structured: bool = False
    context: int | None = None
    reply: int | None = None
    bounds: bool = False


_REASONING: Final = Capabilities(temperature=False, limit="max_completion_tokens", structured=True, context=200_000)
_CHAT: Final = Capabilities(structured=True, context=128_000)
_CLAUDE: Final = Capabilities(structured=True, context=200_000)
_CLAUDE_WITHOUT_TEMPERATURE: Final = Capabilities(temperature=False, structured=True, context=200_000)
_UNKNOWN: Final = Capabilities()

# Models by provider and by a pattern of their names; the first matching row applies. Sources: the providers' API
# references, read in 2026; Claude models from Opus 4.7 on answer a request with `temperature` with 400, OpenAI's
# reasoning models one with `max_tokens`.
_OF_MODELS: Final[tuple[tuple[str, tuple[str, ...], Capabilities], ...]] = (
    ("openai", ("o[1-9]*", "gpt-5*", "gpt-6*"), _REASONING),
    ("openai", ("gpt-*", "chatgpt-*"), _CHAT),
    ("anthropic", ("claude-3*", "claude-*-4-[0-6]*", "claude-*-4-20*", "claude-*-4"), _CLAUDE),
    ("anthropic", ("claude-*",), _CLAUDE_WITHOUT_TEMPERATURE),
)
# The maker of a model, whatever endpoint serves it: judge and subject of one maker are not independent.
MAKERS: Final[tuple[tuple[str, str], ...]] = (
    ("*claude*", "claude"),
    ("*gpt*", "gpt"),
    ("o[1-9]*", "gpt"),
    ("*gemini*", "gemini"),
    ("*gemma*", "gemini"),
    ("*llama*", "llama"),
    ("*qwen*", "qwen"),
    ("*qwq*", "qwen"),
    ("*mistral*", "mistral"),
    ("*mixtral*", "mistral"),
    ("*ministral*", "mistral"),
    ("*magistral*", "mistral"),
    ("*deepseek*", "deepseek"),
    ("*grok*", "grok"),
    ("*phi-*", "phi"),
    ("*command-r*", "command"),
    ("*command-a*", "command"),
    ("*smollm*", "smollm"),
    ("*kimi*", "kimi"),
    ("*glm-*", "glm"),
    ("*nova-*", "nova"),
    ("*olmo*", "olmo"),
    ("*granite*", "granite"),
)


def capabilities_of(provider: str, model: str) -> Capabilities:
    """Return the capabilities of a model; for an unknown one, those of every compatible server."""
    name = bare_name(model)
    for own, patterns, capabilities in _OF_MODELS:
        if own == provider and any(fnmatchcase(name, pattern) for pattern in patterns):
            return capabilities
    return _UNKNOWN


def family_of(model: str, makers: Sequence[tuple[str, str]] = ()) -> str | None:
    """Return the maker of a model by its name, or None. `makers` are the project's rows, which come first."""
    name = model.lower()
    for pattern, maker in (*makers, *MAKERS):
        if fnmatchcase(name, pattern) or fnmatchcase(bare_name(name), pattern):
            return maker
    return None


def bare_name(model: str) -> str:
    """Return a model's name in lower case, without a router's vendor prefix and without its tag."""
    return model.lower().rpartition("/")[2].partition(":")[0]


Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refusal", "filter", "other"]
TOO_LONG: Final = "too_long"  # the kind of failure of a call that does not fit into the context window
WHOLE: Final = "stop"  # the finish of an answer that was neither cut off nor refused


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
    call and `usd` its cost at today's price, as far as they are known.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    raw: str = ""
    seconds: float | None = None
    usd: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the reply is complete."""
        return self.finish == WHOLE


class Identity(msgspec.Struct, frozen=True):
    """The identity of a model, part of a run and of every call's key. It holds no credentials.

    `endpoint` is the base URL without user information and query, the module of a callable, or the argv of a command;
    `api_version` the version of the wire format; `wrapper` the version of the code that builds requests.
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
    `denied` (401, 402, 404: no request will work). `retry_after` is in seconds, if the server sends it. `raw` is the
    response body, if any.
    """

    def __init__(
        self, message: str, kind: str, *, status: int = 0, retry_after: float | None = None, raw: str = ""
    ) -> None:
        """Store the message and the fields for the scheduler."""
        self.kind, self.status, self.retry_after, self.raw = kind, status, retry_after, raw
        super().__init__(message)

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
