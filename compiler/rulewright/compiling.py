"""From a project on disk to a plan: load, check, lower, seal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rulewright.documents.lexicon import pattern_findings
from rulewright.documents.profile import Profile, every_check
from rulewright.errors import DocumentError, UsageError
from rulewright.load import load_file, plain
from rulewright.lower.agreement import disagreements
from rulewright.lower.harness import scenario_findings
from rulewright.lower.jurisdictions import unknown_jurisdictions
from rulewright.lower.plan import lower_project
from rulewright.project import Project, load_project, load_scorecards, stopping
from rulewright.shipped import shipped_root
from rulewright.spelling import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright_runtime.plan import Plan

Choice = TypeVar("Choice")
CONFIGS: Final = Path("benchmark", "configs")
USUAL_PROFILE: Final = "publish"
USUAL_SCORECARD: Final = "two-tier"


def compile_project(path: Path | str | Project, *, profile: str | None = None, scorecard: str | None = None) -> Plan:
    """The sealed plan of the project at `path` (a project file or folder) under a profile and a scorecard.

    Names left out are those of the project file, else `publish` and `two-tier`, else the only one there is. Raises
    `DocumentError` with every finding that forbids to compile, `UsageError` for an unknown profile or scorecard.
    """
    project = path if isinstance(path, Project) else load_project(path)
    try:
        chosen = choose_profile(project, profile)
        card = choose_scorecard(project, scorecard)
    except UsageError:
        refuse(project, project.diagnostics)  # where a folder is not found, its profiles are not either
        raise
    refuse(project, [*project.diagnostics, *disagreements(project), *scenario_findings(project.scenarios.values())])
    refuse(project, unknown_jurisdictions(project))
    plan, found = lower_project(project, chosen, card, scoring_of(project))
    for name in plan.lexicons.keys() & project.lexicons.keys():
        found.extend(pattern_findings(project.lexicons[name]))
    refuse(project, found)
    return plan


def refuse(project: Project, found: Iterable[Diagnostic]) -> None:
    """Raise `DocumentError` when one of the findings forbids to compile the project."""
    stops = stopping(project, found)
    if stops:
        raise DocumentError(stops)


def choose_profile(project: Project, name: str | None) -> Profile:
    """The profile called `name`, else the usual one; a project without profiles runs every check."""
    if not project.profiles and name is None:
        return every_check()
    wanted = name or (project.file.profile if project.file else None)
    return _chosen("profile", project.profiles, wanted, USUAL_PROFILE)


def choose_scorecard(project: Project, name: str | None) -> ScorecardDocument:
    """The scorecard called `name`, else the usual one; a project without scorecards has the shipped ones."""
    cards = project.scorecards or load_scorecards(shipped_root() / CONFIGS / "scorecards")
    wanted = name or (project.file.scorecard if project.file else None)
    return _chosen("scorecard", cards, wanted, USUAL_SCORECARD)


def scoring_of(project: Project) -> dict[str, Any]:
    """What the scorecard sees as `scoring`: the project's file; under the shipped scorecards, what it leaves out is
    the shipped file's."""
    own = project.scoring.fields if project.scoring else {}
    if project.scorecards:
        return own
    shipped: dict[str, Any] = plain(load_file(shipped_root() / CONFIGS / "scoring.yaml").root)
    return {**shipped, **own}


def _chosen(kind: str, known: Mapping[str, Choice], wanted: str | None, usual: str) -> Choice:
    if wanted is None:
        wanted = usual if usual in known else next(iter(known)) if len(known) == 1 else None
    if wanted is not None and wanted in known:
        return known[wanted]
    names = ", ".join(f"`{name}`" for name in sorted(known)) or "none"
    if wanted is None:
        raise UsageError(f"name a {kind}: the project has {names}")
    near = suggest(wanted, known)
    hint = f"; did you mean `{near}`?" if near else f"; the project has {names}"
    raise UsageError(f"there is no {kind} `{wanted}`{hint}")
