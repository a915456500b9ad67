from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def partner_missing(task: TaskDocument) -> Findings:
    """A pair has no `challenger_agent`, or a review no `reviewer_agent`.

    Why it matters: nobody would judge the work, so the loop could never succeed.
    Instead: name an agent other than the one that writes.
    """
    for name, key, agent in (
        ("paired_workflow", "challenger_agent", task.challenger),
        ("agentic_review", "reviewer_agent", task.reviewer),
    ):
        overlay = task.on(name)
        if overlay is not None and agent is None:
            yield task.error(overlay.place, f"overlays.{name}.{key}", f"{name} requires {key}")
