"""Models as the assistant of a scenario, `llm/raw`: turns are sent to the model unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from rulewright_runtime.calls.scheduler import CallPortal
from rulewright_runtime.harness.adapters import RAW, TurnRequest, transcript_id_of
from rulewright_runtime.models.call import (
    CallFailure,
    CallRequest,
    ChatMessage,
    Model,
    ModelAnswer,
    ModelCall,
    request_key,
)
from rulewright_runtime.strict_json import UNDECODED
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction


class RedactedModel:
    """Forwards calls to another model, and redacts its answers and errors by the project's patterns."""

    def __init__(self, model: Model, redaction: Redaction) -> None:
        self._model, self._redaction = model, redaction
        self.identity, self.capabilities, self.host = model.identity, model.capabilities, model.host

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the redacted answer. Raises CallFailure, redacted too."""
        text = self._redaction.text
        try:
            answer = await self._model.answer(call)
        except CallFailure as failure:
            raise failure.rewritten(text, self._raw) from None
        return replace(answer, text=text(answer.text), raw=self._raw(answer.raw))

    def _raw(self, raw: str) -> str:
        """Redact a body by the strings of its JSON, so that escapes do not hide text from a pattern."""
        try:
            body = msgspec.json.decode(raw.encode("utf-8", "surrogatepass"))
        except UNDECODED:
            return self._redaction.text(raw)
        return msgspec.json.encode(self._redaction.data(body)).decode()

    async def aclose(self) -> None:
        """Close connections and processes."""
        await self._model.aclose()


MAX_REPLY_TOKENS = 1024


class ModelAdapter:
    """A model of any provider. Its answers are in the ledger and are not paid twice."""

    harness = RAW

    def __init__(
        self,
        model: Model,
        open_portal: Callable[[Model], CallPortal],
        *,
        max_tokens: int = MAX_REPLY_TOKENS,
        temperature: float | None = None,
        sample: int = 0,
        redaction: Redaction = NOTHING,
    ) -> None:
        """Replies are redacted by `redaction` before they are stored in the ledger.

        `open_portal` is called before the first turn. Another `sample` gives new answers to all turns.
        """
        self._model: Model = RedactedModel(model, redaction) if redaction.rules else model
        self._open_portal, self._sample = open_portal, sample
        self._max_tokens = min(max_tokens, model.capabilities.reply or max_tokens)
        self._temperature = temperature
        self._portal: CallPortal | None = None
        self.model = model.identity.model
        self.host = model.host

    @property
    def identity(self) -> str:
        """The identity of the model with its parameters, as JSON."""
        return msgspec.json.encode((self._model.identity, self.parameters), order="deterministic").decode()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of every turn, as in its transcript."""
        optional = {"temperature": self._temperature, "sample": self._sample or None}
        return {"max_tokens": self._max_tokens, **{key: value for key, value in optional.items() if value is not None}}

    def open(self) -> None:
        """Open the ledger. Raises LedgerError."""
        self._portal = self._open_portal(self._model)

    def reply(self, request: TurnRequest) -> ModelAnswer:
        """Return the model's answer, also a refused or truncated one. Raises CallFailure."""
        return self.send(self.turn_call(request))

    def turn_call(self, request: TurnRequest) -> CallRequest:
        system = (ChatMessage("system", request.context),) if request.context else ()
        return self.call_request(
            (*system, *request.messages), transcript_id_of(self.model, request.conversation), "turn", request.turn
        )

    def call_request(
        self, messages: tuple[ChatMessage, ...], transcript_id: str, purpose: str, turn: int
    ) -> CallRequest:
        """Return the call that continues `messages`, for a turn of a transcript."""
        call = ModelCall(messages, self._max_tokens, self._temperature)
        return CallRequest(call, transcript_id, "", purpose, turn, self._sample)

    def key_of(self, request: CallRequest) -> str:
        return request_key(self._model.identity, request)

    def send(self, request: CallRequest) -> ModelAnswer:
        """Send a call and return the answer. Raises CallFailure."""
        if self._portal is None:
            raise AssertionError("the adapter is not open")
        return self._portal.ask(request)

    def close(self) -> None:
        if self._portal is not None:
            self._portal.close()
