"""Evidence: the quotes in a judge's reply, and whether they stand in the turns that it was shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.verdicts import EvidenceSpan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright_runtime.transcripts import Turn

_TYPOGRAPHY: Final = {ord(char): "'" for char in "\u2018\u2019\u201b"} | {ord(char): '"' for char in "\u201c\u201d"}
_SPACES: Final = re.compile(r"\s+")


def quoted(reply: Mapping[str, Any]) -> tuple[EvidenceSpan, ...]:
    """The quotes of a reply, as the reply gives them.

    A missing role is `assistant`, a missing turn 0, a missing quote empty. What is no object, or has a turn that is no
    number, raises AttributeError, ValueError or TypeError.
    """
    return tuple(
        EvidenceSpan(
            item.get("role", "assistant"), int(item.get("turn", 0)), item.get("quote", ""), item.get("rationale")
        )
        for item in reply.get("evidence") or []
    )


def tolerant(reply: Mapping[str, Any]) -> tuple[list[EvidenceSpan], list[Any]]:
    """The well-formed quotes of a reply and, as they are, its malformed ones."""
    items = reply.get("evidence")
    if not isinstance(items, list):
        return [], [] if items is None else [items]
    spans: list[EvidenceSpan] = []
    malformed: list[Any] = []
    for item in items:
        span = _span(item)
        if span is None:
            malformed.append(item)
        else:
            spans.append(span)
    return spans, malformed


def _span(item: Any) -> EvidenceSpan | None:
    if not isinstance(item, dict):
        return None
    role, turn, quote = item.get("role", "assistant"), item.get("turn", 0), item.get("quote", "")
    if isinstance(turn, str) and turn.isdecimal() and turn.isascii() and len(turn) < 10:
        turn = int(turn)
    if not isinstance(role, str) or not isinstance(quote, str) or not isinstance(turn, int) or isinstance(turn, bool):
        return None
    rationale = item.get("rationale")
    return EvidenceSpan(role, turn, quote, rationale if isinstance(rationale, str) else None)


def occurs(quote: str, turns: Sequence[Turn]) -> bool:
    """Whether `quote` stands in one of `turns`; runs of white space and typographic quotation marks don't matter."""
    wanted = _plain(quote)
    return bool(wanted) and any(quote in turn.content or wanted in _plain(turn.content) for turn in turns)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text.translate(_TYPOGRAPHY)).strip()
