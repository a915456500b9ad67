"""Which checks apply in which scenario, as far as tags and lists decide it before a run."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import eq

from rulewright.diagnostics import Span
from rulewright.documents.check import CheckDocument
from rulewright.documents.project_file import Semantics
from rulewright.documents.scenario import ScenarioDocument
from rulewright.expression.syntax_tree import NOWHERE, Name, Select, texts_compared
from rulewright.lower.expressions_of import texts_in
from rulewright.lower.scan_plan import condition_of
from rulewright.lower.selection import select_everywhere
from rulewright.project import Project


def applies(check: CheckDocument, scenario: ScenarioDocument, semantics: Semantics) -> bool | None:
    """Whether the check is eligible in the scenario; None where only its expression can decide."""
    if check.is_universal:
        return True
    if scenario.eligible_modes:
        return check.id in scenario.eligible_modes
    return by_tags(check, scenario, semantics)


def by_tags(check: CheckDocument, scenario: ScenarioDocument, semantics: Semantics) -> bool | None:
    """Whether the check's tags select the scenario; None where an expression decides."""
    if check.is_universal:
        return True
    if check.when is not None:
        return None
    tags = check.tags or ()
    return select_everywhere(tags, semantics) or not set(tags).isdisjoint(scenario.tags)


def by_condition(check: CheckDocument) -> Callable[[ScenarioDocument], bool]:
    """Whether the check's `when` may hold in a scenario, as a predicate; always true without a valid `when`."""
    holds = None if check.when is None else condition_of(check)
    return holds or (lambda _: True)


def texts_of_scenarios(project: Project, field: str) -> Iterator[tuple[str, Span]]:
    """The texts that the checks' conditions compare a field of the scenario with, and their spans."""
    field_path = Select(Name("scenario", NOWHERE), field, NOWHERE)
    for check in project.checks:
        if check.when is None or field not in check.when.text:
            continue
        yield from texts_in(check, partial(texts_compared, names=partial(eq, field_path)))


def overridden(
    scenario: ScenarioDocument, checks: Iterable[CheckDocument], semantics: Semantics
) -> tuple[list[CheckDocument], list[CheckDocument]]:
    """The checks for which the scenario's `eligible_modes` overrides tags: those it omits although their tags (or
    `any`) select the scenario, and those it adds."""
    left_out: list[CheckDocument] = []
    added: list[CheckDocument] = []
    for check in checks if scenario.eligible_modes else ():
        selected = by_tags(check, scenario, semantics)
        listed = check.id in scenario.eligible_modes
        if check.scope != "universal" and check.tags is not None and selected is not None and selected != listed:
            (added if listed else left_out).append(check)
    return left_out, added


def anchored_checks(project: Project) -> Iterator[tuple[ScenarioDocument, CheckDocument, Span]]:
    """Yield every check that a cue anchor of a scenario names, with the place of its name."""
    checks = {check.id: check for check in project.checks}
    for scenario in project.scenarios.values():
        for anchor in scenario.cue_anchors:
            for i, name in enumerate(anchor.modes):
                if name in checks:
                    yield scenario, checks[name], anchor.place("modes", i)


def is_suppressed(check: CheckDocument, scenario: ScenarioDocument) -> bool:
    """Whether the scenario's tags suppress the check."""
    return not set(check.routing.safety_override_suppressed_by or ()).isdisjoint(scenario.tags)
