from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Guess, warning
from rulewright.documents.base import descend
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Mapping
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.run_settings import DEFAULT


def agent_without_adapter(workflow: Workflow) -> Findings:
    """The project file has adapters, but none for an agent of a task, or one for an unknown agent.

    Why it matters: a run stops before its first task when an agent has no adapter; the adapter of an unknown agent is
    never used.
    Instead: name the agent in `workflow.adapters`, correct the name there, or add an adapter called `default`.
    """
    adapters = descend(workflow.settings, "adapters")
    if not isinstance(adapters, Mapping):
        return
    of_tasks = {named.agent.text for task in workflow.document.tasks for named in task.agents}
    known = {*workflow.agents.names, *of_tasks, DEFAULT}  # `unknown-agent` reports those that only tasks name
    unknown = [entry for entry in adapters.entries if entry.name not in known]
    names = (*(workflow.names_of_project()[1] if unknown else ()), DEFAULT)
    found = [
        warning(entry.key, f"unknown agent `{entry.name}`: this adapter is never used", help=help)
        for entry in unknown
        if entry.name not in names
        for help in [did_you_mean(entry.name, names)]
    ]
    meant = {each.help.meant for each in found if isinstance(each.help, Guess)}
    alone: dict[str, Diagnostic] = {}  # one finding for each agent without an adapter
    for task in workflow.document.tasks if DEFAULT not in adapters and DEFAULT not in meant else ():
        for named in task.agents:
            name = named.agent.text
            answers = name in adapters or name in meant or name in alone
            if name in workflow.agents and not answers and not (named.agent is task.agent and _is_replaced(task)):
                alone[name] = task.warning(named.agent, named.field, f"the agent `{name}` has no adapter")
    if len(found) == len(alone) == 1 and found[0].help is None:  # they are one mistake
        found, alone = [replace(found[0], help=Guess(*alone))], {}
    yield from (*found, *alone.values())


def _is_replaced(task: TaskDocument) -> bool:
    """Whether an overlay gives the task's work to another agent than its own."""
    paired, reviewed = task.on("paired_workflow") is not None, task.on("agentic_review") is not None
    return (paired and task.driver is not task.agent) or (reviewed and task.coder is not task.agent)
