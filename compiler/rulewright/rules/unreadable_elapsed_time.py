"""Rule: a time between sessions that can't be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import WORDS, ScenarioDocument, hours_between


def unreadable_elapsed_time(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """The `time_elapsed` of a session contains a number or unit, but can't be read as a time.

    Why it matters: conditions on the hours between sessions can't be decided.
    Instead: write `2 weeks later`, `the next day` or `Day 3`.
    """
    times = [session.elapsed for session in scenario.sessions]
    for at, (session, hours) in enumerate(zip(scenario.sessions, hours_between(times), strict=True)):
        counts = set(session.elapsed.lower().split()) & WORDS.keys() or re.search(r"\d", session.elapsed)
        if at and hours is None and counts and all(times[:at]):  # `later` has no number
            help = "write `2 weeks later`, `the next day` or `Day 3`"
            yield warning(session.place("time_elapsed"), f"`{session.elapsed}` can't be read as a time", help=help)
            return  # later times may depend on it
