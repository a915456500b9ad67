"""What tests of models over HTTP ask, and how: a server answers, the model gives an answer or a failure."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from tests.model_server import Handler, Response, Server, model_server

from rulewright_runtime.models.call import (
    CallFailure,
    ChatMessage,
    ModelAnswer,
    ModelCall,
)
from rulewright_runtime.models.http import HttpModel

CALL = ModelCall((ChatMessage("system", "Be brief."), ChatMessage("user", "Well?")), 400)


SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["PASS", "FAIL"]}}}


def ask(handler: Handler, call: ModelCall = CALL, provider: str = "openai", **made: Any) -> tuple[ModelAnswer, Server]:
    """The answer of a model behind a server that answers by `handler`."""
    with model_server(handler) as server:
        base = server.base if provider == "openai" else server.base.removesuffix("/v1")
        model = HttpModel(provider, made.pop("model", "some-model"), base, made.pop("key", None), **made)
        return run(model, lambda: model.answer(call)), server


def run(model: HttpModel, what: Callable[[], Awaitable[ModelAnswer]]) -> ModelAnswer:
    async def whole() -> ModelAnswer:
        try:
            with anyio.fail_after(60):
                return await what()
        finally:
            await model.aclose()

    return anyio.run(whole)


def failure(response: Response, **made: Any) -> CallFailure:
    with pytest.raises(CallFailure) as caught:
        ask(lambda *_: response, **made)
    return caught.value
