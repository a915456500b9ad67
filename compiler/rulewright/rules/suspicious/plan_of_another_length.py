from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend
from rulewright.documents.case_batch import CaseBatch
from rulewright.load import Sequence
from rulewright_runtime.english import plural


def plan_of_another_length(batch: CaseBatch) -> Findings:
    """The scenarios of `batch_plan` or `batch_strategy` are more or fewer than the cases of the batch.

    Why it matters: a scenario gives the archetype of the case at its position, so after a missing one cases get the
    archetypes of others.
    Instead: add the missing scenario or case.
    """
    for plan in ("batch_plan", "batch_strategy"):
        listed, count = descend(batch.root, plan, "scenarios"), len(batch.nodes)
        if isinstance(listed, Sequence) and listed.items and len(listed) != count:
            message = f"`{plan}` has {plural(len(listed), 'scenario')} for {plural(count, 'case')}, matched by position"
            yield warning(listed, message)
