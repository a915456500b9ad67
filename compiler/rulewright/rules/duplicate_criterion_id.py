"""Rule: two criteria of one scenario that cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning
from rulewright.documents.base import items, scalar
from rulewright.documents.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.load import Scalar


def duplicate_criterion_id(scenario: Scenario) -> Iterator[Diagnostic]:
    """Two criteria in the rubrics of a scenario have the same id.

    Why it matters: their results bear one name, so one is taken for the other or replaces it.
    Instead: rename one of them.
    """
    first: dict[str, Scalar] = {}
    for turn in scenario.turns:
        for node in (turn.node, *(branch.node for branch in turn.branches)):
            for key in ("rubric", "autofail_rubric"):
                for item in items(node, key):
                    name = scalar(item, "id") or scalar(item, "criterion_id")
                    earlier = first.setdefault(str(name.value), name) if name is not None else None
                    if name is not None and earlier is not None and earlier is not name:
                        notes = [(earlier, "the first criterion of that name")]
                        yield warning(name, f"another criterion is called `{name.value}` as well", notes=notes)
