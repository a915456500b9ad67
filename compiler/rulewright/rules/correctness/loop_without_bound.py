from rulewright.diagnostics import Findings
from rulewright.documents.workflow_fixes import add_key
from rulewright.workflow import Workflow


def loop_without_bound(workflow: Workflow) -> Findings:
    """A loop has no `max_iterations`.

    Why it matters: a loop whose condition is never met would run forever and keep costing money. A default elsewhere
    does not count: each loop states its own limit.
    Instead: set `max_iterations`.
    """
    usual = workflow.document.default_iterations or 5
    for task in workflow.document.tasks:
        limits = [loop.max_iterations for loop in task.loops]
        for number, loop in enumerate(task.loops):
            if loop.find("max_iterations") is None:
                # Not above an inner loop's limit nor below an outer one's, or `bound-never-reached` would follow.
                outer, inner = filter(None, limits[:number]), filter(None, limits[number + 1 :])
                fix = add_key(loop.layers[0], "max_iterations", str(min([max([usual, *outer]), *inner])))
                yield task.error(loop.place, f"{loop.field}.max_iterations", "loop requires max_iterations", fix=fix)
