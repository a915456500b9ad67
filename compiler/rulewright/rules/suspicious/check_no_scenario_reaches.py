from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from rulewright.diagnostics import Findings, Located, Span, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.lower.applicability import applies, by_condition, is_suppressed
from rulewright.lower.jurisdictions import lower_rules
from rulewright.lower.verifiers import probes_of
from rulewright.project import Project

MEMORY_PROBE: Final = "memory_probe"


def check_no_scenario_reaches(project: Project) -> Findings:
    """A check applies in none of the project's scenarios, or its route has nothing to verify in them.

    Why it matters: it counts as coverage, but never runs.
    Instead: add a scenario with one of its tags, list it in a scenario's `eligible_modes`, or correct its tags.
    """
    scenarios = list(project.scenarios.values())
    for check in project.checks if scenarios else ():
        serves, reaches = _serves(check, project), scenarios_reached(check, project)
        reached = filter(reaches, scenarios)  # until one serves
        first = next(reached, None)
        if first is not None and (serves(first) or any(map(serves, reached))):
            continue
        if first is not None:
            message = f"no scenario in which `{check.id}` applies has a {_served(check)}"
        elif len(scenarios) > 1:
            message = f"`{check.id}` applies in none of the {len(scenarios)} scenarios"
        else:
            message = f"`{check.id}` does not apply in the only scenario"
        is_of_probes = first is not None and check.routing.route == MEMORY_PROBE
        yield replace(warning(_deciding(check), message), about="routing.probes" if is_of_probes else "")


def _deciding(check: CheckDocument) -> Span | Located:
    """The key of a check that selects scenarios or probes."""
    if check.when is not None:
        return check.when
    if check.get("eligibility") is not None:
        return check.key_place("eligibility")
    return check.place("routing", "probes") if check.get("routing", "probes") is not None else check.place("id")


def _served(check: CheckDocument) -> str:
    return "probe of its kinds" if check.routing.route == MEMORY_PROBE else "rule for it in its jurisdiction"


def _serves(check: CheckDocument, project: Project) -> Callable[[ScenarioDocument], bool]:
    """Whether a scenario has what the route of the check verifies, as a predicate."""
    if check.routing.route == MEMORY_PROBE:
        kinds = check.routing.probes or ()
        return lambda scenario: any(probe.kind in kinds for probe in probes_of(scenario))
    lowered = lower_rules(check, project, []) if check.routing.route == "jurisdiction_rule" else None
    if lowered is None:
        return lambda _: True
    verifier, _ = lowered
    key = "cadence" if verifier.kind == "disclosure" else "lexicon"
    demands = {name: getattr(part, key) is not None for name, part in verifier.rules.items()}
    return lambda scenario: demands.get(scenario.jurisdiction or verifier.otherwise, True)


def scenarios_reached(check: CheckDocument, project: Project) -> Callable[[ScenarioDocument], bool]:
    """Whether a check applies in a scenario, by its tags or its condition, as a predicate."""
    holds = by_condition(check)

    def reaches(scenario: ScenarioDocument) -> bool:
        decided = applies(check, scenario, project.semantics)
        return not is_suppressed(check, scenario) and (holds(scenario) if decided is None else decided)

    return reaches
