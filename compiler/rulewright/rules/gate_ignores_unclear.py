"""Rule: a gate that an undecided verdict passes unseen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.scorecard import ScorecardDocument

# Any of these may hold for a verdict that is not named; without them a condition holds for what it names.
OTHERWISE: Final = re.compile(r"UNCLEAR|[!<>?]|\bnot\b|\btrue\b|\bextra\b|\badjudication_required\b")


def gate_ignores_unclear(scorecard: ScorecardDocument) -> Iterator[Diagnostic]:
    """Neither `stops` nor `undecided` of a gate holds for an UNCLEAR verdict.

    Why it matters: where nobody could say whether a grave failure happened, the gate would count as passed.
    Instead: let `undecided` name UNCLEAR, or let `stops` hold for everything but PASS.
    """
    for gate in scorecard.gates:
        if not any(OTHERWISE.search(str(condition.value)) for condition in (gate.stops, gate.undecided)):
            yield warning(gate.undecided, f"the gate `{gate.name}` passes on `UNCLEAR`")
