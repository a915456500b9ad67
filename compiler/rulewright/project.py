"""A whole project: its folders are found, every document is read, and all findings are collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping as Environment
    from pathlib import Path

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.check import Check
    from rulewright.documents.lexicon import Lexicon
    from rulewright.documents.markers import MarkerSet
    from rulewright.documents.profile import Profile
    from rulewright.documents.project_file import Accept, ProjectFile, Semantics
    from rulewright.documents.scenario import Scenario
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.scoring import Price, Scoring
    from rulewright.load import Loaded


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """Every document of a project and what is wrong with them.

    Checks and scenarios are in the order of their file names; of a name given twice the first file counts and the
    second is a finding. `diagnostics` are the findings of loading and structure, not those of lint rules.
    """

    name: str
    folder: Path
    file: ProjectFile | None
    semantics: Semantics
    checks: tuple[Check, ...]
    lexicons: dict[str, Lexicon]
    markers: tuple[MarkerSet, ...]
    scenarios: dict[str, Scenario]
    profiles: dict[str, Profile]
    blindspots: dict[str, str]
    scoring: Scoring | None
    pricing: dict[str, Price]
    scorecards: dict[str, ScorecardDocument]
    rule_sets: dict[str, dict[str, object]]
    models: dict[str, str]
    judge_model: str | None
    judge_source: str | None
    exempt: tuple[str, ...]
    accept: tuple[Accept, ...]
    loaded: tuple[Loaded, ...]
    diagnostics: tuple[Diagnostic, ...]

    def check(self, name: str) -> Check | None:
        """The check called `name`, or None."""
        return next((check for check in self.checks if check.id == name), None)

    def marker_set(self, name: str) -> MarkerSet | None:
        """The marker set called `name`, else the one that serves every name, else None."""
        named = (found for found in self.markers if found.name == name)
        return next(named, next((found for found in self.markers if found.name is None), None))


def load_project(path: Path | str, environment: Environment[str, str] | None = None) -> Project:
    """The project of a project file, or of a folder that holds one or is laid out like one.

    `environment` replaces the process's variables in the project file. Raises `UsageError` where there is no project;
    mistakes in documents are `Project.diagnostics`.
    """
    raise NotImplementedError


def stopping(project: Project, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The findings among `diagnostics` that forbid to compile: errors, except those the project accepts and, under
    `semantics: reference`, unknown keys."""
    raise NotImplementedError
