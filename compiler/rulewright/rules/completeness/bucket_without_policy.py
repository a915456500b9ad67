import re
from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import Document, entries, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar
from rulewright.project import Project
from rulewright.project.choices import usual_scorecard

QUOTED: Final = re.compile(r"""['"]([\w-]+)['"]""")


def bucket_without_policy(project: Project) -> Findings:
    """A check's bucket is in no gate and no quality dimension of the scoring file, and in no condition of a scorecard.

    Why it matters: the check runs, and may pay for a judge, but its verdict affects no score.
    Instead: add the bucket to a gate or a dimension of the scoring file, or give the check another bucket.
    """
    if project.scoring is None:
        return
    listed = _listed(project.scoring)
    doubled = [each for at, each in enumerate(listed) if each.value in [other.value for other in listed[:at]]]
    buckets = unlisted_buckets(project)
    for bucket, (first, *others) in buckets.items():
        effect = f"bucket `{bucket}` affects no score: no gate and no dimension lists it"
        also = [(check.place("primary_bucket"), "also in this bucket") for check in others]
        place = first.place("primary_bucket")
        if doubled:
            twice = doubled.pop(0)
            yield warning(
                twice, f"bucket `{twice.value}` is listed twice, and {effect}", notes=[(place, "a check"), *also]
            )
        else:
            yield warning(place, effect, notes=[(project.scoring.span, "the scoring file"), *also])


def unlisted_buckets(project: Project) -> dict[str, list[CheckDocument]]:
    """The `buckets_without_policy` that no gate, dimension or rate of the project's scorecard names in a text."""
    card = usual_scorecard(project)
    if project.scoring is None:
        return {}
    gates, rates = ((), ()) if card is None else (card.gates, (*card.dimensions, *card.rates))
    conditions = [*(each.of for each in gates), *(each.of for each in rates)]
    named = {word for each in conditions for word in QUOTED.findall(each.text)}
    found = buckets_without_policy(project.scoring, project.checks)
    return {bucket: checks for bucket, checks in found.items() if bucket not in named}


def buckets_without_policy(scoring: Document, checks: Iterable[CheckDocument]) -> dict[str, list[CheckDocument]]:
    """The buckets of checks that no gate and no dimension of the scoring file lists; empty if it lists none at all."""
    counted = {each.text for each in _listed(scoring)}
    buckets: dict[str, list[CheckDocument]] = {}
    for check in checks if counted else ():
        if check.primary_bucket and check.primary_bucket not in counted:
            buckets.setdefault(check.primary_bucket, []).append(check)
    return buckets


def _listed(scoring: Document) -> list[Scalar]:
    return [
        bucket
        for part, key in (("gates", "mode_buckets"), ("quality_dimensions", "buckets"))
        for entry in entries(scoring.node, part)
        for bucket in text_scalars(entry.value, key)
    ]
