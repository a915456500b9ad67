from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument, evidence_phrase
from rulewright.documents.workflow_fixes import gate_evidence


def gate_without_evidence(task: TaskDocument) -> Findings:
    """A policy gate requires evidence, but names no file for it.

    Why it matters: the gate never says PASS whatever the agents do, and the task is never COMPLETED.
    Instead: name the reports that your tools write under `evidence`, or choose a tier that requires less.
    """
    gate, missing = task.on("policy_gate"), task.missing_evidence
    if gate is not None and missing:
        place = next((each.key_span("evidence") for each in gate.layers if "evidence" in each), gate.place)
        message = f"the {task.tier} gate never says PASS: `evidence` names no file for {evidence_phrase(missing)}"
        yield task.warning(place, gate.field, message, fix=gate_evidence(task, missing))
