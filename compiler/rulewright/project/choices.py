"""Which profile and which scorecard a run has, and what the scorecard sees as `scoring`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import first_place
from rulewright.documents.profile import Profile, every_check
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.vocabulary import invisiblebench
from rulewright.errors import UsageError
from rulewright.load import load_file, plain
from rulewright.project import Project, load_scorecards
from rulewright.shipped import CONFIGS, shipped_root
from rulewright.spelling import did_you_mean, suggest

Choice = TypeVar("Choice")
USUAL_PROFILE: Final = "publish"
USUAL_SCORECARD: Final = "two-tier"
UNSORTED: Final = "share"  # the scorecard of checks that are in no bucket of the default vocabulary
PAGES: Final[dict[str, str]] = {
    "unknown-profile": """The project file names a profile that the project does not have.

    Why it matters: nothing can be compiled until a profile is named on the command line.
    Instead: spell it as its file or its key does.
    """,
    "unknown-scorecard": """The project file names an unknown scorecard.

    Why it matters: nothing can be compiled until a scorecard is named on the command line.
    Instead: spell it as the scorecard's own `scorecard` key does.
    """,
}


def choice_findings(project: Project) -> list[Diagnostic]:
    """The profile and the scorecard that the project file names and that there are not."""
    if project.file is None or not project.checks:
        return []
    found = []
    profile, card = project.file.profile, project.file.scorecard
    if profile is not None and project.profiles and profile not in project.profiles:
        message, help = f"unknown profile `{profile}`", _others(profile, project.profiles)
        found.append(error(project.file.place("profile"), message, code="unknown-profile", help=help))
    if card is not None and card not in (cards := project.scorecards or shipped_scorecards()):
        message, help = f"unknown scorecard `{card}`", _others(card, cards)
        found.append(error(project.file.place("scorecard"), message, code="unknown-scorecard", help=help))
    return found


def _others(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known) or f"there are {', '.join(f'`{each}`' for each in sorted(known))}"


def at_home(project: Project, card: ScorecardDocument, found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings, those in a shipped scorecard moved to the project's scoring file: there they can be mended."""
    if project.scorecards or project.scoring is None:
        return found
    place = first_place(project.scoring.node)
    said = f"the shipped scorecard `{card.name}` can't read this file"
    return [
        error(place, f"{said}: {each.message}", code=each.code) if each.span.path == card.path else each
        for each in found
    ]


@cache
def shipped_scorecards() -> dict[str, ScorecardDocument]:
    """The scorecards over verdicts that travel with the product, for projects that have none."""
    return load_scorecards(shipped_root() / CONFIGS / "scorecards")


def choose_profile(project: Project, name: str | None) -> Profile:
    """The profile called `name`, else the usual one; a project without profiles runs every check."""
    if not project.profiles and name is None:
        return every_check()
    wanted = name or (project.file.profile if project.file else None)
    return _chosen("profile", project.profiles, wanted, USUAL_PROFILE)


def choose_scorecard(project: Project, name: str | None) -> ScorecardDocument:
    """The scorecard called `name`, else the usual one; a project without scorecards has the shipped ones, of which the
    usual one sorts checks by the buckets of the default vocabulary."""
    wanted = name or (project.file.scorecard if project.file else None)
    if project.scorecards:
        return _chosen("scorecard", project.scorecards, wanted, USUAL_SCORECARD)
    known = invisiblebench().buckets
    unsorted = project.checks and not any(check.primary_bucket in known for check in project.checks)
    return _chosen("scorecard", shipped_scorecards(), wanted, UNSORTED if unsorted else USUAL_SCORECARD)


def used_scorecard(project: Project) -> ScorecardDocument | None:
    """The project's own scorecard that a run has where none is named; None where there is no such one."""
    if not project.scorecards:
        return None
    try:
        return choose_scorecard(project, None)
    except UsageError:
        return None


def scoring_of(project: Project) -> dict[str, object]:
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
    raise UsageError(f"unknown {kind} `{wanted}`{hint}")
