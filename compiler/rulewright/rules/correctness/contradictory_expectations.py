import re
from contextlib import suppress
from typing import Final

from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.base import descend, folded, items, number, text_of, texts
from rulewright.documents.case_batch import CaseBatch, CaseRecord
from rulewright.load import Mapping, Node, Scalar, Sequence, walk
from rulewright.proving.case_values import opposed_lists, value_where
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import fold
from rulewright_runtime.cases.shape import OUTPUTS
from rulewright_runtime.english import plural
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare

LEAST: Final = re.compile(r"min_\w*count")


def contradictory_expectations(batch: CaseBatch) -> Findings:
    """A test case requires words that it also forbids or more items than it lists, or a golden output misses some.

    Why it matters: no answer can meet both. A golden set holds what is right, so one of the two is wrong.
    Instead: remove one of the two, or correct the number, the list or the output.
    """
    paths = {each.name: each.path for each in batch.plan.inputs if each.source == "case"}
    # A list that is wanted and unwanted itself is reported in the scorecard.
    opposed = [(one, two) for one, two in opposed_lists(batch.plan) if paths.get(one) != paths.get(two)]
    for record in batch.cases:
        if "golden" in f"{batch.path.stem} {record.key}".lower():
            yield from _not_met(record, batch.plan)
        yield from _forbidden_themes(record)
        for node in walk(record.case.get("expectations")):
            yield from _unreachable_counts(node) if isinstance(node, Mapping) else ()
        for good, bad in opposed:
            yield from _in_both(record, (good, paths.get(good, ("",))), (bad, paths.get(bad, ("",))))


def _not_met(record: CaseRecord, plan: CaseScorecardPlan) -> Findings:
    """The texts that a metric wants and does not find in the output next to them, or finds and does not want."""
    output = next((each for key in OUTPUTS if (each := descend(record.node, key)) is not None), None)
    if output is None:
        return
    values = _values_of(record, output, plan)
    folded = _folded(values)
    paths = {each.name: each.path for each in plan.inputs if each.source == "case"}
    for metric in plan.metrics:
        is_wanted = metric.share.empty == "1"
        for item in items(record.case, *paths.get(metric.share.of, ("",))):
            phrase = text_of(item)
            known = {**values, "it": phrase}, {**folded, "it": fold(phrase)}
            results = {value_where(metric.share.found, each, {}) for each in known}
            if phrase.strip() and results == {not is_wanted}:
                what = "does not meet" if is_wanted else "contains"
                message = f"the output of this golden case {what} `{phrase}` of `{metric.name}`"
                yield warning(item, message, notes=[(output, "the output")])


def _values_of(record: CaseRecord, output: Node, plan: CaseScorecardPlan) -> dict[str, object]:
    """The inputs and texts of a scorecard as a case and its output give them."""
    values: dict[str, object] = {}
    for given in plan.inputs:
        found = descend(record.case if given.source == "case" else output, *given.path)
        values[given.name] = text_of(found) if given.type == "string" else [text_of(item) for item in items(found)]
    with suppress(EvaluationError):
        values |= {each.name: prepare(each.value)(values) for each in plan.texts}
    return values


def _folded(values: dict[str, object]) -> dict[str, object]:
    """The texts as they are matched where a scorecard folds typography."""
    return {
        name: fold(value) if isinstance(value, str) else [fold(each) for each in value if isinstance(each, str)]
        for name, value in values.items()
        if isinstance(value, str | list)
    }


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
