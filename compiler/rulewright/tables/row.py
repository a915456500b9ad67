"""A row of a checked decision table, for those who reason about tables."""

from __future__ import annotations

from dataclasses import dataclass

from rulewright.diagnostics import Span
from rulewright_runtime.ir import Program


@dataclass(frozen=True, slots=True)
class Row:
    """When a row decides, what it gives (None: the table ends without a match).

    Conditions of the tables around it are included, and variables are written out; None means always.
    """

    condition: Program | None
    output: Program | None
    explanation: Program | None
    span: Span
