from rulewright.diagnostics import Findings, error
from rulewright.documents.base import text_scalars
from rulewright.lower.applicability import texts_of_scenarios
from rulewright.lower.jurisdictions import unknown_jurisdictions
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def unknown_jurisdiction(project: Project) -> Findings:
    """A scenario names a jurisdiction without a rule set, or a check or a corpus names an unknown one.

    Why it matters: the scenario is judged without the rules it was written for; a check whose `when` names it never
    applies; a correct answer about the programme is judged to be about another place.
    Instead: correct the name, or add the file of the rule set, or the place with its names.
    """
    yield from unknown_jurisdictions(project)
    known = {*project.rule_sets, *(each.jurisdiction or "" for each in project.scenarios.values())}
    for name, place in texts_of_scenarios(project, "jurisdiction") if project.scenarios else ():
        if name not in known:
            yield error(place, f"no scenario has the jurisdiction `{name}`", help=did_you_mean(name, known))
    for corpus in project.corpora.values():
        places = {*known, *corpus.places}
        for programme in corpus.programmes if corpus.places else ():
            for written in text_scalars(programme.node, "jurisdictions"):
                if written.value not in places:
                    help = did_you_mean(written.text, places) or "add its names to `places`"
                    yield error(written, f"unknown jurisdiction `{written.value}`", help=help)
