import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import WORDS, ScenarioDocument, hours_between

LATER: Final = re.compile(r"\b(?:later|next)\b", re.IGNORECASE)


def unreadable_elapsed_time(scenario: ScenarioDocument) -> Findings:
    """The `time_elapsed` of a session can't be read, is missing, or counts from before the first session.

    Why it matters: conditions on the hours between sessions can't be decided.
    Instead: write `2 weeks later`, `the next day` or `Day 3`, and `Day 0` for the first.
    """
    first = next(iter(scenario.sessions), None)
    if first is not None and LATER.search(first.elapsed):
        message = f"`{first.elapsed}` counts from an earlier session, but this is the first"
        yield warning(first.place("time_elapsed"), message)
    help = "write `2 weeks later`, `the next day` or `Day 3`"
    times = [session.elapsed for session in scenario.sessions]
    for at, (session, hours) in enumerate(zip(scenario.sessions, hours_between(times), strict=True)):
        counts = set(session.elapsed.lower().split()) & WORDS.keys() or re.search(r"\d", session.elapsed)
        if at and hours is None and counts and all(times[1:at]):  # `later` has no number
            yield warning(session.place("time_elapsed"), f"`{session.elapsed}` can't be read as a time", help=help)
            return  # later times may depend on it
        if at and not session.elapsed and any(times):
            yield warning(session.node, "this session has no `time_elapsed`, but another one has", help=help)
            return
