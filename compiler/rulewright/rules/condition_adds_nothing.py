"""Rule: a redundant part of a condition."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.proving.located import DocumentWithConditions, placed_conditions
from rulewright.proving.program_parts import written
from rulewright.proving.studies import span_of


def condition_adds_nothing(document: DocumentWithConditions) -> Iterator[Diagnostic]:
    """A part of a condition is redundant: it repeats another part, or another part decides it.

    Why it matters: only one of the two parts has an effect; a change of the other one changes nothing.
    Instead: remove the part, or correct its value or variable.
    """
    for placed in placed_conditions(document):
        for part, joined in placed.study.idle:
            message = f"`{written(part)}` is redundant: the other side of `{_WORDS[joined]}` already decides it"
            yield warning(span_of(placed, part), message)


_WORDS = {"and": "&&", "or": "||"}
