from rulewright.diagnostics import Findings
from rulewright.documents.base import descend, entries
from rulewright.documents.workflow import REQUIRED, TaskDocument


def evidence_not_read(task: TaskDocument) -> Findings:
    """A policy gate names evidence that its tier does not read, or `implemented` without `requirements`.

    Why it matters: the gate says PASS whatever these files hold, and even if they don't exist.
    Instead: choose a tier that reads them, name the `requirements` to look for, or remove the key.
    """
    if task.on("policy_gate") is None or task.tier not in REQUIRED:
        return
    for entry in entries(descend(task.node, "overlays", "policy_gate", "evidence")):
        if entry.name not in task.evidence_read:
            why = "without `requirements`" if entry.name == "implemented" else f"at tier {task.tier}"
            field = f"overlays.policy_gate.evidence.{entry.name}"
            yield task.warning(entry.key, field, f"the gate does not read this evidence {why}")
