from rulewright.diagnostics import Findings, advice
from rulewright.documents.check import CheckDocument
from rulewright.lower.applicability import overridden
from rulewright.project import Project
from rulewright_runtime.english import plural, ticked


def list_and_tags_disagree(project: Project) -> Findings:
    """The `eligible_modes` of scenarios list other checks than their tags select.

    Why it matters: a list overrides the tags, so a check that the tags select does not run unless it is listed.
    Instead: list the check, remove it from the list, or give the scenario a tag of the check. `rulewright plan` shows
    what the lists change.
    """
    scenarios = project.scenarios.values()
    pairs = [(each, *overridden(each, project.checks, project.semantics)) for each in scenarios]
    found = [(scenario, silent, extra) for scenario, silent, extra in pairs if silent or extra]
    if found:
        left_out, added = sum(len(each[1]) for each in found), sum(len(each[2]) for each in found)
        parts = [f"{left_out} left out"] * bool(left_out) + [f"{added} added"] * bool(added)
        yield advice(
            found[0][0].key_place("eligible_modes"),
            f"`eligible_modes` overrides tags in {plural(len(found), 'scenario')} (checks: {', '.join(parts)})",
            notes=[
                (scenario.key_place("eligible_modes"), _difference(silent, extra)) for scenario, silent, extra in found
            ],
        )


def _difference(silent: list[CheckDocument], extra: list[CheckDocument]) -> str:
    changes = (("leaves out", silent), ("adds", extra))
    return ", ".join(f"{verb} {ticked(each.id for each in checks)}" for verb, checks in changes if checks)
