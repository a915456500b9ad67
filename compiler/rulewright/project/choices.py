"""The profile and scorecard of a run, and the scorecard's variable `scoring`."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Mapped
from functools import cache
from typing import Any, Final, TypeVar

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Guess, Span, error
from rulewright.documents.base import first_place, text
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.profile import Profile, every_check
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.vocabulary import invisiblebench
from rulewright.errors import UsageError
from rulewright.load import Mapping, load_file, plain
from rulewright.project import Project, load_scorecards
from rulewright.shipped import CONFIGS, shipped_root
from rulewright.spelling import did_you_mean, question, suggest
from rulewright_runtime.english import ticked

Choice = TypeVar("Choice")
DEFAULT_PROFILE: Final = "publish"
DEFAULT_SCORECARD: Final = "two-tier"
SCORECARD_WITHOUT_BUCKETS: Final = "share"  # for checks without a bucket of the default vocabulary

_SCORING_PATH: Final = re.compile(r"\bscoring\.(\w+(?:\.\w+)*)\Z")


def choice_findings(project: Project) -> list[Diagnostic]:
    """Report an unknown profile or scorecard in the project file."""
    if project.file is None:
        return []
    findings = []
    profile, card, over_cases = project.file.profile, _named_scorecard(project), _over_cases(project)
    if profile is not None and project.checks and project.profiles and profile not in project.profiles:
        message, help = f"unknown profile `{profile}`", _others(profile, project.profiles)
        findings.append(error(project.file.place("profile"), message, code="unknown-profile", help=help))
    cards = {*(project.scorecards or (shipped_scorecards() if project.checks else ())), *over_cases}
    is_usual = not project.checks and dependencies.is_file(shipped_root() / CONFIGS / "scorecards" / f"{card}.yaml")
    if card is not None and cards and card not in cards and not is_usual:
        message, help = f"unknown scorecard `{card}`", _others(card, cards)
        findings.append(error(project.file.place("scorecard"), message, code="unknown-scorecard", help=help))
    return findings


def _others(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known) or f"expected {ticked(sorted(known))}"


def relocate_scorecard_findings(
    project: Project, card: ScorecardDocument, findings: list[Diagnostic]
) -> list[Diagnostic]:
    """Return the findings, those of a shipped scorecard moved to the project's scoring file, which can be fixed."""
    if project.scorecards or project.scoring is None:
        return findings
    prefix = f"the shipped scorecard `{card.name}` can't read this file"
    moved = []
    for each in findings:
        if each.span.path != card.path:
            moved.append(each)
            continue
        place, help = _place_of(_path_before(each.span, card), project.scoring.node)
        moved.append(error(place, f"{prefix}: {each.message}", code=each.code, help=help))
    return list(dict.fromkeys(moved))


def _path_before(span: Span, card: ScorecardDocument) -> list[str]:
    """The keys of `scoring.KEY.KEY` in a scorecard that ends where `span` does; none if another text does."""
    found = _SCORING_PATH.search(card.node.source.line_text(span.end_line)[: span.end_column - 1])
    return found[1].split(".") if found else []


def _place_of(path: Sequence[str], node: Mapping) -> tuple[Span, Guess | None]:
    """The last key of `path` that a mapping has, or the misspelt one after it, with the help for that; the mapping's
    first key if it has none."""
    place = first_place(node)
    for key in path:
        entry = node.index.get(key)
        if entry is None:
            meant = next((each for each in node.entries if suggest(each.name, path) == key), None)
            return (place, None) if meant is None else (meant.key.span, Guess(key))
        place = entry.key.span
        if not isinstance(entry.value, Mapping):
            break
        node = entry.value
    return place, None


@cache
def shipped_scorecards() -> dict[str, ScorecardDocument]:
    """Return the shipped scorecards over verdicts, for projects without any."""
    return load_scorecards(shipped_root() / CONFIGS / "scorecards")


def choose_profile(project: Project, name: str | None) -> Profile:
    """Return the profile called `name`, else the default; without profiles every check runs. Raises UsageError."""
    if not project.profiles and name is None:
        return every_check()
    requested = name or (project.file.profile if project.file else None)
    return _choose("profile", project.profiles, requested, DEFAULT_PROFILE)


def choose_scorecard(project: Project, name: str | None) -> ScorecardDocument:
    """Return the scorecard called `name`, else the default. A project without scorecards has the shipped ones, of which
    the default needs the buckets of the default vocabulary. Raises UsageError."""
    requested = name or _named_scorecard(project)
    if project.scorecards:
        return _choose("scorecard", project.scorecards, requested, DEFAULT_SCORECARD)
    buckets = invisiblebench().buckets
    no_buckets = project.checks and not any(check.primary_bucket in buckets for check in project.checks)
    return _choose(
        "scorecard", shipped_scorecards(), requested, SCORECARD_WITHOUT_BUCKETS if no_buckets else DEFAULT_SCORECARD
    )


def _named_scorecard(project: Project) -> str | None:
    """The scorecard that the project file names, unless it is one over cases, which `score` takes."""
    name = project.file.scorecard if project.file else None
    return name if name not in _over_cases(project) else None


def _over_cases(project: Project) -> set[str]:
    """The names of the scorecards over cases."""
    names = (text(each.root, "scorecard") for each in project.loaded if kind_of(each.root) == CASE_SCORECARD)
    return {*filter(None, names)}


def usual_scorecard(project: Project) -> ScorecardDocument | None:
    """Return the default scorecard, the project's own or a shipped one; None where a name is needed."""
    try:
        return choose_scorecard(project, None)
    except UsageError:
        return None


def scoring_of(project: Project) -> dict[str, object]:
    """Return the scorecard's variable `scoring`: the fields of the project's file, under the shipped scorecards
    completed by those of the shipped file."""
    own = project.scoring.fields if project.scoring else {}
    if project.scorecards:
        return own
    shipped: dict[str, Any] = plain(load_file(shipped_root() / CONFIGS / "scoring.yaml").root)
    return {**shipped, **own}


def _choose(kind: str, options: Mapped[str, Choice], requested: str | None, default: str) -> Choice:
    if requested is None:
        requested = default if default in options else next(iter(options)) if len(options) == 1 else None
    if requested is not None and requested in options:
        return options[requested]
    names = ticked(sorted(options)) or "none"
    if requested is None:
        raise UsageError(f"name a {kind}: the project has {names}")
    raise UsageError(f"unknown {kind} `{requested}`{question(requested, options, f'; the project has {names}')}")
