"""Rule: one pattern that fails two gates at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning
from rulewright.documents.check import LEXICON_ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.check import Check
    from rulewright.documents.lexicon import PatternEntry
    from rulewright.project import Project


def pattern_shared_by_gates(project: Project) -> Iterator[Diagnostic]:
    """Two gate checks look for the same pattern.

    Why it matters: one phrase is then counted as two failures of two kinds, and at most one of them can be meant.
    Instead: keep the pattern in the lexicon of the check it belongs to.
    """
    first: dict[str, tuple[Check, PatternEntry]] = {}
    for check in project.checks:
        if not check.is_gate or check.routing.route not in LEXICON_ROUTES:
            continue
        lexicon = project.lexicons.get(check.routing.deterministic_precheck or "")
        for pattern in lexicon.patterns if lexicon else ():
            other, entry = first.setdefault(pattern.text.lower(), (check, pattern))
            if other is not check and entry is not pattern:
                yield warning(
                    pattern.scalar,
                    f"`{pattern.text}` fails the gates `{other.id}` and `{check.id}` at once",
                    notes=[(entry.scalar, f"the pattern of `{other.id}`")],
                )
