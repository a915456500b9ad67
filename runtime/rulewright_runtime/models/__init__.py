"""Models: one client layer for judges, harness and workflow agents.

A command line or a project file names a model as `PROVIDER:REST`; `open_model` opens it. A model answers a `ModelCall`
with a `ModelAnswer` or raises a `CallFailure` that says whether a retry may help. Retries, limits, budgets and the
record of every call belong to the scheduler, never to a model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from rulewright_runtime.errors import RuntimeFailure

if TYPE_CHECKING:
    from rulewright_runtime.models.call import Model
    from rulewright_runtime.models.capabilities import Capabilities

# The module of each provider, imported on first use.
PROVIDERS: Final = {
    "anthropic": "http",
    "command": "command",
    "local": "local",
    "openai": "http",
    "python": "callables",
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


def open_model(specification: str, capabilities: Capabilities | None = None) -> Model:
    """Open the model named by `specification`; `capabilities` override the shipped table.

    Raises ModelError for a specification that is not one of `FORMS`, and for a model that can't be opened.
    """
    provider, colon, rest = specification.partition(":")
    if not colon or not rest or provider not in PROVIDERS:
        expected = ", ".join(f"`{form}`" for form in FORMS)
        raise ModelError(f"unknown model `{specification}`; expected one of {expected}")
    model: Model = import_module(f"{__name__}.{PROVIDERS[provider]}").open_model(provider, rest, capabilities)
    return model
