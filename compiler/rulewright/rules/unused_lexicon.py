"""Rule: a lexicon that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import first_place
from rulewright.spelling import suggest

if TYPE_CHECKING:
    from rulewright.documents.check import Routing
    from rulewright.project import Project


def unused_lexicon(project: Project) -> Iterator[Diagnostic]:
    """A lexicon is not used by any check or state machine.

    Why it matters: its patterns are never searched for.
    Instead: name it in a check, for instance as `deterministic_precheck`, or in a cue of a state machine, or remove it.
    """
    named = {name for check in project.checks for name in _lexicons_of(check.routing)}
    named |= {
        name for check in project.checks for name in check.scorer.detectors or ()
    }  # `detector-is-not-routed` reports them
    named |= {cue.lexicon for machine in project.state_machines.values() for cue in machine.cues.values()}
    # A lexicon that a misspelt name was meant for is not unused.
    meant = {suggest(name, project.lexicons) for name in named if name and name not in project.lexicons}
    for name, lexicon in project.lexicons.items():
        if project.checks and name not in named | meant:
            place = lexicon.node.key_span(name) if name in lexicon.node else first_place(lexicon.node)
            yield warning(place, f"nothing uses the lexicon `{name}`")


def _lexicons_of(routing: Routing) -> tuple[str | None, ...]:
    return (routing.deterministic_precheck, routing.cue, routing.expected_reply, routing.forbidden_reply)
