from collections.abc import Iterable

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ProbeDocument, ScenarioDocument, TurnDocument


def probe_reads_a_later_session(scenario: ScenarioDocument) -> Findings:
    """A probe asks for a session that does not come before its turn, or for the time in the first session.

    Why it matters: the probe asks for something that nobody has said yet.
    Instead: name the session in which the user says it.
    """
    numbers = [session.number for session in scenario.sessions]
    starts = {session.number: [turn.number for turn in session.turns][:1] for session in scenario.sessions}
    held = {turn.number: session.number for session in scenario.sessions for turn in session.turns}
    for probe in scenario.probes:
        own = held.get(probe.turn)
        if own is None or None in numbers:
            continue
        if probe.kind == "time" and own == numbers[0] and len(numbers) > 1 and not _is_answered(probe, scenario):
            yield warning(probe.place("t"), f"turn {probe.turn} is in the first session: no time has passed")
        are_earlier = True
        for at, named in enumerate(probe.from_sessions):
            is_first = named == own and starts[own] == [probe.turn]
            if named in numbers and (named > own or is_first):
                where = f"begins session {own}" if is_first else f"is in session {own}, before session {named} begins"
                message = f"turn {probe.turn} {where}: nothing was said in session {named} before it"
                yield warning(probe.place("from_sessions", at), message)
                are_earlier = False
        yield from _in_other_sessions(probe, scenario) if are_earlier else ()


def _in_other_sessions(probe: ProbeDocument, scenario: ScenarioDocument) -> Findings:
    """A finding for the sessions of a probe if an expected text is said in another one only."""
    for item in map(str.casefold, probe.expected if probe.kind == "recall" and probe.from_sessions else ()):
        sessions = [each.number for each in scenario.sessions if _contain(each.turns, item)]
        if sessions and not set(sessions) & set(probe.from_sessions):
            message = f"`{item}` is said in session {sessions[0]}, which the probe does not name"
            yield warning(probe.place("from_sessions"), message)
            return


def _contain(turns: Iterable[TurnDocument], item: str) -> bool:
    return any(item in turn.user_message.casefold() for turn in turns)


def _is_answered(probe: ProbeDocument, scenario: ScenarioDocument) -> bool:
    """Whether the user mentions an expected time up to the probed turn."""
    messages = [turn.user_message.casefold() for turn in scenario.turns if (turn.number or 0) <= (probe.turn or 0)]
    return any(item.casefold() in message for item in probe.expected for message in messages)
