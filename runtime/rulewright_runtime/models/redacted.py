"""A model whose answers are redacted before they are used or stored."""

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
    """Forwards calls to another model, and redacts its answers and errors by the project's patterns."""

    def __init__(self, model: Model, redaction: Redaction) -> None:
        """`model` answers the calls."""
        self._model, self._redaction = model, redaction

    @property
    def identity(self) -> Identity:
        """The identity of the model."""
        return self._model.identity

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the model."""
        return self._model.capabilities

    @property
    def host(self) -> str:
        """The host that receives calls."""
        return self._model.host

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the redacted answer. Raises CallFailure, redacted too."""
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
        """Redact a body by the strings of its JSON, so that escapes do not hide text from a pattern."""
        try:
            body = msgspec.json.decode(raw.encode("utf-8", "surrogatepass"))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._redaction.text(raw)
        return msgspec.json.encode(self._redaction.data(body)).decode()

    async def aclose(self) -> None:
        """Close connections and processes."""
        await self._model.aclose()
