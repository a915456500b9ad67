from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument

WHOLE: Final = frozenset({"session_state", "scenario_level"})


def unit_of_analysis_unfit(check: CheckDocument) -> Findings:
    """The unit of analysis does not fit the route.

    Why it matters: a longitudinal check that sees one exchange can't see changes between sessions, and only the route
    `extract_then_corpus` extracts claims.
    Instead: use `session_state` or `scenario_level` on `longitudinal_trace`, and another unit elsewhere.
    """
    unit, route = check.routing.unit_of_analysis, check.routing.route
    if unit is None or not route:
        return
    if route == "longitudinal_trace" and unit not in WHOLE:
        message = f"`{unit}` shows the judge only a part, but `longitudinal_trace` compares whole sessions"
        help = "write `session_state`"
    elif unit == "extracted_claim" and check.is_judged:
        message, help = f"the route `{route}` does not extract claims, so the judge gets the whole transcript", None
    else:
        return
    notes = [(check.place("routing", "route"), "the route is set here")]
    yield warning(check.place("routing", "unit_of_analysis"), message, notes=notes, help=help)
