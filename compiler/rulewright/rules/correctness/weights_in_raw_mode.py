from rulewright.diagnostics import Findings
from rulewright.documents.base import descend, numeric, text
from rulewright.documents.workflow import TaskDocument


def weights_in_raw_mode(task: TaskDocument) -> Findings:
    """A confidence loop has weights, but `mode: raw`.

    Why it matters: in this mode each metric is compared with the threshold, so the weights have no effect.
    Instead: write `mode: composite` for the weighted mean, or remove the weights.
    """
    weights = [numeric(each.node, "weight") for each in task.metrics]
    written = next((each for each in weights if each is not None and each.value != 0), None)
    loop = task.on("confidence_loop")
    if loop is not None and written is not None and text(loop.find("mode")) == "raw":
        message = "each metric is compared with the threshold, so the weights have no effect"
        place = descend(task.node, "overlays", "confidence_loop", "mode") or written
        notes = [(written, "a weight")] if place is not written else []
        yield task.warning(place, "overlays.confidence_loop.mode", message, notes=notes)
