from rulewright.diagnostics import Findings
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow
from rulewright_runtime.english import ticked


def unknown_agent(workflow: Workflow) -> Findings:
    """A task names an agent that neither the project nor the workflow describes and that is not built in.

    Why it matters: nobody would do the work, or judge it.
    Instead: name ba, architect, pe, le, dev, reviewer, or an agent that the project or the workflow describes.
    """
    for task in workflow.document.tasks:
        for named in task.agents:
            name = named.agent.text
            if name not in workflow.agents:
                known = f"the agents are {ticked(workflow.agents.names)}"
                declare = f"declare another one in the workflow: `agents: {{{name}: {{role: {{description: ...}}}}}}`"
                hint = did_you_mean(name, workflow.agents.names) or f"{known}; {declare}"
                yield task.error(named.agent, named.field, f"agent '{name}' not found", help=hint)
