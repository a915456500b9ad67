"""Rule: a bucket that affects no score."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import entries, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.project import Project


def bucket_without_policy(project: Project) -> Iterator[Diagnostic]:
    """A check's bucket is in no gate and in no quality dimension of the scoring file.

    Why it matters: the check runs, and may pay for a judge, but its verdict affects no score.
    Instead: add the bucket to a gate or a dimension of the scoring file, or give the check another bucket.
    """
    if project.scoring is None:
        return
    listed = [
        bucket
        for part, key in (("gates", "mode_buckets"), ("quality_dimensions", "buckets"))
        for entry in entries(project.scoring.node, part)
        for bucket in text_scalars(entry.value, key)
    ]
    counted = {str(each.value) for each in listed}
    doubled = [each for at, each in enumerate(listed) if each.value in [other.value for other in listed[:at]]]
    if not counted:
        return
    buckets: dict[str, list[CheckDocument]] = {}
    for check in project.checks:
        if check.primary_bucket and check.primary_bucket not in counted:
            buckets.setdefault(check.primary_bucket, []).append(check)
    for bucket, (first, *others) in buckets.items():
        effect = f"bucket {bucket} affects no score: no gate and no dimension lists it"
        also = [(check.place("primary_bucket"), "also in this bucket") for check in others]
        place = first.place("primary_bucket")
        if doubled:
            twice = doubled.pop(0)
            yield warning(
                twice, f"bucket {twice.value} is listed twice, and {effect}", notes=[(place, "a check"), *also]
            )
        else:
            yield warning(place, effect, notes=[(project.scoring.span, "the scoring file"), *also])
