import os
from itertools import islice
from typing import Final

from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.case_batch import CaseBatch, CaseRecord, cases_near, source_of
from rulewright.documents.layout import text_of
from rulewright_runtime.english import plural

MOST_BATCHES: Final = 100  # with the ids of a batch, in which its cases are looked for


def duplicate_test_id(batch: CaseBatch) -> Findings:
    """Two test cases of a batch have the same `test_id`.

    Why it matters: an output then belongs to both, and `score` refuses the second case if it differs from the first.
    Instead: give each case a `test_id` of its own.
    """
    first: dict[str, CaseRecord] = {}
    for each in batch.cases or batch.records:
        if each.key is not None and (before := first.setdefault(each.key, each)) is not each:
            notes = [(before.place("test_id"), "first used here")]
            yield error(each.place("test_id"), f"duplicate test id in this batch: `{each.key}`", notes=notes)
    yield from _in_an_earlier_batch(batch)


def _in_an_earlier_batch(batch: CaseBatch) -> Findings:
    """The first case that an earlier batch holds as well: the only one with its id, or with the same text."""
    ids = {each.key: each for each in reversed(batch.cases) if each.key is not None}
    own = os.path.abspath(batch.path)
    near = cases_near(batch.path).holding("(?:test_)?id", frozenset(ids)) if ids else iter(())
    earlier = ((file, known) for file, known in near if os.path.abspath(file) < own)
    for file, known in islice(earlier, MOST_BATCHES):
        twice = [each for each in ids if each in known]
        first = ids[twice[0]] if twice else batch.cases[0]
        if twice and (len(twice) == 1 < len(ids) or source_of(first.node) in text_of(file)):
            more = f", like {plural(len(twice) - 1, 'other case')}" if twice[1:] else ""
            message = f"the test id `{twice[0]}` is already in the batch `{file.stem}`{more}, and both cases count"
            yield warning(first.place("test_id"), message)
            return
