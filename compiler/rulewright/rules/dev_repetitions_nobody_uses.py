"""Rule: a number of votes for development that no profile asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning

if TYPE_CHECKING:
    from rulewright.project import Project


def dev_repetitions_nobody_uses(project: Project) -> Iterator[Diagnostic]:
    """A check sets `dev_repetitions`, and no profile uses them.

    Why it matters: the number looks as if it made development runs cheaper, and it does nothing.
    Instead: set `use_dev_repetitions: true` in a profile, or remove the number.
    """
    if not project.profiles or any(profile.use_dev_repetitions for profile in project.profiles.values()):
        return
    for check in project.checks:
        if check.routing.dev_repetitions is not None:
            yield warning(
                check.key_place("routing", "dev_repetitions"),
                "no profile uses `dev_repetitions`",
                help="a profile does with `use_dev_repetitions: true`",
            )
