from rulewright.diagnostics import Findings, Span, error
from rulewright.documents.case_batch import CaseBatch, CaseRecord
from rulewright.load import Mapping
from rulewright_runtime.cases.shape import CaseShape, Mistake


def bad_case(batch: CaseBatch) -> Findings:
    """`rulewright score` refuses to read a test case or an output of the engine.

    Why it matters: the case is not scored, and the run ends with an error.
    Instead: write exactly the keys that the scorecard reads, which the message lists.
    """
    for node in batch.nodes:
        if not isinstance(node, Mapping):
            yield error(node, "a case must be an object with `test_id`")
    shape = CaseShape(batch.plan)
    for each in batch.records:
        yield from _refused(each, shape)


def _refused(record: CaseRecord, shape: CaseShape) -> Findings:
    """The finding for a record that the scorecard's reader refuses, at the key that the error names."""
    if record.key is None:
        yield error(record.place("id"), f"the {'case' if record.is_case else 'output'} has no `test_id`")
        return
    read = shape.decode(record.source, is_case=record.is_case)
    if isinstance(read, Mistake):
        yield error(_at(record, read.path), str(read))
    elif not record.is_case and isinstance(output := shape.inline_output(read[0]), Mistake):
        yield error(_at(record, output.path), str(output))


def _at(record: CaseRecord, place: tuple[str, ...]) -> Span:
    """The span of the last existing key on the way to a path, or of the record's test id."""
    node, span = record.node, None
    for name in place:
        if name not in node:
            break
        span, below = node.key_span(name), node.get(name)
        if not isinstance(below, Mapping):
            break
        node = below
    return span or record.place("test_id")
