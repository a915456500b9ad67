from rulewright.diagnostics import Findings, Guess, advice, error
from rulewright.documents.base import entries, text_scalars
from rulewright.project import Project
from rulewright.rules.completeness.bucket_without_policy import buckets_without_policy
from rulewright_runtime.english import ticked


def bucket_without_checks(project: Project) -> Findings:
    """The scoring file or a profile lists a bucket that no check is in.

    Why it matters: a gate without checks stops nothing, a dimension without checks never has a value, and a profile
    selects nothing by the bucket. This is an error where all buckets of a gate or dimension are empty, and advice
    elsewhere. A unit of analysis for such a bucket is left alone: it changes nothing.
    Instead: remove the entry, or correct the bucket.
    """
    if not project.checks:
        return
    empty = set(project.vocabulary.buckets) - {check.primary_bucket for check in project.checks}
    for profile in project.profiles.values():
        for bucket in text_scalars(profile.node, "include_buckets"):
            if bucket.value in empty:
                yield advice(bucket, f"no check is in bucket `{bucket.value}`")
    yield from _gates(project)
    if project.scoring is None:
        return
    unscored = list(buckets_without_policy(project.scoring, project.checks))
    for section, key in (("gates", "mode_buckets"), ("quality_dimensions", "buckets")):
        for entry in entries(project.scoring.node, section):
            buckets = text_scalars(entry.value, key)
            found = [bucket for bucket in buckets if bucket.value in empty]
            if found and len(found) == len(buckets):
                message = f"no check is in the buckets of `{section}.{entry.name}`"
                yield error(found[0], message, help=Guess(unscored[0]) if len(unscored) == 1 else None)
            else:
                yield from (advice(bucket, f"no check is in bucket `{bucket.value}`") for bucket in found)


def _gates(project: Project) -> Findings:
    """The kinds of gate to which no check belongs, although checks in other buckets have their severities."""
    words = project.vocabulary
    for kind in words.gates:
        place = None if project.file is None else project.file.get("vocabulary", "gates", kind.name, "buckets")
        grave = [each for each in project.checks if each.severity in kind.severities]
        outside = [each for each in grave if each.primary_bucket not in words.gate_buckets]
        if place is not None and outside and not any(each.primary_bucket in kind.buckets for each in grave):
            buckets = ticked(kind.buckets)
            message = f"no check in {buckets} has the severity {ticked(kind.severities)} of the gate `{kind.name}`"
            notes = [(each.place("severity"), f"in `{each.primary_bucket}`") for each in outside]
            yield error(place, message, notes=notes)
