"""From a project on disk to a plan: load, check, lower, seal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rulewright.project import Project
    from rulewright_runtime.plan import Plan


def compile_project(path: Path | str | Project, *, profile: str | None = None, scorecard: str | None = None) -> Plan:
    """The sealed plan of the project at `path` (a project file or folder) under a profile and a scorecard.

    Absent names are those of the project file, else `publish` and the only or `two-tier` scorecard. Raises
    `DocumentError` with every finding that forbids to compile, `UsageError` for an unknown profile or scorecard.
    """
    raise NotImplementedError
