import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.project_file import Semantics
from rulewright.documents.prompt_prose import paragraphs_by_subject
from rulewright.documents.prose_limits import NUMBER, numbers_in
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import place
from rulewright.lower.applicability import applies, is_suppressed
from rulewright.project import Project

# A chat that is too short: `under ~10 turns`, and not `fewer than 2 turns contain a question`.
SHORT: Final = re.compile(
    rf"\b(?:under|below|(?:fewer|less) than) (?:about |~)?(?P<number>{NUMBER}) turns(?= ?[.,;:)]|\s*$| long\b)",
    re.IGNORECASE | re.MULTILINE,
)


def prompt_excludes_every_scenario(project: Project) -> Findings:
    """A prompt calls chats below a number of turns NOT_APPLICABLE, and every scenario of the check has fewer.

    Why it matters: a judge that follows the prompt never decides: the check passes nobody and fails nobody.
    Instead: lower the number, or let the check apply in longer scenarios.
    """
    for check in project.checks if project.scenarios else ():
        prompt = check.prompt
        if not check.is_judged or prompt is None:
            continue
        own = [each for each in project.scenarios.values() if _may_apply(check, each, project.semantics)]
        lengths = {len(each.turns) for each in own}
        for subject, start, paragraph in paragraphs_by_subject(prompt.text):
            for found in SHORT.finditer(paragraph) if subject == "NOT_APPLICABLE" and lengths else ():
                limit = numbers_in(found["number"])[0][0]
                if max(lengths) < limit:
                    span = place(prompt, start + found.start(), start + found.end())
                    message = f"no scenario of this check has {limit:g} turns: the longest has {max(lengths)}"
                    notes = [(each.place("scenario_id"), "the check applies here") for each in own[:3]]
                    yield warning(span, message, notes=notes)


def _may_apply(check: CheckDocument, scenario: ScenarioDocument, semantics: Semantics) -> bool:
    return not is_suppressed(check, scenario) and applies(check, scenario, semantics) is not False
