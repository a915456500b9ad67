import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, numeric
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar
from rulewright.lower.expressions_of import DocumentWithExpressions
from rulewright.proving.placed_conditions import placed_conditions
from rulewright.proving.studies import BY_DEFAULT, LocatedCondition, span_of
from rulewright.proving.verdicts import never_given

NAME: Final = re.compile(r"[A-Za-z_]\w*")


def condition_never_holds(document: DocumentWithExpressions) -> Findings:
    """A condition can never be true.

    Why it matters: what it guards never happens.
    Instead: look for parts that contradict each other, or for a number on the wrong side of a comparison.
    """
    yield from _unclear_after_fail(document)
    for placed in placed_conditions(document):
        is_decided = not all(holds for _, holds in placed.study.decided)
        if placed.study.never and not placed.in_table and not is_decided:  # else `comparison-out-of-range`
            message = f"this condition can never hold{placed.study.given}"
            default = _out_of_order(document, placed)
            notes = [] if default is None else [(placed.place, "the condition")]
            yield warning(placed.place if default is None else default, message, notes=notes)
        for part, holds in placed.study.dead:
            if not holds:
                yield warning(span_of(placed, part), "this part of the condition can never hold")


def _out_of_order(document: DocumentWithExpressions, placed: LocatedCondition) -> Scalar | None:
    """The default of the only parameter that a condition reads, if the expression reads several whose defaults neither
    rise nor fall in the order of their declarations."""
    if not placed.study.given.endswith(BY_DEFAULT):
        return None
    defaults = [(each.name, numeric(each.value, "default")) for each in entries(document.node, "parameters")]
    words = {*NAME.findall(placed.scalar.text)}
    read = {name: each for name, each in defaults if each is not None and name in words}
    values = [each.as_float for each in read.values()]
    start, end = placed.study.program.nodes[-1].at or (0, 0)
    own = [read[name] for name in NAME.findall(placed.study.program.source[start:end]) if name in read]
    return own[0] if len(own) == 1 and sorted(values) not in (values, values[::-1]) else None


def _unclear_after_fail(document: object) -> Findings:
    """A finding for an `unclear` that holds only where `fail` has already decided."""
    if not isinstance(document, CheckDocument) or document.unclears is None:
        return
    if never_given(document, "UNCLEAR"):
        yield warning(document.unclears, "this condition can never hold after `fail`")
