from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def paired_with_review(task: TaskDocument) -> Findings:
    """A task enables both `paired_workflow` and `agentic_review`.

    Why it matters: both decide who writes and who judges, and they contradict each other.
    Instead: enable only one of them.
    """
    pair, review = task.on("paired_workflow"), task.on("agentic_review")
    if pair is not None and review is not None:
        message = "paired_workflow and agentic_review cannot both be enabled on the same task"
        notes = [(review.place, "`agentic_review` is enabled here")]
        yield task.error(pair.place, "overlays", message, notes=notes)
