from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument
from rulewright.proving.workflow_values import implied, undercutting


def exit_below_threshold(task: TaskDocument) -> Findings:
    """An exit condition can end the loop although the threshold is not met, or is weaker than the threshold.

    Why it matters: with `exit_when: any`, each condition alone ends the loop, so the threshold guarantees nothing. With
    `all`, a condition that holds wherever the threshold is met has no effect.
    Instead: write `exit_when: all`, correct the number, or remove the condition or the threshold.
    """
    for loop in task.loops:
        if loop.name == "confidence_loop" and loop.mode == "any":
            for number, condition in undercutting(task, loop):
                message = "this condition alone ends the loop, even below the threshold"
                hint = "`exit_when: all` also requires the threshold"
                yield task.warning(condition, f"{loop.field}.exit_conditions[{number}]", message, help=hint)
        for number, condition in implied(task, loop) if loop.name == "confidence_loop" else ():
            message = "this condition has no effect: it holds wherever the threshold is met and the others hold"
            yield task.warning(condition, f"{loop.field}.exit_conditions[{number}]", message)
