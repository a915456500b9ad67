from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import repeated, text
from rulewright.documents.scenario import ScenarioDocument
from rulewright.project import Project
from rulewright.spelling import suggest


def contrast_without_counterpart(project: Project) -> Findings:
    """A scenario is alone in its contrast set, shares its `contrast_variable` with another one, or differs in more.

    Why it matters: a contrast compares scenarios that differ in one thing; without a counterpart there is nothing to
    compare.
    Instead: add the counterpart, correct the name of the `contrast_group`, or name the difference in
    `contrast_variable`.
    """
    groups: dict[str, list[ScenarioDocument]] = {}
    for scenario in project.scenarios.values():
        if scenario.contrast_group is not None:
            groups.setdefault(scenario.contrast_group, []).append(scenario)
    alone = {name for name, siblings in groups.items() if len(siblings) == 1}
    for name, siblings in groups.items():
        meant = suggest(name, groups.keys() - {name})
        is_reported = meant in alone and suggest(meant or "", groups.keys() - {meant}) == name and meant < name
        if name in alone and not is_reported:
            place, message = siblings[0].place("contrast_group"), f"no other scenario is in the contrast set `{name}`"
            notes = [(groups[meant][0].place("contrast_group"), "a set with a similar name")] if meant else []
            yield warning(place, message, notes=notes, help=Guess(meant) if meant else None)
        yield from _other_differences(siblings)
        for scenario, first in repeated(siblings, lambda each: each.contrast_variable):
            shared = f"`{scenario.contrast_variable}`" if scenario.contrast_variable else "none"
            yield warning(
                scenario.place("contrast_variable"),
                f"`{scenario.id}` and `{first.id}` have the same `contrast_variable`: {shared}",
                notes=[(first.place("contrast_variable"), "the other scenario")],
            )


def _other_differences(siblings: list[ScenarioDocument]) -> Findings:
    """The scenarios with another category or jurisdiction than the first, which no `contrast_variable` mentions."""
    first, variables = siblings[0], " ".join(each.contrast_variable or "" for each in siblings)
    for key in ("category", "jurisdiction"):
        values = [text(each.node, key) for each in siblings]
        odd = next((at for at, value in enumerate(values) if value != values[0]), None)
        if odd is not None and not any(word in variables for word in (key, *filter(None, values))):
            message = f"`{siblings[odd].id}` and `{first.id}` also differ in their {key}"
            yield warning(siblings[odd].place(key), message, notes=[(first.place(key), "the other scenario")])
