"""Models: one client layer for judges, harness and workflow agents.

A command line or a project file names a model as `PROVIDER:REST`; `open_model` opens it. A model answers a `ModelCall`
with a `ModelAnswer` or raises a `CallFailure` that says whether a retry may help. Retries, limits, budgets and the
record of every call belong to the scheduler, never to a model.
"""

from __future__ import annotations

import re
from importlib import import_module
from os.path import splitext
from typing import Final
from urllib.parse import SplitResult, urlsplit

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
# Servers with OpenAI's interface that other tools name as providers, with their usual base URLs.
SERVERS: Final = {
    "azure": "https://RESOURCE.openai.azure.com/openai/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "litellm": "http://127.0.0.1:4000/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "localai": "http://127.0.0.1:8080/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "sglang": "http://127.0.0.1:30000/v1",
    "tgi": "http://127.0.0.1:8080/v1",
    "together": "https://api.together.xyz/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "xai": "https://api.x.ai/v1",
}
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
    if PROVIDERS.get(provider, "http") == "http" and re.search(r"https?:/*[^/\s@]+@(?!https?:)", specification):
        return "a base URL must not contain a user or password; keys are read from the environment"  # nor does an error
    if rest and provider in PROVIDERS:
        return _why_no_address(provider, rest.partition("#")[0]) if PROVIDERS[provider] == "http" else None
    return f"unknown model `{specification}`; {_guess(specification)}expected one of {ticked(FORMS)}"


def _why_no_address(provider: str, rest: str) -> str | None:
    """Return why the address after `@` in `MODEL@BASE_URL` can't be used, or None."""
    if (address := re.search(r"@(\w+:/.*)", rest)) is not None:
        is_known = web_address(address[1]) is not None
        return (
            None if is_known else f"`{address[1]}` is not a base URL; expected `http://HOST:PORT/v1` or `https://...`"
        )
    name, _, host = rest.rpartition("@")
    if name and re.match(r"[\w.-]+:[0-9]+(/|$)|[\w-]+(\.[\w-]+)+/|localhost(/|$)", host):
        meant = f"{provider}:{name}@http://{host}"
        return f"the address of `{provider}:{rest}` has no scheme; did you mean `{meant}`?"
    return None


def web_address(url: str) -> SplitResult | None:
    """Return the parts of an address of the web; None for any other text."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, half of an IPv6 address
        return None
    return parts if is_address else None


def _with_path(rest: str) -> str:
    """Return `MODEL@BASE_URL` with the path of most servers, if it has none."""
    scheme, _, address = rest.rpartition("://")
    return rest if "/" in address.rstrip("/") else f"{scheme}://{address.rstrip('/')}/v1"


def _usual_base_url(server: str) -> str | None:
    """Return the usual base URL of a server that another tool names so, or None for an unknown one."""
    name = re.sub("[-_. ]", "", server.lower())
    return SERVERS.get(name) or SERVERS.get(name.removesuffix("ai"))


def _guess(specification: str) -> str:
    """Return what an address or a name without its provider was meant to be, or nothing."""
    provider, colon, rest = specification.partition(":")
    if colon and rest and (known := re.sub("[-_ ]", "", provider.lower())) in PROVIDERS:
        return f"did you mean `{known}:{rest}`? "
    if provider in ("http", "https"):
        return f"did you mean `openai:MODEL@{specification}`? "
    if "@http" in specification and (name := specification.partition("@")[0]) in PROVIDERS:
        return f"did you mean `{name}:MODEL{specification.removeprefix(name)}`? "
    if "@http" in specification:
        return f"did you mean `openai:{_with_path(rest) if _usual_base_url(provider) else specification}`? "
    if colon and rest and (base := _usual_base_url(provider)):
        return f"did you mean `openai:{rest}@{base}`? "
    if colon and rest:
        return f"a server with OpenAI's interface is `openai:{rest}@http://HOST:PORT/v1`; "
    kinds = {".gguf": "local", ".json": "replay", ".jsonl": "replay"}
    other = kinds.get(splitext(specification)[1], "openai")
    return f"did you mean `{other}:{specification}`? " if specification and not colon else ""
