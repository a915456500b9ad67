"""Rule: a bucket that the scoring file provides for and no check is in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, advice, error
from rulewright.documents.base import text_scalars
from rulewright.load import Mapping

if TYPE_CHECKING:
    from rulewright.project import Project


def bucket_without_checks(project: Project) -> Iterator[Diagnostic]:
    """The scoring file has a unit, a gate or a dimension for a bucket that holds no check.

    Why it matters: a gate over no checks is open for everybody, and a dimension over none never has a value. It is an
    error where no bucket of a gate or dimension holds a check, and advice elsewhere.
    Instead: remove the entry, or correct the letter.
    """
    if project.scoring is None or not project.checks:
        return
    empty = set(project.vocabulary.buckets) - {check.primary_bucket for check in project.checks}
    units = project.scoring.node.get("unit_of_analysis_by_bucket")
    for entry in units.entries if isinstance(units, Mapping) else ():
        if entry.name in empty:
            yield advice(entry.key, f"no check is in bucket `{entry.name}`")
    for section, key in (("gates", "mode_buckets"), ("quality_dimensions", "buckets")):
        parts = project.scoring.node.get(section)
        for entry in parts.entries if isinstance(parts, Mapping) else ():
            buckets = text_scalars(entry.value, key)
            found = [bucket for bucket in buckets if bucket.value in empty]
            if found and len(found) == len(buckets):
                yield error(found[0], f"no check of the project belongs to `{section}.{entry.name}`")
            else:
                yield from (advice(bucket, f"no check is in bucket `{bucket.value}`") for bucket in found)
