"""Security of agents' replies: secrets are redacted and prompt injections detected before a reply is stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.regex import compile_regex
from rulewright_runtime.workflow.adapters.agent_adapter import AgentReply
from rulewright_runtime.workflow.events import EventDraft
from rulewright_runtime.workflow.run_settings import Security

REDACTED: Final = "[redacted]"
SHOWN: Final = 100  # characters of a detected injection

# Key formats of common services, as their owners document them.
SECRETS: Final = (
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    r"\bsk-[A-Za-z0-9_-]{20,}\b",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}\b",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s]+-----END [A-Z ]*PRIVATE KEY-----",
)
# Instructions to the model that reads the text.
INJECTIONS: Final = (
    r"(?i)\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|all)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules|directions)\b",
    r"(?i)\b(?:give|return|answer|output|assign)\b.{0,40}\bscore\b.{0,20}\b1(?:\.0+)?\b",
    r"(?i)\b(?:reveal|print|repeat|show)\b.{0,40}\bsystem prompt\b",
    r"(?i)</?(?:system|assistant)>",
)
_TEXTS: Final = ("text", "summary", "feedback", "critique")


def check(security: Security) -> None:
    """Raise PlanError for an invalid pattern, or one that matches the empty text."""
    for pattern in security.secret_patterns:
        if compile_regex(pattern).search("") is not None:
            raise PlanError(f"the pattern `{pattern}` matches the empty text")


def redact_reply(security: Security, reply: AgentReply) -> tuple[AgentReply, tuple[EventDraft, ...]]:
    """Return the reply without its secrets, and an event with their number if there were any."""
    texts = {name: redact_text(security, getattr(reply, name)) for name in _TEXTS}
    count = sum(number for _, number in texts.values())
    if not count:
        return reply, ()
    reply = msgspec.structs.replace(reply, **{name: text for name, (text, _) in texts.items()})
    return reply, (EventDraft("security.secret_redacted", {"where": "reply", "count": count}, "warning"),)


def redact_text(security: Security, text: str) -> tuple[str, int]:
    """Replace every secret by `[redacted]`. Returns the text and the number of secrets."""
    count = 0
    for pattern in (*SECRETS, *security.secret_patterns):
        text, replaced = compile_regex(pattern).subn(REDACTED, text)
        count += replaced
    return text, count


def detect_injections(security: Security, texts: Iterable[tuple[str, str]]) -> list[EventDraft]:
    """Return an event for each labelled text with an injection; none at the level `pass`."""
    level, found = security.injection_detection_level, []
    for where, text in texts if level != "pass" else ():
        match = next((hit for pattern in INJECTIONS if (hit := compile_regex(pattern).search(text))), None)
        if match is not None:
            details = {"where": where, "text": match.group(0)[:SHOWN], "level": level}
            found.append(EventDraft("security.injection_detected", details, "warning"))
    return found
