"""Rule: a comparison that the range of its variable decides."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.proving.located import DocumentWithConditions, placed_conditions
from rulewright.proving.program_parts import written
from rulewright.proving.studies import span_of


def comparison_out_of_range(document: DocumentWithConditions) -> Iterator[Diagnostic]:
    """A comparison has the same result for every value that its variable can have.

    Why it matters: a score lies between 0 and 1, and a counter starts at 1, so a limit outside decides nothing.
    Instead: compare with a value inside the range, for instance `>= 0.8` instead of `> 80`.
    """
    for placed in placed_conditions(document):
        for part, holds in placed.study.decided:
            outcome = "can never fail" if holds else "can never hold"
            yield warning(span_of(placed, part), f"`{written(part)}` {outcome}")
