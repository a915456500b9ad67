from collections import Counter

from rulewright.diagnostics import Findings, Guess, Span, warning
from rulewright.documents.case_batch import CaseBatch, cases_near, outputs_near, records_by_id
from rulewright.load import Mapping, Scalar
from rulewright.spelling import is_slip_of


def output_without_case(batch: CaseBatch) -> Findings:
    """An output has a test id that is almost that of a case without an output.

    Why it matters: the output belongs to no case, and the case counts as an error.
    Instead: write the test id as the case does.
    """
    ids = _ids(batch)
    folder = cases_near(batch.path)
    # Where a file names no test id, the case may be in it.
    known = folder.counted("test_id") if ids and all(folder.values("test_id")) else Counter[str]()
    sorted_ids, answered = sorted(known), outputs_near(batch.path).counted("test_id") if known else {}
    for name, place in ids.items() if known else ():
        if name in known:
            continue
        near = [
            each
            for each in sorted_ids
            if is_slip_of(name, each) and (not (each in ids or each in answered) or known[each] > 1)
        ]
        if near and not any(known[each] > 1 for each in near):  # else `duplicate-test-id`
            help = Guess(near[0]) if isinstance(place, Scalar) else f"name the file after `{near[0]}`, if that is meant"
            yield warning(place, f"no case has the test id `{name}`", help=help)


def _ids(batch: CaseBatch) -> dict[str, Scalar | Span]:
    """The test ids of a file of outputs, where they are written, or its first key if its name is the test id; empty for
    a file of cases."""
    if batch.cases:
        return {}
    named = (each.node.get("test_id") for each in batch.records)
    ids: dict[str, Scalar | Span] = {name.text: name for name in named if isinstance(name, Scalar)}
    if isinstance(batch.root, Mapping) and records_by_id(batch.root):
        ids |= {entry.name: entry.key for entry in batch.root.entries}
    elif not ids and len(batch.records) == 1 and batch.records[0].key == batch.path.stem:
        ids[batch.path.stem] = batch.records[0].place("test_id")
    return ids
