"""Models as the assistant of a scenario, `llm/raw`: the turns go to the model as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rulewright_runtime.calls.ask import Ask, ask_key
from rulewright_runtime.harness.adapters import RAW, Reply, TurnRequest, transcript_id_of
from rulewright_runtime.models.call import ChatMessage, ModelCall
from rulewright_runtime.models.redacted import RedactedModel
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright_runtime.calls.portal import CallPortal
    from rulewright_runtime.models.call import Model

LONGEST_REPLY = 1024  # tokens


class ModelAdapter:
    """A model behind any door of the client layer. What it answered is in the ledger, and is not paid for again."""

    harness = RAW

    def __init__(
        self,
        model: Model,
        open_portal: Callable[[Model], CallPortal],
        *,
        max_tokens: int = LONGEST_REPLY,
        temperature: float | None = None,
        sample: int = 0,
        redaction: Redaction = NOTHING,
    ) -> None:
        """What `redaction` finds in replies does not reach the ledger.

        `open_portal` is called before the first turn. Another `sample` has every turn answered anew.
        """
        self._model: Model = RedactedModel(model, redaction) if redaction.rules else model
        self._open, self._sample = open_portal, sample
        self._max_tokens = min(max_tokens, model.capabilities.reply or max_tokens)
        self._temperature = temperature
        self._portal: CallPortal | None = None
        self.model = model.identity.model
        self.host = model.host

    @property
    def identity(self) -> str:
        """Who answers, and with which parameters."""
        who = (self._model.identity, self.parameters)
        return msgspec.json.encode(who, order="deterministic").decode()

    @property
    def parameters(self) -> dict[str, Any]:
        """What every turn is asked with, as its transcript carries it."""
        given = {"temperature": self._temperature, "sample": self._sample or None}
        return {"max_tokens": self._max_tokens, **{key: value for key, value in given.items() if value is not None}}

    def open(self) -> None:
        """Open the ledger. Raises LedgerError."""
        self._portal = self._open(self._model)

    def reply(self, request: TurnRequest) -> Reply:
        """The model's answer, also one that it refused to give or that was cut off. Raises CallFailure."""
        return self.say(self.ask_of(request))

    def ask_of(self, request: TurnRequest) -> Ask:
        """The call that a turn is."""
        told = (ChatMessage("system", request.context),) if request.context else ()
        return self.ask(
            (*told, *request.messages), transcript_id_of(self.model, request.conversation), "turn", request.turn
        )

    def ask(self, messages: tuple[ChatMessage, ...], transcript_id: str, purpose: str, turn: int) -> Ask:
        """The call that asks the model what comes behind `messages`, for a turn of a transcript."""
        call = ModelCall(messages, self._max_tokens, self._temperature)
        return Ask(call, transcript_id, "", purpose, turn, self._sample)

    def key_of(self, ask: Ask) -> str:
        """Its key in the ledger."""
        return ask_key(self._model.identity, ask)

    def say(self, ask: Ask) -> Reply:
        """What the model says. Raises CallFailure."""
        if self._portal is None:
            raise AssertionError("the adapter is not open")
        answer = self._portal.ask(ask)
        finish = None if answer.is_whole else answer.finish
        usage = answer.usage
        return Reply(
            answer.text, usage.input_tokens, usage.output_tokens, finish, answer.model or None, self.parameters
        )

    def close(self) -> None:
        """Give up connections."""
        if self._portal is not None:
            self._portal.close()
