"""Models: one client layer for judges, harness and workflow agents.

A command line or a project file names a model as `PROVIDER:REST`; `open_model` opens it. A model answers a `ModelCall`
with a `ModelAnswer` or raises a `CallFailure` that says whether a retry may help. Retries, limits, budgets and the
record of every call belong to the scheduler, never to a model.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Final

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.call import Model

# The module of each provider, imported on first use.
PROVIDERS: Final = {
    "anthropic": "http",
    "command": "command",
    "local": "local",
    "openai": "http",
    "python": "callables",
}
# Servers with OpenAI's interface that other tools name as providers.
SERVERS: Final = frozenset({"litellm", "llamacpp", "lmstudio", "localai", "ollama", "sglang", "tgi", "vllm"})
FORMS: Final = (
    "openai:MODEL[@BASE_URL]",
    "anthropic:MODEL[@BASE_URL]",
    "python:MODULE:CALLABLE",
    "command:ARGV",
    "local:FILE.gguf",
)


class ModelError(RuntimeFailure):
    """A model that can't be opened: an unknown provider, a missing key, a file that does not exist."""


def open_model(specification: str) -> Model:
    """Open the model named by `specification`. Raises ModelError for one that is not one of `FORMS`, and for a model
    that can't be opened."""
    refused = why_unknown(specification)
    if refused is not None:
        raise ModelError(refused)
    provider, _, rest = specification.partition(":")
    model: Model = import_module(f"{__name__}.{PROVIDERS[provider]}").open_model(provider, rest)
    return model


def why_unknown(specification: str) -> str | None:
    """Return why `specification` is not one of `FORMS`, or None; opens and imports nothing."""
    provider, _, rest = specification.partition(":")
    if rest and provider in PROVIDERS:
        return None
    return f"unknown model `{specification}`; {_guess(specification)}expected one of {ticked(FORMS)}"


def _with_path(rest: str) -> str:
    """Return `MODEL@BASE_URL` with the path of most servers, if it has none."""
    scheme, _, address = rest.rpartition("://")
    return rest if "/" in address.rstrip("/") else f"{scheme}://{address.rstrip('/')}/v1"


def _guess(specification: str) -> str:
    """Return what an address or a name without its provider was meant to be, or nothing."""
    provider, colon, rest = specification.partition(":")
    if colon and rest and (known := re.sub("[-_ ]", "", provider.lower())) in PROVIDERS:
        return f"did you mean `{known}:{rest}`? "
    if provider in ("http", "https"):
        return f"did you mean `openai:MODEL@{specification}`? "
    if "@http" in specification:
        is_server = provider.lower() in SERVERS
        return f"did you mean `openai:{_with_path(rest) if is_server else specification}`? "
    if colon and rest:  # another provider, such as `ollama:llama3`
        return f"a server with OpenAI's interface is `openai:{rest}@http://HOST:PORT/v1`; "
    other = "local" if specification.endswith(".gguf") else "openai"
    return f"did you mean `{other}:{specification}`? " if specification and not colon else ""
