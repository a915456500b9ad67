from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import TAG_KEYS
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def tag_no_check_looks_for(project: Project) -> Findings:
    """A scenario has a tag that neither selects nor suppresses a check.

    Why it matters: the tag has no effect; if it is misspelt, the check it was meant for does not apply.
    Instead: correct the tag, use it in a check, or remove it.
    """
    wanted: set[str] = set()
    for check in project.checks:
        wanted.update(check.tags or (), check.routing.safety_override_suppressed_by or ())
    # An expression or a prompt may read any tag.
    if not wanted or any(check.when is not None or _reads_tags(check) for check in project.checks):
        return
    for scenario in project.scenarios.values():
        for key in TAG_KEYS:
            for tag in text_scalars(scenario.node, key):
                if tag.value not in wanted:
                    help = did_you_mean(tag.text, wanted)
                    yield advice(tag, f"no check uses the tag `{tag.value}`", help=help)


def _reads_tags(check: CheckDocument) -> bool:
    return check.prompt is not None and "scenario.tags" in check.prompt.text
