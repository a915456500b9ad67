from collections.abc import Sequence
from typing import Final

from rulewright.diagnostics import Findings, Span, advice, respell
from rulewright.documents.base import items
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Mapping, Node

TURN_KEYS: Final = {"turn": "turn_number"}
CRITERION_KEYS: Final = {
    "criterion_id": "id",
    "description": "question",
    "max_points": "weight",
    "scoring_guide": "levels",
    "triggers_hard_fail": "kind: autofail",
}


def deprecated_spelling(scenario: ScenarioDocument) -> Findings:
    """A key of a turn or of a rubric's criterion has its former name.

    Why it matters: the former name still works, but readers who search for the current one find nothing, and where both
    are written it is unclear which one counts.
    Instead: write the current name.
    """
    for turn in scenario.turns:
        yield from _former(turn.node, TURN_KEYS)
        for node in turn.nodes:
            for item in items(node, "rubric"):
                yield from _former(item, CRITERION_KEYS)
            for item in items(node, "autofail_rubric"):
                place = node.key_span("autofail_rubric") if isinstance(node, Mapping) else node.span
                yield from _former(item, CRITERION_KEYS, [(place, "`autofail_rubric` is retired")])


def _former(node: Node, names: dict[str, str], notes: Sequence[tuple[Span, str]] = ()) -> Findings:
    if not isinstance(node, Mapping):
        return
    for entry in node.entries:
        present = names.get(entry.name)
        if present is None:
            continue
        renames = present.isidentifier() and present not in node
        yield advice(
            entry.key,
            f"`{entry.name}` is the former name of `{present}`",
            fix=respell(entry.key, present, safe=True) if renames else None,
            notes=notes,
            help=None if renames else f"`{present}` is also here" if present in node else f"write `{present}`",
        )
