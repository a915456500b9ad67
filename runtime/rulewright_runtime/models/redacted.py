"""A model whose answers are redacted before anybody sees or keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from rulewright_runtime.models.call import CallFailure

if TYPE_CHECKING:
    from rulewright_runtime.models.call import Identity, Model, ModelAnswer, ModelCall
    from rulewright_runtime.models.capabilities import Capabilities
    from rulewright_runtime.transcripts.redaction import Redaction


class RedactedModel:
    """Passes calls on to another model, and takes out of its answers and errors what a project wants replaced."""

    def __init__(self, model: Model, redaction: Redaction) -> None:
        """Ask `model`."""
        self._model, self._redaction = model, redaction

    @property
    def identity(self) -> Identity:
        """Who answers."""
        return self._model.identity

    @property
    def capabilities(self) -> Capabilities:
        """What the model takes."""
        return self._model.capabilities

    @property
    def host(self) -> str:
        """Where calls are sent."""
        return self._model.host

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """The redacted answer. Raises CallFailure, redacted too."""
        text = self._redaction.text
        try:
            answer = await self._model.answer(call)
        except CallFailure as failure:
            raise CallFailure(
                text(str(failure)),
                failure.kind,
                status=failure.status,
                retry_after=failure.retry_after,
                raw=self._raw(failure.raw),
            ) from None
        return replace(answer, text=text(answer.text), raw=self._raw(answer.raw))

    def _raw(self, raw: str) -> str:
        """A body, the texts of its JSON redacted: an escape must not hide what a pattern looks for."""
        try:
            body = msgspec.json.decode(raw.encode("utf-8", "surrogatepass"))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._redaction.text(raw)
        return msgspec.json.encode(self._redaction.data(body)).decode()

    async def aclose(self) -> None:
        """Give up connections and processes."""
        await self._model.aclose()
