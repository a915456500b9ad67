from rulewright.diagnostics import Findings
from rulewright.lower.workflow import cycles
from rulewright.workflow import Workflow


def cyclic_dependency(workflow: Workflow) -> Findings:
    """Tasks depend on each other in a cycle.

    Why it matters: each task waits for the next one, so none can start.
    Instead: remove one of the dependencies.
    """
    for cycle in cycles(workflow.document):
        task, needed = workflow.document.task(cycle[0]), (*cycle, cycle[0])[1]
        if task is not None:
            place = next(each for each in task.dependencies if each.value == needed)
            line = " -> ".join((*cycle, cycle[0]))
            yield task.error(place, "dependencies", f"Cyclic dependency detected: {line}")
