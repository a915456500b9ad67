"""Rule: two sessions of one number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, error

if TYPE_CHECKING:
    from rulewright.documents.scenario import ScenarioDocument, SessionDocument


def duplicate_session_number(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """Two sessions of a scenario have the same number.

    Why it matters: transcripts and probes name a session by its number, and nobody can tell which one is meant.
    Instead: number the sessions in their order.
    """
    seen: dict[int, SessionDocument] = {}
    for session in scenario.sessions:
        if session.number is None:
            continue
        first = seen.setdefault(session.number, session)
        if first is not session:
            notes = [(first.place("session_number"), "first used here")]
            message = f"two sessions have the number {session.number}"
            yield error(session.place("session_number"), message, notes=notes)
