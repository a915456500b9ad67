import re
from collections.abc import Sequence
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import descend, entries, place_of, text_scalars, texts
from rulewright.documents.suggestions import DEGREES
from rulewright.load import Mapping
from rulewright.project import Project
from rulewright.project.choices import usual_scorecard
from rulewright_runtime.english import ticked

OF_SEVERITY: Final = re.compile(r"""v\.severity == ['"]?([\w-]+)['"]?""")
NAME: Final = re.compile(r"[\w-]+")
RANKS: Final = {name: rank for rank, names in enumerate(DEGREES) for name in names}  # `order-reversed` compares them


def gate_ignores_a_severity(project: Project) -> Findings:
    """A gate does not stop on a severity that its checks have, or that the vocabulary declares for it.

    Why it matters: the severity says that a FAIL of the check stops a gate, but the gate passes.
    Instead: add the severity to `hard_fail_on_severity`, or give the check a milder one.
    """
    yield from _of_other_words(project)
    yield from _of_a_milder_one(project)
    gates = None if project.scoring is None else descend(project.scoring.node, "gates")
    for entry in gates.entries if isinstance(gates, Mapping) else ():
        buckets, listed = texts(entry.value, "mode_buckets"), text_scalars(entry.value, "hard_fail_on_severity")
        stopping = {each.text for each in listed}
        missed = [
            check
            for check in project.checks
            if check.primary_bucket in buckets
            and check.severity in project.vocabulary.gate_severities
            and check.severity not in stopping
        ]
        used = {check.severity for check in project.checks if check.primary_bucket in buckets}
        if missed and listed:
            where = next((each for each in listed if each.value not in used), listed[0])
            message = f"`{entry.name}` does not stop on the severity `{missed[0].severity}` of `{missed[0].id}`"
            notes = [(check.place("severity"), "its severity") for check in missed]
            yield warning(where, message, notes=notes, help=f"add `{missed[0].severity}`")


def _of_a_milder_one(project: Project) -> Findings:
    """The only gate of the usual scorecard that selects a severity, where checks have a graver one that the scorecard
    does not name."""
    card, severities = usual_scorecard(project), project.vocabulary.severities
    is_declared = project.file is not None and project.file.get("vocabulary", "severities") is not None
    if card is None or len(card.gates) != 1 or not is_declared:
        return
    gate = card.gates[0]
    selected = OF_SEVERITY.fullmatch(gate.of.text.strip())
    if selected is None or selected[1] not in severities or _may_be_gravest(selected[1], severities):
        return
    named = {*NAME.findall(card.node.source.text)}
    graver = {*severities[severities.index(selected[1]) + 1 :]} - named
    missed = next((check for check in project.checks if check.severity in graver), None)
    if missed is not None and RANKS.get(missed.severity, len(DEGREES)) >= RANKS.get(selected[1], 0):
        message = f"the gate `{gate.name}` does not stop on the graver severity of `{missed.id}`"
        notes = [(missed.place("severity"), "its severity")]
        yield warning(gate.of, message, notes=notes, help=Guess(missed.severity))


def _may_be_gravest(severity: str, severities: Sequence[str]) -> bool:
    """Whether a severity of an unknown degree is the first of all, as in a list that is the wrong way round."""
    return severity == severities[0] and severity not in RANKS


def _of_other_words(project: Project) -> Findings:
    """The gates that name other severities or buckets than the gate of the vocabulary with the same name."""
    words = project.vocabulary
    declared = {kind.name: (kind.severities, kind.buckets) for kind in words.gates}
    if project.file is None or project.file.get("vocabulary", "gates") is None:
        return
    scored = entries(None if project.scoring is None else project.scoring.node, "gates")
    named = [
        (each.name, place_of(each.value, key), tuple(texts(each.value, key)), at)
        for each in scored
        for at, key in enumerate(("hard_fail_on_severity", "mode_buckets"))
    ]
    named += [
        (gate.name, gate.of.span, tuple(each for each in known if each in NAME.findall(gate.of.text)), at)
        for card in project.scorecards.values()
        for gate in card.gates
        for at, known in enumerate((words.severities, words.buckets))
    ]
    for name, place, listed, at in named:
        meant = declared.get(name, ((), ()))[at]
        known = (words.severities, words.buckets)[at]
        if listed and meant and set(listed) != set(meant) <= {*known}:  # else `unknown-value`
            key = ("severities", "buckets")[at]
            message = f"the gate `{name}` has the {key} {ticked(listed)}, but the vocabulary declares {ticked(meant)}"
            notes = [(project.file.place("vocabulary", "gates", name, key), "declared here")]
            yield warning(place, message, notes=notes)
            return
