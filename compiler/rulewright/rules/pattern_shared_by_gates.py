"""Rule: one pattern that fails two gates at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning
from rulewright.documents.base import text_scalars
from rulewright.documents.check import GATE_SEVERITIES, LEXICON_ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.check import Check
    from rulewright.load import Scalar
    from rulewright.project import Project


def pattern_shared_by_gates(project: Project) -> Iterator[Diagnostic]:
    """Two gate checks, or checks as grave as gates, look for the same pattern.

    Why it matters: one phrase is then counted as two failures of two kinds, and at most one of them can be meant.
    Instead: keep the pattern in the lexicon of the check it belongs to.
    """
    first: dict[str, tuple[Check, Scalar]] = {}
    for check in project.checks:
        if check.severity not in GATE_SEVERITIES:
            continue
        for pattern in _failing(check, project):
            other, earlier = first.setdefault(str(pattern.value).lower(), (check, pattern))
            if other is not check and earlier is not pattern:
                what = "the gates " if check.is_gate and other.is_gate else ""
                yield warning(
                    pattern,
                    f"`{pattern.value}` fails {what}`{other.id}` and `{check.id}` at once",
                    notes=[(earlier, f"the pattern of `{other.id}`")],
                )


def _failing(check: Check, project: Project) -> tuple[Scalar, ...]:
    """The patterns that fail the check by themselves."""
    if check.routing.route in LEXICON_ROUTES:
        lexicon = project.lexicons.get(check.routing.deterministic_precheck or "")
        return tuple(pattern.scalar for pattern in lexicon.patterns) if lexicon else ()
    markers = project.marker_set(check.routing.scenario_marker or "") if check.routing.scenario_marker else None
    return text_scalars(markers.node, "false_human") if markers else ()
