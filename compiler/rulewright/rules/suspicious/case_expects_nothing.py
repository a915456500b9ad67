from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend, items, text_of, texts
from rulewright.documents.case_batch import CaseBatch
from rulewright.load import Sequence, is_text


def case_expects_nothing(batch: CaseBatch) -> Findings:
    """Every list of expectations of a test case is empty, or an expectation is an empty text.

    Why it matters: any output meets them all, so the case raises the mean of its batch. An empty text is found in every
    text, so any output meets it, or breaks it where it is forbidden.
    Instead: write what a good answer contains, or what it must not contain.
    """
    paths = [each.path for each in batch.plan.inputs if each.source == "case"]
    for record in batch.cases:
        is_written = all(isinstance(descend(record.case, *path), Sequence) for path in paths)
        if is_written and not any(text.strip() for path in paths for text in texts(record.case, *path)):
            yield warning(record.place("expectations"), "the case expects nothing")
        for item in (item for path in paths for item in items(record.case, *path)):
            if is_text(item) and not text_of(item).strip():
                yield warning(item, "an empty text is found in every output")
