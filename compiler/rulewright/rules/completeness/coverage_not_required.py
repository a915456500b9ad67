import re
from typing import Final

from rulewright.diagnostics import Findings
from rulewright.documents.base import descend, text_scalars, value
from rulewright.documents.workflow import TaskDocument

COVERAGE: Final = re.compile(r"""(?<![.\w'"])coverage\b(?!['"])""")


def coverage_not_required(task: TaskDocument) -> Findings:
    """A policy gate sets `coverage_threshold`, or has a condition on `coverage`, but not `require_coverage`.

    Why it matters: the report then only notes the coverage: a threshold has no effect, and a condition that depends
    on `coverage` can't be decided, so the gate does not say PASS.
    Instead: write `require_coverage: true`, or remove the threshold or the condition.
    """
    gate = task.on("policy_gate")
    if gate is None or value(gate.find("require_coverage")) is True:
        return
    written = descend(task.node, "overlays", "policy_gate", "coverage_threshold")
    message = "this threshold has no effect without `require_coverage: true`"
    conditions = text_scalars(task.node, "overlays", "policy_gate", "conditions")
    condition = next((each for each in conditions if COVERAGE.search(each.text)), None)
    if condition is not None:
        notes = [] if written is None else [(written, message)]
        message = "the gate has no `coverage` without `require_coverage: true`"
        yield task.warning(condition, "overlays.policy_gate.conditions", message, notes=notes)
    elif written is not None:
        yield task.warning(written, "overlays.policy_gate.coverage_threshold", message)
