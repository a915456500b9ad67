from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.base import entries, scalar, text
from rulewright.load import Entry
from rulewright.lower.applicability import texts_of_scenarios
from rulewright.project import Project
from rulewright.project.unread_files import UnreadFiles
from rulewright.spelling import did_you_mean


def unknown_scenario(project: Project | UnreadFiles) -> Findings:
    """A scenario, a check's `when` or a file of prepared replies names a scenario that does not exist.

    Why it matters: comparisons leave the pair out, the check misses the scenario it was made for, and the scenario is
    played without its replies.
    Instead: correct the id, or remove it.
    """
    if isinstance(project, UnreadFiles):
        known = {text(each, "scenario_id") for each in project.scenarios}
        for answer in (each for root in project.answers for each in _of_scenarios(entries(root, "replies"), known)):
            if answer.name not in known:
                yield warning(answer.key, f"unknown scenario `{answer.name}`", help=did_you_mean(answer.name, known))
        return
    for scenario in project.scenarios.values():
        named = scalar(scenario.node, "sms_variant_of")
        if named is not None and named.value not in project.scenarios:
            help = did_you_mean(named.text, project.scenarios)
            yield error(named, f"unknown scenario `{named.value}`", help=help)
    for name, place in texts_of_scenarios(project, "id") if project.scenarios else ():
        if name not in project.scenarios:
            yield error(place, f"unknown scenario `{name}`", help=did_you_mean(name, project.scenarios))


def _of_scenarios(replies: tuple[Entry, ...], known: set[str]) -> tuple[Entry, ...]:
    """The entries of a file, if one of them names a scenario."""
    return replies if any(each.name in known for each in replies) else ()
