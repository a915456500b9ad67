"""Rule: a bucket of the scoring file without checks."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, advice, error
from rulewright.documents.base import entries, text_scalars
from rulewright.project import Project


def bucket_without_checks(project: Project) -> Iterator[Diagnostic]:
    """The scoring file lists a bucket that no check is in.

    Why it matters: a gate without checks stops nobody, and a dimension without checks never has a value. This is an
    error where all buckets of a gate or dimension are empty, and advice elsewhere.
    Instead: remove the entry, or correct the bucket.
    """
    if project.scoring is None or not project.checks:
        return
    empty = set(project.vocabulary.buckets) - {check.primary_bucket for check in project.checks}
    for entry in entries(project.scoring.node, "unit_of_analysis_by_bucket"):
        if entry.name in empty:
            yield advice(entry.key, f"no check is in bucket `{entry.name}`")
    for section, key in (("gates", "mode_buckets"), ("quality_dimensions", "buckets")):
        for entry in entries(project.scoring.node, section):
            buckets = text_scalars(entry.value, key)
            found = [bucket for bucket in buckets if bucket.value in empty]
            if found and len(found) == len(buckets):
                yield error(found[0], f"no check is in the buckets of `{section}.{entry.name}`")
            else:
                yield from (advice(bucket, f"no check is in bucket `{bucket.value}`") for bucket in found)
