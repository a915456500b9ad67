from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument
from rulewright.proving.workflow_values import excluding


def loop_nothing_ends(task: TaskDocument) -> Findings:
    """A loop has neither a threshold nor exit conditions, or `exit_when: all` requires some that exclude each other.

    Why it matters: every run uses up its iterations, and then waits for a person or fails.
    Instead: set `threshold`, `exit_conditions` or both, so that all can hold together.
    """
    for loop in task.loops:
        odd = excluding(task, loop)
        if odd is not None:
            number, condition = odd
            message = "this condition excludes the threshold or another condition, so nothing ends this loop"
            yield task.warning(condition, f"{loop.field}.exit_conditions[{number}]", message)
        elif loop.name == "confidence_loop" and not loop.conditions and loop.number("threshold") is None:
            message = "nothing ends this loop: it has neither `threshold` nor `exit_conditions`"
            cure = "write the confidence that ends it, such as `threshold: 0.8`"
            yield task.warning(loop.place, loop.field, message, help=cure)
