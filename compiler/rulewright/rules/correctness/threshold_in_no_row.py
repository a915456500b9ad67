import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.expression.syntax_tree import Binary, chain
from rulewright.lower.expressions_of import expressions_of
from rulewright.rules.suspicious.review_above_pass import THRESHOLD

WORD: Final = re.compile(r"\w+")


def threshold_in_no_row(scorecard: CaseScorecardDocument) -> Findings:
    """The label table does not read the threshold below which a metric fails, or only together with those of others.

    Why it matters: a case that fails the metric has the label of one that only misses its pass threshold. Usually the
    row was deleted, names another parameter, or joins the comparisons by `&&`.
    Instead: add a row that compares the metric with its threshold, or write `||`.
    """
    read = {word for row in scorecard.labels for word in WORD.findall(row.when.text)}
    limits = [(each, THRESHOLD.fullmatch(each.fails.text)) for each in scorecard.metrics if each.fails is not None]
    yield from _only_together(scorecard, {found[3]: metric.name for metric, found in limits if found})
    names = {setting.name for setting in scorecard.settings}
    own = [(metric, found[3]) for metric, found in limits if found and found[1] == metric.name and found[3] in names]
    lost = [(metric, name) for metric, name in own if name not in read and metric.name in read]
    if len(lost) == 1 < len(own):
        metric, name = lost[0]
        message = f"no row reads `{name}`, below which `{metric.name}` fails"
        notes = [(metric.fails, "the threshold")] if metric.fails is not None else []
        yield warning(scorecard.key_place("labels"), message, notes=notes)


def _only_together(scorecard: CaseScorecardDocument, limits: dict[str, str]) -> Findings:
    """The first row, if it alone reads the thresholds below which metrics fail, and holds only where all of them do. A
    later row may be for what several metrics miss."""
    rows = [(row, {*WORD.findall(row.when.text)} & limits.keys()) for row in scorecard.labels]
    row, read = next(iter(rows), (None, set[str]()))
    if row is None or len(read) < 2 or any(others for _, others in rows[1:]):
        return
    for written in expressions_of(scorecard):
        sides = chain(written.checked.expr, "&&") if written.scalar is row.when else []
        if len(sides) > 1 and all(isinstance(side, Binary) and side.operator in ("<", "<=") for side in sides):
            message = f"a case that fails only `{limits[min(read)]}` is not `{row.label}`"
            yield warning(written.scalar, message, help="did you mean `||`?")
