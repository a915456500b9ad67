"""Rule: a gate whose failure no blindspot tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, advice

if TYPE_CHECKING:
    from rulewright.project import Project


def gate_without_blindspot(project: Project) -> Iterator[Diagnostic]:
    """A project that names blindspots has a gate check that none of them is about.

    Why it matters: a transcript that fails at this gate alone shows no blindspot, so the profile of a model that fails
    there again and again looks clean.
    Instead: give the check a name in the file of blindspots.
    """
    flags = project.roots.get("blindspots")
    if flags is None or not project.blindspots:
        return
    named = set(project.blindspots.values())
    for check in project.checks:
        if check.is_gate and check.id not in named:
            yield advice(
                check.place("id"),
                f"no blindspot tells that the gate check `{check.id}` failed",
                notes=[(flags.entries[0].key, "the blindspots begin here")],
            )
