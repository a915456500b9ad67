from collections.abc import Iterator
from functools import partial
from typing import Final

from rulewright.diagnostics import Findings, Span, error
from rulewright.expression.syntax_tree import Expr, Name, Select, texts_compared
from rulewright.lower.expressions_of import texts_in
from rulewright.project import Project
from rulewright.spelling import did_you_mean

OF_RUBRICS: Final = "rubric/"  # the prefix of the ids of checks made from rubric criteria


def unknown_check(project: Project) -> Findings:
    """A scenario, a profile, the blindspot map or a condition names a check that does not exist.

    Why it matters: the check never runs, and whatever depends on it has no effect.
    Instead: correct the id, or remove it.
    """
    ids = {check.id for check in project.checks}
    for name, place in (*_named(project), *_compared(project)) if ids else ():
        if name not in ids:
            yield error(place, f"unknown check `{name}`", help=did_you_mean(name, ids))


def _compared(project: Project) -> Iterator[tuple[str, Span]]:
    """Every id that a condition of a scorecard or a profile compares with a check's, with its place."""
    profiles = [profile for profile in project.profiles.values() if profile.select is not None]
    for document in (*project.scorecards.values(), *profiles):
        for name, span in texts_in(document, partial(texts_compared, names=_is_id)):
            if not name.startswith(OF_RUBRICS):
                yield name, span


def _is_id(part: Expr) -> bool:
    """Whether an expression is a check's id: `v.check_id`, `check.id` or `v.check.id`."""
    if not isinstance(part, Select):
        return False
    above = part.operand.field if isinstance(part.operand, Select) else None
    above = part.operand.name if isinstance(part.operand, Name) else above
    return part.field in ("check_id", "mode_id") or (part.field == "id" and above == "check")


def _named(project: Project) -> Iterator[tuple[str, Span]]:
    """Every check id in a document, with its place."""
    for scenario in project.scenarios.values():
        for i, name in enumerate(scenario.eligible_modes):
            yield name, scenario.place("eligible_modes", i)
        for anchor in scenario.cue_anchors:
            for i, name in enumerate(anchor.modes):
                yield name, anchor.place("modes", i)
    for profile in project.profiles.values():
        for key in ("include_modes", "exclude_modes"):
            for i, name in enumerate(getattr(profile, key)):
                yield name, profile.place(key, i)
    for label, name in project.blindspots.items():
        entry = project.roots["blindspots"].get(label)
        if entry is not None and name:
            yield name, entry.span
