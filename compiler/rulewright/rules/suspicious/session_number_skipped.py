from itertools import pairwise

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def session_number_skipped(scenario: ScenarioDocument) -> Findings:
    """The numbers of a scenario's sessions are not 1, 2, 3 and so on.

    Why it matters: probes and expressions refer to a session by its number, so references to the missing number find
    nothing.
    Instead: number the sessions in order, from 1.
    """
    numbers = [session.number for session in scenario.sessions]
    if None in numbers or len(set(numbers)) < len(numbers):
        return
    for (before, _), (number, session) in pairwise([(0, None), *zip(numbers, scenario.sessions, strict=True)]):
        if session is not None and number is not None and before is not None and number != before + 1:
            after = f"follows session {before}" if before else "is the first one"
            yield warning(
                session.place("session_number"), f"session {number} {after}; the number should be {before + 1}"
            )
            return  # later numbers follow from this gap
