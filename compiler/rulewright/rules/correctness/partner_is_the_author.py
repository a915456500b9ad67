from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def partner_is_the_author(task: TaskDocument) -> Findings:
    """The challenger of a pair is also its driver, or the reviewer is also the coder.

    Why it matters: an agent would approve its own work.
    Instead: name another agent.
    """
    for name, partner, author, role in (
        ("paired_workflow", "challenger_agent", "driver_agent", (task.challenger, task.driver)),
        ("agentic_review", "reviewer_agent", "coder_agent", (task.reviewer, task.coder)),
    ):
        judge, writer = role
        if task.on(name) and judge is not None and writer is not None and judge.value == writer.value:
            if task.agent is None or writer.value == task.agent.value:
                notes, place, key = [(writer, f"`{writer.value}` writes what is judged")], judge, partner
            else:  # so it is unusual that it writes
                notes, place, key = [(judge, f"`{judge.value}` judges it")], writer, author
            message = f"{partner} must differ from {author}"
            yield task.error(place, f"overlays.{name}.{key}", message, notes=notes)
