from collections.abc import Iterator

from rulewright.diagnostics import Findings, Span, error
from rulewright.documents.base import items, number, place_of
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Node


def turn_that_does_not_exist(scenario: ScenarioDocument) -> Findings:
    """An anchor, a probe or a risk trigger refers to a turn or session that the scenario does not have.

    Why it matters: a cue is never found there, so the window is empty or shorter than its author meant.
    Instead: correct the number.
    """
    numbers = {turn.number for turn in scenario.turns if turn.number is not None}
    unread = any(turn.number is None and "turn_number" in turn.node for turn in scenario.turns)
    if not numbers or unread or any(not session.turns for session in scenario.sessions):
        return  # the turns are not all known
    sessions = {session.number for session in scenario.sessions if session.number is not None}
    for probe in scenario.probes if sessions else ():
        for at, named in enumerate(probe.from_sessions):
            if named not in sessions:
                yield error(probe.place("from_sessions", at), f"the scenario has no session {named}")
    for value, place, what in _references(scenario):
        if value not in numbers:
            last = max(numbers)
            yield error(
                place,
                f"{what} turn {value}, but the last turn is {last}"
                if value > last
                else f"{what} turn {value}, which does not exist",
            )


def _references(scenario: ScenarioDocument) -> Iterator[tuple[int, Span, str]]:
    """Every reference to a turn: the number, its place, and the beginning of the message."""
    for anchor in scenario.cue_anchors:
        for steps, value, what in (
            (("cue_turn",), anchor.cue_turn, "the cue is in"),
            (("response_window", "from_turn"), anchor.from_turn, "the window starts at"),
            (("response_window", "to_turn"), anchor.to_turn, "the window ends at"),
        ):
            if value is not None:
                yield value, anchor.place(*steps), what
    nodes: list[tuple[Node, str]] = [(scenario.node, "risk_triggers"), (scenario.node, "probes")]
    nodes += [(turn.node, "probes") for turn in scenario.turns]
    for node, key in nodes:
        for item in items(node, key):
            value = number(item, "t")
            if value is not None:
                yield value, place_of(item, "t"), "this refers to"
