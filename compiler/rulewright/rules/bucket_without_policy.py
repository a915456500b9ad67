"""Rule: a bucket that affects no score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import descend, texts
from rulewright.load import Mapping

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.project import Project


def bucket_without_policy(project: Project) -> Iterator[Diagnostic]:
    """A check's bucket is in no gate and in no quality dimension of the scoring file.

    Why it matters: the check runs, and may pay for a judge, but its verdict affects no score.
    Instead: add the bucket to a gate or a dimension of the scoring file, or give the check another bucket.
    """
    if project.scoring is None:
        return
    dimensions = descend(project.scoring.node, "quality_dimensions")
    counted = set(project.scoring.gate_buckets)
    for entry in dimensions.entries if isinstance(dimensions, Mapping) else ():
        counted.update(texts(entry.value, "buckets"))
    if not counted:
        return
    buckets: dict[str, list[CheckDocument]] = {}
    for check in project.checks:
        if check.primary_bucket and check.primary_bucket not in counted:
            buckets.setdefault(check.primary_bucket, []).append(check)
    for bucket, (first, *others) in buckets.items():
        yield warning(
            first.place("primary_bucket"),
            f"bucket {bucket} affects no score: no gate and no dimension lists it",
            notes=[
                (project.scoring.span, "the scoring file"),
                *((check.place("primary_bucket"), "also in this bucket") for check in others),
            ],
        )
