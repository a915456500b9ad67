from rulewright.diagnostics import Findings
from rulewright.documents.base import descend, value
from rulewright.documents.workflow import TaskDocument


def coverage_not_required(task: TaskDocument) -> Findings:
    """A policy gate sets `coverage_threshold`, but not `require_coverage`.

    Why it matters: the report then only notes the coverage; the gate passes however low it is.
    Instead: write `require_coverage: true`, or remove the threshold.
    """
    gate = task.on("policy_gate")
    written = descend(task.node, "overlays", "policy_gate", "coverage_threshold")
    if gate is not None and written is not None and value(gate.find("require_coverage")) is not True:
        message = "this threshold has no effect without `require_coverage: true`"
        yield task.warning(written, "overlays.policy_gate.coverage_threshold", message)
