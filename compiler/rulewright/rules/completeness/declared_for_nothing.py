from fnmatch import fnmatchcase

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import entries, text
from rulewright.load import scalars_below
from rulewright.project import Project
from rulewright.workflow import Workflow


def declared_for_nothing(subject: Project | Workflow) -> Findings:
    """No fact has a declared source, no task a declared contract, or no model matches a pattern of `judge.families`.

    Why it matters: it is left over, or what should name it names something else.
    Instead: name it where it was meant, or remove it.
    """
    if isinstance(subject, Workflow):
        yield from _contracts(subject)
        return
    for corpus in subject.corpora.values():
        facts = [fact for programme in corpus.programmes for fact in programme.facts]
        named = {each.source for each in facts} | {each.source for each in corpus.programmes}
        for entry in entries(corpus.node, "sources"):
            if entry.name not in named:
                yield advice(entry.key, f"no fact or programme has the source `{entry.name}`")
    yield from _families(subject)


def _families(project: Project) -> Findings:
    """The patterns of `judge.families` that no declared model matches."""
    file = None if project.file is None else project.file.node
    models = [*(entry.name for entry in entries(file, "models")), *project.pricing, text(file, "judge", "model")]
    for entry in entries(file, "judge", "families") if entries(file, "models") else ():
        if not any(fnmatchcase(model, entry.name) for model in models):
            yield advice(entry.key, f"no model of the project matches `{entry.name}`")


def _contracts(workflow: Workflow) -> Findings:
    used = {each.text for each in scalars_below(*(task.node for task in workflow.document.tasks))}
    own = [entry for root in workflow.loaded for entry in entries(root.root, "contracts")]
    for entry in {entry.name: entry for entry in own}.values():
        if entry.name not in used and entry.name.partition("@")[0] not in used:
            yield advice(entry.key, f"no task has the contract `{entry.name}`")
