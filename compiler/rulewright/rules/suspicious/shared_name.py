from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, repeated, scalar
from rulewright.load import Scalar
from rulewright.project import Project


def shared_name(project: Project) -> Findings:
    """Two models, two programmes of a corpus, two places or two cues of a state machine have the same name or phrase.

    Why it matters: reports can't tell the models apart, and a sentence with the name is taken for the wrong one.
    Instead: give each its own name.
    """
    for machine in project.state_machines.values():
        phrases = [(cue.name, each.scalar) for cue in machine.cues.values() for each in cue.patterns]
        yield from _shared("cues", phrases)
    names = _models(project)
    for corpus in project.corpora.values():
        yield from _shared("programmes", [(of.id, each.scalar) for of in corpus.programmes for each in of.names])
        yield from _shared("places", [(place, each.scalar) for place, of in corpus.places.items() for each in of])
    yield from _shared("models", names)


def _models(project: Project) -> list[tuple[str, Scalar]]:
    written = entries(project.file.node, "models") if project.file else ()
    return [(each.name, name) for each in written if (name := scalar(each.value)) is not None]


def _shared(kind: str, names: list[tuple[str, Scalar]]) -> Findings:
    for (owner, name), (other, first) in repeated(names, lambda each: each[1].text.lower()):
        if owner != other:  # else `listed-twice`
            message = f"two {kind} have the name `{name.value}`: `{other}` and `{owner}`"
            yield warning(name, message, notes=[(first, "first used here")])
