from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import text_scalars
from rulewright.workflow import Workflow
from rulewright_runtime.english import ticked


def default_conditions_dropped(workflow: Workflow) -> Findings:
    """The conditions of a gate replace those of the workflow or project, and some of these are missing.

    Why it matters: a list replaces the default list and does not add to it, so the gate passes without the conditions
    that all other gates have.
    Instead: repeat the default conditions in the list.
    """
    gates = [gate for task in workflow.document.tasks if (gate := task.on("policy_gate")) is not None]
    written = [[each for each in gate.layers if "conditions" in each] for gate in gates]
    for layer, default in {id(layers[0]): layers[:2] for layers in written if len(layers) > 1}.values():
        own = [each.text for each in text_scalars(layer, "conditions")]
        dropped = [value for each in text_scalars(default, "conditions") if (value := each.text) not in own]
        if dropped:
            message = f"this list replaces the default one, which also has {ticked(dropped)}"
            yield warning(layer.index["conditions"].key, message, help="repeat these conditions in the list")
