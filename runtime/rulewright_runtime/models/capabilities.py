"""Capabilities of models by family: a table of name patterns that a project can extend."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final, Literal

import msgspec


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a model accepts.

    `temperature`: whether it accepts one. `limit`: the request's key for the reply's token limit. `structured`: whether
    the endpoint enforces a JSON Schema (`schema`), a JSON object (`json`) or nothing (`none`). `context`: the window in
    tokens for prompt and reply, `reply`: the longest useful reply in tokens; None if unknown. `bounds`: whether a
    schema's `maxLength` and `maxItems` are enforced instead of refused.
    """

    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structured: Literal["schema", "json", "none"] = "none"
    context: int | None = None
    reply: int | None = None
    bounds: bool = False


class Family(msgspec.Struct, frozen=True):
    """Models whose names match `pattern` (`*` and `?`): their maker's family name and capabilities."""

    provider: str
    pattern: str
    name: str
    capabilities: Capabilities


_REASONING: Final = Capabilities(temperature=False, limit="max_completion_tokens", structured="schema", context=200_000)
_CHAT: Final = Capabilities(structured="schema", context=128_000)
_CLAUDE: Final = Capabilities(structured="schema", context=200_000)
_CLAUDE_WITHOUT_TEMPERATURE: Final = Capabilities(temperature=False, structured="schema", context=200_000)
_UNKNOWN: Final = Capabilities()

# The first matching row applies. Sources: the providers' API references, read in 2026; Claude models from Opus 4.7 on
# answer a request with `temperature` with 400, OpenAI's reasoning models one with `max_tokens`.
FAMILIES: Final[tuple[Family, ...]] = (
    *(Family("openai", pattern, "gpt", _REASONING) for pattern in ("o[1-9]*", "gpt-5*", "gpt-6*")),
    Family("openai", "gpt-*", "gpt", _CHAT),
    Family("openai", "chatgpt-*", "gpt", _CHAT),
    *(
        Family("anthropic", pattern, "claude", _CLAUDE)
        for pattern in ("claude-3*", "claude-*-4-[0-6]*", "claude-*-4-20*", "claude-*-4")
    ),
    Family("anthropic", "claude-*", "claude", _CLAUDE_WITHOUT_TEMPERATURE),
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
    for family in FAMILIES:
        if family.provider == provider and fnmatchcase(name, family.pattern):
            return family.capabilities
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
