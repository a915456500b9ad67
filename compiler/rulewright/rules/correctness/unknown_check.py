import re
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Findings, Span, error
from rulewright.documents.base import Document, entries
from rulewright.documents.profile import Profile
from rulewright.expression.syntax_tree import Expr, Name, Select, texts_compared
from rulewright.load import load_file
from rulewright.lower.expressions_of import texts_in
from rulewright.project import Project
from rulewright.spelling import did_you_mean, is_spelt_like
from rulewright_runtime.judging.judge import REPLAY

DIGITS: Final = re.compile(r"\d+")
OF_RUBRICS: Final = "rubric/"  # the prefix of the ids of checks made from rubric criteria
_CRITERION: Final = "criteria of rubrics are not selected one by one: `include_rubrics` of a profile runs all or none"


def unknown_check(project: Project) -> Findings:
    """A scenario, a profile, the blindspot map or a condition names a check that does not exist.

    Why it matters: the check never runs, and whatever depends on it has no effect.
    Instead: correct the id, or remove it.
    """
    profiles = [profile for profile in project.profiles.values() if profile.select is not None]
    conditions = (*project.scorecards.values(), *profiles)
    turned = _turned(project)
    replied = _misspelt_in_replies(project)
    yield from _unknown(project, chain(_named(project, turned), replied, *map(_compared, conditions)))
    for check, label in turned[:1]:
        message = f"`{check}` is a check, and a line of this file is `LABEL: CHECK`"
        yield error(project.roots["blindspots"].key_span(check), message, help=f"write `{label}: {check}`")


def unknown_in(project: Project, document: Document) -> Findings:
    """Yield the unknown checks that a scorecard or a profile names, in conditions or lists."""
    return _unknown(project, (*(_listed(document) if isinstance(document, Profile) else ()), *_compared(document)))


def _unknown(project: Project, named: Iterable[tuple[str, Span]]) -> Findings:
    ids = {check.id for check in project.checks}
    for name, place in named if ids else ():
        if name not in ids:
            help = _CRITERION if name.startswith(OF_RUBRICS) else did_you_mean(name, ids)
            yield error(place, f"unknown check `{name}`", code="unknown-check", help=help)


def _compared(document: Document) -> Iterator[tuple[str, Span]]:
    """Every id that a condition compares with a check's, with its place. Only a scorecard reads criteria of rubrics."""
    for name, span in texts_in(document, partial(texts_compared, names=_is_id)):
        if isinstance(document, Profile) or not name.startswith(OF_RUBRICS):
            yield name, span


def _is_id(part: Expr) -> bool:
    """Whether an expression is a check's id: `v.check_id`, `check.id` or `v.check.id`."""
    if not isinstance(part, Select):
        return False
    above = part.operand.field if isinstance(part.operand, Select) else None
    above = part.operand.name if isinstance(part.operand, Name) else above
    return part.field in ("check_id", "mode_id") or (part.field == "id" and above == "check")


def _turned(project: Project) -> list[tuple[str, str]]:
    """The lines of the blindspot map that have a check first, and then its label."""
    ids = {check.id for check in project.checks}
    return [(label, name) for label, name in project.blindspots.items() if label in ids and name not in ids]


def _named(project: Project, turned: Collection[tuple[str, str]]) -> Iterator[tuple[str, Span]]:
    """Every check id in a document, with its place."""
    for scenario in project.scenarios.values():
        for i, name in enumerate(scenario.eligible_modes):
            yield name, scenario.place("eligible_modes", i)
        for anchor in scenario.cue_anchors:
            for i, name in enumerate(anchor.modes):
                yield name, anchor.place("modes", i)
    for profile in project.profiles.values():
        yield from _listed(profile)
    for label, name in project.blindspots.items():
        entry = project.roots["blindspots"].get(label)
        if entry is not None and name and (label, name) not in turned:
            yield name, entry.span


def _misspelt_in_replies(project: Project) -> Iterator[tuple[str, Span]]:
    """The ids in the judge's recorded replies that are spelt like that of a judged check without any; others, and those
    with another number, may be those of another project."""
    source = project.judge_source or ""
    path = Path(source.removeprefix(REPLAY))
    if not source.startswith(REPLAY) or path.suffix != ".json" or not dependencies.is_file(path):
        return
    answered = [entry.key for of in entries(load_file(path).root) for entry in entries(of.value)]
    ids = {check.id for check in project.checks if check.is_judged} - {each.text for each in answered}
    for each in answered:
        same = {id for id in ids if DIGITS.findall(id) == DIGITS.findall(each.text)}
        if any(is_spelt_like(each.text, id) for id in same) and project.check(each.text) is None:
            yield each.text, each.span


def _listed(profile: Profile) -> Iterator[tuple[str, Span]]:
    """Every check id in the lists of a profile, with its place."""
    for key in ("include_modes", "exclude_modes"):
        for i, name in enumerate(getattr(profile, key)):
            yield name, profile.place(key, i)
