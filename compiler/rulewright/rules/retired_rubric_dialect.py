"""Rule: rubrics written as they once were."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error, warning
from rulewright.documents.base import items
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Mapping, Node


def retired_rubric_dialect(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A rubric is written in the dialect that unified rubrics replaced.

    Why it matters: an `autofail_rubric` and criteria without `kind` are read by nobody, so what they demand is never
    asked.
    Instead: write one `rubric` whose criteria have a `kind`: binary, ordinal or autofail.
    """
    for turn in scenario.turns:
        for node in turn.nodes:
            if isinstance(node, Mapping) and "autofail_rubric" in node:
                yield warning(
                    node.key_span("autofail_rubric"),
                    "nobody reads `autofail_rubric`: it belongs to a retired dialect",
                    help="write `rubric` with `kind: autofail`",
                )
            for item in items(node, "rubric"):
                if isinstance(item, Mapping) and "kind" not in item:
                    yield error(
                        _head(item),
                        "the criterion has no `kind`",
                        help="its kinds are `binary`, `ordinal` and `autofail`; the retired dialect has none",
                    )


def _head(item: Mapping) -> Node:
    return item.entries[0].key if item.entries else item
