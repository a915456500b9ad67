from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar


def sign_off_without_hil(task: TaskDocument) -> Findings:
    """A task has a gate of tier T2, but its `hil` is off, or it says `requires_human: false`.

    Why it matters: T2 always waits for a person's sign-off, whatever these keys say, so the task stops there anyway.
    Instead: turn `hil` on, so that exhausted loops also ask a person, remove `requires_human`, or choose another tier.
    """
    asks = task.node.get("requires_human")
    if task.tier == "T2" and isinstance(asks, Scalar) and asks.value is False:
        message = "a T2 gate waits for a person's sign-off anyway"
        yield task.warning(asks, "requires_human", message, help="remove it, or choose another tier")
    elif task.tier == "T2" and "hil" not in task.enabled:
        place = task.overlays["policy_gate"].find("risk_tier") or task.key
        message = "`hil` is off, but a T2 gate waits for a person's sign-off anyway"
        yield task.warning(place, "overlays.policy_gate.risk_tier", message)
