from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument
from rulewright.documents.workflow_fixes import add_overlay, evidence_for
from rulewright.load import Mapping


def confidence_without_gate(task: TaskDocument) -> Findings:
    """A task has a confidence loop, but no enabled policy gate.

    Why it matters: confidence alone never promotes a task, so a gate of tier T1 is added. It has no evidence and
    therefore never says PASS.
    Instead: enable `policy_gate`, choose its tier and name the reports that your tools write.
    """
    loop, gate = task.on("confidence_loop"), task.overlays.get("policy_gate")
    is_own = isinstance(task.get("overlays", "policy_gate"), Mapping)
    is_forgotten = is_own and gate is not None and gate.find("enabled") is None  # `overlay-not-enabled`
    if loop is not None and task.gate_is_implicit and not is_forgotten:
        message = "confidence never promotes by itself; without an enabled `policy_gate` a gate of tier T1 is added"
        settings = f"risk_tier: T1, evidence: {evidence_for(task, task.missing_evidence)}"
        fix = add_overlay(task, "policy_gate", settings)
        help = "the added gate never says PASS: it has no evidence"
        switch = gate.find("enabled") if gate is not None else None
        place = loop.place if switch is None else switch
        yield task.warning(place, loop.field, message, help=help, fix=fix)
