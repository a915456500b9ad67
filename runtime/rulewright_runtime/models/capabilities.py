"""Capabilities and makers of models, by patterns of their names."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final, Literal

import msgspec


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
