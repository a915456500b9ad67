"""How an answer ended, as providers and tools record it: the reasons for which answers are not whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright_runtime.strict_json import JsonMapping

# The ends of answers that are not whole; a refusal is whole.
CUT: Final = {"length": "at the limit of its tokens", "filter": "by a filter", "other": "before its end"}
KEYS: Final = (
    "finish", "finish_reason", "finish_reasons", "finishReason", "stop_reason", "stopReason", "done_reason",
    "gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.finish_reason",
)  # fmt: skip
_HOLDERS: Final = ("response_metadata", "generation_info", "additional_kwargs")  # of LangChain
_WORDS: Final = {
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"), "length"
    ),
    **dict.fromkeys(
        (
            "filter", "content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content",
            "spii", "guardrail_intervened",
        ),
        "filter",
    ),
    **dict.fromkeys(("other", "error", "incomplete", "cancelled", "canceled", "aborted", "interrupted"), "other"),
}  # fmt: skip


def finish_of(record: JsonMapping) -> str | None:
    """Return the key of `CUT` for an answer that the record says is not whole, else None."""
    return next((found for each in _reasons(record) if (found := _WORDS.get(_plain(each)))), None)


def _reasons(record: JsonMapping) -> Iterator[object]:
    for key in KEYS:
        value = record.get(key)
        yield from value if isinstance(value, list) else [value]
    details = record.get("incomplete_details")  # of the Responses API
    if isinstance(details, dict):
        yield details.get("reason") or "incomplete"
    if record.get("status") == "incomplete":
        yield "incomplete"
    for holder in _HOLDERS:
        if isinstance(inner := record.get(holder), dict):
            yield from _reasons(inner)


def _plain(reason: object) -> str:
    word = reason if isinstance(reason, str) else ""
    return word.lower().replace("-", "_").removeprefix("finish_reason_")
