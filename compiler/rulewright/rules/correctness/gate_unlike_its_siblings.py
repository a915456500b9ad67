from typing import Final

from rulewright.diagnostics import Findings
from rulewright.documents.base import descend
from rulewright.documents.workflow import TaskDocument, names
from rulewright.workflow import Workflow

BOTH: Final = ("lint", "security")  # the evidence of verification, of which a gate requires one
OTHERS: Final = 2  # gates that name both, to be a habit
METRICS: Final = {"lint_score": "lint", "security_score": "security"}


def gate_unlike_its_siblings(workflow: Workflow) -> Findings:
    """A gate has no evidence of lint or of security, although its metrics or all similar gates have both.

    Why it matters: one of the two is enough for `verification`, so the gate says PASS without the other report.
    Instead: name the report under `evidence`.
    """
    gates = [task for task in workflow.document.tasks if "verification" in task.required_evidence]
    partial = [task for task in gates if len(_named(task)) == 1]
    for task in partial:
        missing = next(each for each in BOTH if each not in _named(task))
        measured = next((each for each in task.metrics if METRICS.get(each.type) == missing), None)
        if measured is None and (len(partial) > 1 or len(gates) <= OTHERS):
            continue
        why = f"the metric `{measured.type}` reads one" if measured else f"the {len(gates) - 1} similar gates name one"
        gate = task.overlays["policy_gate"]
        place = next((each.key_span("evidence") for each in gate.layers if "evidence" in each), gate.place)
        yield task.warning(place, f"{gate.field}.evidence", f"no report of `{missing}`, but {why}")


def _named(task: TaskDocument) -> list[str]:
    """Which of the two the gate names a file for."""
    gate = task.on("policy_gate")
    written = None if gate is None else gate.find("evidence")
    return [
        each for each in BOTH if written is not None and descend(written, each) is not None and names(written, each)
    ]
