"""Rule: a lexicon that no check names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning
from rulewright.documents.base import first_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.project import Project


def unused_lexicon(project: Project) -> Iterator[Diagnostic]:
    """No check names a lexicon.

    Why it matters: its patterns are looked for in no transcript.
    Instead: name it as a check's `deterministic_precheck`, or remove it.
    """
    used = {check.routing.deterministic_precheck for check in project.checks}
    for routing in (check.routing for check in project.checks):
        used |= {routing.cue, routing.expected_reply, routing.forbidden_reply}
    for name, lexicon in project.lexicons.items():
        if project.checks and name not in used:
            place = lexicon.node.key_span(name) if name in lexicon.node else first_place(lexicon.node)
            yield warning(place, f"no check uses the lexicon `{name}`")
