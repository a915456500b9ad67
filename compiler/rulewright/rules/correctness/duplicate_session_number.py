from rulewright.diagnostics import Findings, error
from rulewright.documents.base import repeated
from rulewright.documents.scenario import ScenarioDocument


def duplicate_session_number(scenario: ScenarioDocument) -> Findings:
    """Two sessions of a scenario have the same number.

    Why it matters: transcripts and probes refer to a session by its number, which is then ambiguous.
    Instead: number the sessions in order.
    """
    numbered = [session for session in scenario.sessions if session.number is not None]
    for session, first in repeated(numbered, lambda each: each.number):
        notes = [(first.place("session_number"), "first used here")]
        message = f"two sessions have the number {session.number}"
        yield error(session.place("session_number"), message, notes=notes)
