"""Local models, `local:FILE.gguf`: a llama.cpp server on 127.0.0.1 in this process, from the extra `[local]`."""

from __future__ import annotations

import os
from typing import Any, Final

from msgspec.structs import replace

from rulewright_runtime.digests import file_digest
from rulewright_runtime.models import ModelError
from rulewright_runtime.models.call import ModelAnswer, ModelCall
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.models.http import HttpModel

CONTEXT: Final = 8192  # tokens of each of the slots
SLOTS: Final = 4  # concurrent calls
REPLY: Final = 1024  # tokens; small models may not stop by themselves


class LocalModel:
    """A model in a GGUF file, served by a server that lives as long as this object."""

    host = ""

    def __init__(self, path: str, capabilities: Capabilities | None = None) -> None:
        """Load the file and start the server. Raises ModelError when either fails."""
        try:
            import xllamacpp
        except ImportError:
            raise ModelError("`local:` needs the extra `local`: `pip install 'rulewright[local]'`") from None
        name = os.path.basename(path)
        self.capabilities = capabilities or Capabilities(structured=True, context=CONTEXT, reply=REPLY, bounds=True)
        settings: Any = xllamacpp.CommonParams()
        settings.model.path = path
        settings.model_alias = {name}
        settings.n_ctx, settings.n_parallel = (self.capabilities.context or CONTEXT) * SLOTS, SLOTS
        settings.sampling.seed = 0
        settings.verbosity = 0
        settings.ui = False
        try:
            self._server: object = xllamacpp.Server(settings)
        except Exception as error:
            raise ModelError(f"the model `{path}` can't be loaded: {error}") from error
        address = f"{self._server.listening_address}/v1"
        self._http = HttpModel("openai", name, address, None, self.capabilities)
        version = f"llama.cpp/{getattr(xllamacpp, '__version__', '')}"
        self.identity = replace(self._http.identity, provider="local", endpoint=file_digest(path), api_version=version)

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the server's answer. Raises CallFailure."""
        return await self._http.answer(call)

    async def aclose(self) -> None:
        """Close the connections and end the server."""
        await self._http.aclose()
        self._server = None


def open_model(_: str, rest: str) -> LocalModel:
    """Open the model in a file. Raises ModelError when the file does not exist."""
    if not os.path.isfile(rest):
        raise ModelError(f"`local:{rest}` names no file; expected the path of a GGUF file")
    return LocalModel(rest)
