from fnmatch import fnmatchcase
from typing import Final

from rulewright.diagnostics import Findings, advice, warning
from rulewright.documents.base import descend, entries, text
from rulewright.documents.corpus import CorpusDocument
from rulewright.load import Node, scalars_below
from rulewright.project import Project
from rulewright.workflow import Workflow

NEEDED: Final = {  # what a corpus lacks, by the outcome that then no claim has
    "wrong_jurisdiction": "has no programme with `jurisdictions`",
    "eligibility_overclaim": "has no `promises`",
    "hallucinated": "has nothing that is `closed`",
    "no_verification_path": "has no `verify_at`",
}


def declared_for_nothing(subject: Project | Workflow) -> Findings:
    """Nothing uses a declared source, contract or family of models, or an outcome that a check lists.

    Why it matters: it is left over, or what should name it names something else. An outcome may need something that
    the corpus of the check lacks.
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
    for check in subject.checks:
        corpus_read = subject.corpora.get(check.routing.corpus or "")
        listed = check.routing.outcomes or ()
        if corpus_read is None or NEEDED.keys() <= {*listed}:  # a check that lists all of them fits any corpus
            continue
        possible = _outcomes(corpus_read)
        for number, outcome in enumerate(listed):
            if outcome in NEEDED and outcome not in possible:
                message = f"no claim is `{outcome}`: the corpus `{check.routing.corpus}` {NEEDED[outcome]}"
                yield warning(check.place("routing", "outcomes", number), message)
    yield from _families(subject)


def _outcomes(corpus: CorpusDocument) -> set[str]:
    """The outcomes that a claim about a programme of a corpus may have."""
    programmes = corpus.programmes
    facts = [fact for each in programmes for fact in each.facts]
    is_possible = {
        "wrong_jurisdiction": any(each.jurisdictions for each in programmes),
        "eligibility_overclaim": bool(corpus.promises),
        "hallucinated": (corpus.named is not None and corpus.closed) or any(each.closed for each in facts),
        "no_verification_path": bool(corpus.verify_at) or any(each.verify_at for each in programmes),
    }
    return {outcome for outcome, may_be in is_possible.items() if may_be}


def _families(project: Project) -> Findings:
    """The patterns of `judge.families` that no declared model matches."""
    file = None if project.file is None else project.file.node
    models = [*(entry.name for entry in entries(file, "models")), *project.pricing, text(file, "judge", "model")]
    for entry in entries(file, "judge", "families") if entries(file, "models") else ():
        if not any(fnmatchcase(model, entry.name) for model in models):
            yield advice(entry.key, f"no model of the project matches `{entry.name}`")


def _contracts(workflow: Workflow) -> Findings:
    """The declared contracts that no task has: those of the registry may be for another workflow of the project."""
    used = _names_in_tasks(workflow.document.node)
    own = {entry.name: entry for root in workflow.loaded for entry in entries(root.root, "contracts")}
    unused = [entry for entry in own.values() if not _versions(entry.name) & used]
    others = [*workflow.others()] if unused else []
    elsewhere = {name for each in others for name in _names_in_tasks(each.root)}
    for entry in unused if all(each.root is not None for each in others) else ():  # an unreadable one may have them
        if not _versions(entry.name) & elsewhere:
            yield advice(entry.key, f"no task has the contract `{entry.name}`")


def _names_in_tasks(root: Node | None) -> set[str]:
    return {each.text for each in scalars_below(descend(root, "tasks"))}


def _versions(contract: str) -> set[str]:
    """The names by which a task may have a contract: with or without its version."""
    return {contract, contract.partition("@")[0]}
