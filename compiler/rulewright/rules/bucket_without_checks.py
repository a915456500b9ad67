"""Rule: a bucket that the scoring file provides for and no check is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import advice
from rulewright.documents.base import items
from rulewright.documents.check import known_buckets
from rulewright.load import Mapping, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.load import Node
    from rulewright.project import Project


def bucket_without_checks(project: Project) -> Iterator[Diagnostic]:
    """The scoring file has a unit, a gate or a dimension for a bucket that holds no check.

    Why it matters: a gate over no checks is open for everybody, and a dimension over none never has a value.
    Instead: remove the entry, or correct the letter.
    """
    if project.scoring is None or not project.checks:
        return
    filled = {check.primary_bucket for check in project.checks}
    for place, bucket in _named(project.scoring.node):
        if bucket in known_buckets() - filled:
            yield advice(place, f"no check is in bucket `{bucket}`")


def _named(node: Mapping) -> Iterator[tuple[Node, str]]:
    """Every bucket the scoring file names, with its place."""
    units = node.get("unit_of_analysis_by_bucket")
    if isinstance(units, Mapping):
        yield from ((entry.key, entry.name) for entry in units.entries)
    for section, key in (("gates", "mode_buckets"), ("quality_dimensions", "buckets")):
        parts = node.get(section)
        for entry in parts.entries if isinstance(parts, Mapping) else ():
            for item in items(entry.value, key):
                if isinstance(item, Scalar) and isinstance(item.value, str):
                    yield item, item.value
