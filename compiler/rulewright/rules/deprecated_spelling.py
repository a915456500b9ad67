"""Rule: keys of a scenario written as they once were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rulewright.diagnostics import Diagnostic, Span, advice, respell
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


def deprecated_spelling(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A key of a turn or of a rubric's criterion has its former name.

    Why it matters: it is still understood here, but a reader who looks for the present name finds nothing, and where
    both stand it is not plain which one counts.
    Instead: write the present name.
    """
    for turn in scenario.turns:
        yield from _former(turn.node, TURN_KEYS)
        for node in (turn.node, *(branch.node for branch in turn.branches)):
            for item in items(node, "rubric"):
                yield from _former(item, CRITERION_KEYS)
            for item in items(node, "autofail_rubric"):
                retired = (
                    [(node.key_span("autofail_rubric"), "the list is retired")] if isinstance(node, Mapping) else []
                )
                yield from _former(item, CRITERION_KEYS, retired)


def _former(node: Node, names: dict[str, str], notes: Sequence[tuple[Span, str]] = ()) -> Iterator[Diagnostic]:
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
            help=None if renames else f"`{present}` is here as well" if present in node else f"write `{present}`",
        )
