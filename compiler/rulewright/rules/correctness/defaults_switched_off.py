from rulewright.diagnostics import Findings, error, respell
from rulewright.documents.agents import USUAL
from rulewright.documents.base import entries, scalar
from rulewright.load import Scalar
from rulewright.workflow import Workflow
from rulewright_runtime.english import ticked


def defaults_switched_off(workflow: Workflow) -> Findings:
    """`use_defaults: false` removes built-in agents that tasks name or that other agents extend.

    Why it matters: none of them can be found, so the workflow is refused.
    Instead: write `use_defaults: true`, or describe the agents.
    """
    switch = None if workflow.settings is None else workflow.settings.get("agents")
    written = next((each.value for each in entries(switch) if each.name == "use_defaults"), None)
    if not isinstance(written, Scalar) or written.value is not False:
        return
    used = {named.agent.text for task in workflow.document.tasks for named in task.agents}
    parents = [scalar(each.root, "extends") for each in workflow.loaded]
    used |= {each.text for each in parents if each is not None}
    own = {name.text for each in workflow.loaded if (name := scalar(each.root, "name")) is not None}
    own |= {entry.name for entry in entries(workflow.document.node, "agents")}
    removed = sorted(used & {*USUAL} - own)
    if removed:
        fix = respell(written, "true", safe=False)
        yield error(
            written,
            f"this removes the built-in agents, but {ticked(removed)} {'is' if len(removed) == 1 else 'are'} used",
            fix=fix,
        )
