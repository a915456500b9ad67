"""Rule: a list that says the same thing twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, advice
from rulewright.documents.base import items
from rulewright.load import Node, Scalar

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.lexicon import MarkerSet
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import Scenario

LISTS: Final = (
    ("secondary_tags",),
    ("eligibility", "scenario_tags_any"),
    ("routing", "safety_override_suppressed_by"),
    ("eligible_modes",),
    ("failure_mode_tags",),
    ("tags",),
    ("exclude_modes",),
    ("include_modes",),
    ("include_routes",),
    ("include_buckets",),
    ("identity_question",),
    ("ai_disclosure",),
    ("false_human",),
)


def listed_twice(document: CheckDocument | MarkerSet | Profile | Scenario) -> Iterator[Diagnostic]:
    """A list of names or phrases holds one of them twice.

    Why it matters: the second changes nothing, and mostly another one was meant.
    Instead: correct or remove the second.
    """
    lists = [items(document.node, *steps) for steps in LISTS if steps[0] in document.node]
    # Only scenarios have these; asking for the model itself would import it for every check.
    lists += [items(anchor.node, "modes") for anchor in getattr(document, "cue_anchors", ())]
    turns = getattr(document, "turns", ())
    lists += [items(branch.node, "condition", "values") for turn in turns for branch in turn.branches]
    for each in lists:
        yield from _repeated(each)


def _repeated(nodes: tuple[Node, ...]) -> Iterator[Diagnostic]:
    first: dict[str, Scalar] = {}
    for node in nodes:
        if type(node) is Scalar and isinstance(node.value, str):
            earlier = first.setdefault(node.value, node)
            if earlier is not node:
                yield advice(node, f"`{node.value}` is listed twice", notes=[(earlier, "the first")])
