from __future__ import annotations

import re
from typing import Final

from rulewright.diagnostics import Findings, error
from rulewright.documents.base import descend, folded, items, number, text_of, texts
from rulewright.documents.case_batch import CaseBatch, CaseRecord
from rulewright.load import Mapping, Scalar, Sequence, walk
from rulewright.proving.case_values import opposed_lists
from rulewright_runtime.english import plural

LEAST: Final = re.compile(r"min_\w*count")


def contradictory_expectations(batch: CaseBatch) -> Findings:
    """A test case requires words that it also forbids, more items than it lists, or a count that is not a number.

    Why it matters: no answer can meet both.
    Instead: remove one of the two, or correct the number or the list.
    """
    paths = {each.name: each.path for each in batch.plan.inputs if each.source == "case"}
    # A list that is wanted and unwanted itself is reported in the scorecard.
    opposed = [(one, two) for one, two in opposed_lists(batch.plan) if paths.get(one) != paths.get(two)]
    for record in batch.cases:
        yield from _forbidden_themes(record)
        for node in walk(record.case.get("expectations")):
            yield from _unreachable_counts(node) if isinstance(node, Mapping) else ()
        for good, bad in opposed:
            yield from _in_both(record, (good, paths.get(good, ("",))), (bad, paths.get(bad, ("",))))


def _forbidden_themes(record: CaseRecord) -> Findings:
    """The findings for required themes that contain a forbidden word."""
    questions = descend(record.case, "expectations", "followup_questions")
    forbidden = texts(questions, "forbidden_terms")
    for theme in items(questions, "required_themes") if isinstance(questions, Mapping) else ():
        text = text_of(theme)
        term = next((each for each in forbidden if each.strip() and folded(each) in folded(text)), None)
        if term is not None:
            yield error(theme, f"`{text}` is required, and `{term}` is forbidden")


def _unreachable_counts(node: Mapping) -> Findings:
    """The findings for a least number of items that is not a number, or larger than the only list next to it."""
    lists = [entry for entry in node.entries if isinstance(entry.value, Sequence)]
    counts = {entry.name: len(items(entry.value)) for entry in lists if len(lists) == 1}
    for entry in (each for each in node.entries if LEAST.fullmatch(each.name)):
        least = number(entry.value)
        is_given = not isinstance(entry.value, Scalar) or entry.value.value is not None
        if is_given and (least is None or least < 0):
            yield error(entry.value, f"`{entry.name}` must be a number of items, and not negative")
            continue
        for name, count in counts.items():
            if least is not None and 0 < count < least:
                message = f"`{entry.name}` is {least}, but `{name}` has {plural(count, 'item')}"
                yield error(entry.value, message, notes=[(lists[0].key, "the list")])


def _in_both(record: CaseRecord, good: tuple[str, tuple[str, ...]], bad: tuple[str, tuple[str, ...]]) -> Findings:
    """The finding for texts that one metric wants and another one does not want in the same place."""
    unwanted = {folded(text_of(each)): each for each in items(record.case, *bad[1])}
    wanted = [each for each in items(record.case, *good[1]) if text_of(each).strip()]
    both = [each for each in wanted if folded(text_of(each)) in unwanted]
    if both:
        more = f", like {plural(len(both) - 1, 'other text')}" if both[1:] else ""
        message = f"`{text_of(both[0])}` is in `{good[0]}` and in `{bad[0]}`{more}"
        yield error(both[0], message, notes=[(unwanted[folded(text_of(both[0]))], "here as well")])
