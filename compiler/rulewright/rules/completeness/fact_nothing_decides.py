from rulewright.diagnostics import Findings, warning
from rulewright.project import Project


def fact_nothing_decides(project: Project) -> Findings:
    """A fact of a corpus has none of `agrees`, `contradicts` and `figure`.

    Why it matters: every sentence about it is UNCLEAR, whatever the assistant says.
    Instead: write the words or figures that decide, or remove the fact.
    """
    for corpus in project.corpora.values():
        for fact in (each for programme in corpus.programmes for each in programme.facts):
            if not fact.agrees and not fact.contradicts and fact.figure is None:
                help = "add `agrees`, `contradicts` or `figure`"
                yield warning(fact.place("about"), f"nothing decides the fact `{fact.id}`", help=help)
