"""Rule: a scenario of a jurisdiction whose rules are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rulewright.project import Project


def unknown_jurisdiction(project: Project) -> Iterator[Diagnostic]:
    """A scenario names a jurisdiction for which there is no rule set.

    Why it matters: the scenario is judged without the rules it was written for.
    Instead: correct the name, or add the rule set's file.
    """
    from rulewright.lower.jurisdictions import unknown_jurisdictions  # late: a lone document needs no lowering

    yield from unknown_jurisdictions(project)
