import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.rules.suspicious.review_above_pass import THRESHOLD

WORD: Final = re.compile(r"\w+")


def threshold_in_no_row(scorecard: CaseScorecardDocument) -> Findings:
    """No row of the label table reads the threshold below which a metric fails, although rows read those of others.

    Why it matters: a case that fails the metric has the label of one that only misses its pass threshold. Usually the
    row was deleted, or names another parameter.
    Instead: add a row that compares the metric with its threshold.
    """
    read = {word for row in scorecard.labels for word in WORD.findall(str(row.when.value))}
    limits = [
        (each, THRESHOLD.fullmatch(str(each.fails.value))) for each in scorecard.metrics if each.fails is not None
    ]
    names = {setting.name for setting in scorecard.settings}
    own = [(metric, found[3]) for metric, found in limits if found and found[1] == metric.name and found[3] in names]
    lost = [(metric, name) for metric, name in own if name not in read and metric.name in read]
    if len(lost) == 1 < len(own):
        metric, name = lost[0]
        message = f"no row reads `{name}`, below which `{metric.name}` fails"
        notes = [(metric.fails, "the threshold")] if metric.fails is not None else []
        yield warning(scorecard.key_place("labels"), message, notes=notes)
