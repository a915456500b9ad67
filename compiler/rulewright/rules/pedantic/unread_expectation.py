from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import descend
from rulewright.documents.case_batch import CaseBatch
from rulewright.load import Sequence


def unread_expectation(batch: CaseBatch) -> Findings:
    """The scorecard does not read an expectation.

    Why it matters: an output that does not meet it loses nothing.
    Instead: remove it, or write it where the scorecard reads it.
    """
    named = (path.split(".") for path in batch.plan.metadata)
    paths = [steps for source, *steps in named if source == "case" and steps[:1] == ["expectations"]]
    for record in batch.cases:
        for steps in paths:
            unread = descend(record.case, *steps)
            if unread is not None and not (isinstance(unread, Sequence) and not unread.items):
                yield advice(unread, f"`{batch.plan.name}` does not read `{'.'.join(steps)}`")
