from collections import Counter

from rulewright.diagnostics import Findings, error
from rulewright.documents.base import descend
from rulewright.documents.case_batch import CaseBatch
from rulewright.load import Mapping, Scalar
from rulewright.spelling import did_you_mean


def unknown_concern(batch: CaseBatch) -> Findings:
    """A test case has another concern than its batch.

    Why it matters: `score` leaves out the cases of other concerns, so the case is never scored.
    Instead: spell `concern_id` as the batch does, or move the case to a batch of its concern.
    """
    has_several = isinstance(batch.root, Mapping) and len(batch.nodes) > 1
    around = descend(batch.root, "concern_id") if has_several else None
    counts = Counter(each.concern for each in batch.cases if each.concern)
    (usual, often), *_ = [*counts.most_common(1), (None, 0)]
    most = usual if often > len(batch.cases) / 2 and often > 1 else _named_by(batch, counts)
    expected = around.text if isinstance(around, Scalar) and around.value else most
    is_of_all = often == len(batch.cases) > 1
    if isinstance(around, Scalar) and expected and usual and is_of_all and not _same(usual, expected):
        message = f"the batch has the concern `{expected}`, but all its cases have `{usual}`"
        yield error(around, message, help=did_you_mean(expected, [usual]))
        return
    for each in batch.cases:
        if expected and each.concern and not _same(each.concern, expected):
            message = f"the case has the concern `{each.concern}`, but its batch has `{expected}`"
            yield error(each.place("concern_id"), message, help=did_you_mean(each.concern, [expected]))


def _named_by(batch: CaseBatch, counts: Counter[str]) -> str | None:
    """The concern of half of the cases, if the name of the file is it or begins with it."""
    stem = batch.path.stem.lower()
    is_half = (each for each, count in counts.items() if 2 * count == counts.total())
    return next((each for each in is_half if f"{stem}_".startswith((f"{each.lower()}_", f"{each.lower()}-"))), None)


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()
