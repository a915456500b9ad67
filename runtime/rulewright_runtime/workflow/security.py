"""What agents say is looked through before it is kept or shown to others: secrets, and orders to whoever reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.regex import compile_regex
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, AgentReply
from rulewright_runtime.workflow.events import EventDraft
from rulewright_runtime.workflow.run_settings import Security

REDACTED: Final = "[redacted]"
SHOWN: Final = 100  # characters of what was detected

# Keys of widespread services, by the shape that their owners give them.
SECRETS: Final = (
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    r"\bsk-[A-Za-z0-9_-]{20,}\b",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}\b",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s]+-----END [A-Z ]*PRIVATE KEY-----",
)
# Orders that a text gives to the model that reads it.
INJECTIONS: Final = (
    r"(?i)\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|all)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules|directions)\b",
    r"(?i)\b(?:give|return|answer|output|assign)\b.{0,40}\bscore\b.{0,20}\b1(?:\.0+)?\b",
    r"(?i)\b(?:reveal|print|repeat|show)\b.{0,40}\bsystem prompt\b",
    r"(?i)</?(?:system|assistant)>",
)
_TEXTS: Final = ("text", "summary", "feedback", "critique")


def check(security: Security) -> None:
    """Raise PlanError for a pattern that can't be used."""
    for pattern in security.secret_patterns:
        if compile_regex(pattern).search("") is not None:
            raise PlanError(f"the pattern `{pattern}` matches the empty text")


def redacted(security: Security, reply: AgentReply) -> tuple[AgentReply, tuple[EventDraft, ...]]:
    """The reply without its secrets, and the event that says so."""
    found = {name: without_secrets(security, getattr(reply, name)) for name in _TEXTS}
    count = sum(number for _, number in found.values())
    if not count:
        return reply, ()
    reply = msgspec.structs.replace(reply, **{name: text for name, (text, _) in found.items()})
    return reply, (EventDraft("security.secret_redacted", {"where": "reply", "count": count}, "warning"),)


def without_secrets(security: Security, text: str) -> tuple[str, int]:
    """The text with `[redacted]` for every secret, and how many there were."""
    count = 0
    for pattern in (*SECRETS, *security.secret_patterns):
        text, found = compile_regex(pattern).subn(REDACTED, text)
        count += found
    return text, count


def detect_injections(security: Security, texts: Iterable[tuple[str, str]]) -> tuple[EventDraft, ...]:
    """An event for each text (where it stands, and the text) that gives orders; in quarantine an AdapterError."""
    level = security.injection_detection_level
    if level == "pass":
        return ()
    events = []
    for where, text in texts:
        order = next((found for pattern in INJECTIONS if (found := compile_regex(pattern).search(text))), None)
        if order is not None:
            details = {"where": where, "text": order.group(0)[:SHOWN], "level": level}
            events.append(EventDraft("security.injection_detected", details, "warning"))
    if events and level == "quarantine":
        first = events[0].details
        message = f"{first['where']} gives orders to whoever reads it: `{first['text']}`"
        raise AgentError(message, events=tuple(events))
    return tuple(events)
