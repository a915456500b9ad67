from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import descend, folded, text_of, texts
from rulewright.documents.case_batch import CaseBatch


def phrase_not_in_payload(batch: CaseBatch) -> Findings:
    """A test case expects phrases that do not occur in its `patient_payload`.

    Why it matters: an engine that keeps to the words of the record can't write the phrase, so a correct output fails.
    Instead: take the phrase from the payload, unless the case asks for an inference.
    """
    paths = {each.name: each.path for each in batch.plan.inputs if each.source == "case"}
    wanted = [paths[name] for name in ("must_find", "must_contain") if name in paths]
    for record in batch.cases:
        payload = descend(record.case, "patient_payload")
        if payload is None:
            continue
        given = folded(text_of(payload))
        phrases = (text for path in wanted for text in texts(record.case, *path) if text.strip())
        absent = [text for text in phrases if folded(text) not in given]
        if absent:
            more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
            yield advice(payload, f"not in the payload: `{absent[0]}`{more}")
