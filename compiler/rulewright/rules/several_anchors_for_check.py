"""Rule: several anchors for one check in one scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, Span, advice, warning
from rulewright.lower.applicability import applies
from rulewright.lower.semantics import unit_of

if TYPE_CHECKING:
    from rulewright.project import Project


def several_anchors_for_check(project: Project) -> Iterator[Diagnostic]:
    """Several cue anchors of a scenario name the same check.

    Why it matters: `semantics: reference` uses only the first anchor whose window contains a turn, so what happens
    after the others is never judged; `semantics: seed` judges all windows together.
    Instead: keep one anchor for each check, or use `semantics: seed` if all of them are meant.
    """
    checks = {check.id: check for check in project.checks}
    is_reference = project.semantics == "reference"
    for scenario in project.scenarios.values():
        first: dict[str, Span] = {}
        for anchor in scenario.cue_anchors:
            for i, name in enumerate(anchor.modes):
                check = checks.get(name)
                if check is None or applies(check, scenario) is False:
                    continue
                if unit_of(check, project) != "event_window":
                    continue
                place = anchor.place("modes", i)
                earlier = first.setdefault(name, place)
                if earlier != place:
                    yield (warning if is_reference else advice)(
                        place,
                        f"a second anchor for `{name}`: "
                        + ("it is never used" if is_reference else "`semantics: reference` uses only the first"),
                        notes=[(earlier, "the first anchor")],
                    )
