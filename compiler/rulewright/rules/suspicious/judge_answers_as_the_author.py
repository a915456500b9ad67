from typing import Any, Final

from rulewright.diagnostics import Findings
from rulewright.documents.agents import Registry
from rulewright.documents.base import descend
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Mapping, plain
from rulewright.workflow import Workflow
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.workflow.run_settings import DEFAULT

NAMES: Final = frozenset({"display_name", "name", "version"})  # they don't make an agent a different one
ONE_AGENT: Final = "are one agent under two names"
ONE_NAME: Final = "look like one name"


def judge_answers_as_the_author(workflow: Workflow) -> Findings:
    """A judge, reviewer or challenger is the author under another name, or a judge uses its model or its command.

    Why it matters: a judge that wrote the output tends to favour it, whatever its name.
    Instead: give the judge a model or an adapter of its own, or measure `checklist_completion` or `test_coverage`.
    """
    adapters = descend(workflow.settings, "adapters")
    reached = plain(adapters) if isinstance(adapters, Mapping) else {}
    for task in workflow.document.tasks:
        yield from _partners(task, workflow.agents)
        for metric in task.metrics:
            judge = metric.evaluator
            if metric.type != "llm_judge" or judge is None:
                continue
            for author in task.authors:
                names = judge.text, author.agent.text
                shared = _shared(workflow.agents, reached, *names) if names[0] != names[1] else ""
                if shared:
                    report = task.error if shared in {ONE_AGENT, ONE_NAME} else task.warning
                    message = (
                        f"llm_judge evaluator_agent must differ from task agent: `{names[0]}` and `{names[1]}` {shared}"
                    )
                    yield report(judge, f"{metric.field}.evaluator_agent", message)
                    break


def _partners(task: TaskDocument, agents: Registry) -> Findings:
    for overlay, partner, author, names in (
        ("paired_workflow", "challenger_agent", "driver_agent", (task.challenger, task.driver)),
        ("agentic_review", "reviewer_agent", "coder_agent", (task.reviewer, task.coder)),
    ):
        if task.on(overlay) is None or names[0] is None or names[1] is None or names[0].value == names[1].value:
            continue
        if same := _same_agent(agents, names[0].text, names[1].text):
            message = f"{partner} must differ from {author}: `{names[0].value}` and `{names[1].value}` {same}"
            yield task.error(names[0], f"overlays.{overlay}.{partner}", message)


def _same_agent(agents: Registry, name: str, other: str) -> str:
    """Why two names are of one agent, in words; empty when they are of two."""
    if not agents.agents.keys() >= {name, other}:
        return ""
    if folded_name(name) == folded_name(other):
        return ONE_NAME
    return ONE_AGENT if _identity(agents.agents[name]) == _identity(agents.agents[other]) else ""


def _shared(agents: Registry, reached: dict[str, Any], judge: str, author: str) -> str:
    """What makes two agents the same, in words; empty when they differ."""
    one, other = agents.agents.get(judge), agents.agents.get(author)
    if one is None or other is None:
        return ""
    if same := _same_agent(agents, judge, author):
        return same
    model, other_model = _model(one), _model(other)
    if model or other_model:
        return f"ask the same model, `{model}`" if _bare(model) == _bare(other_model) else ""
    by, also_by = (reached.get(name) or reached.get(DEFAULT) for name in (judge, author))
    is_real = isinstance(by, dict) and by.get("type") != "mock"
    return "are reached in the same way" if is_real and by == also_by else ""


def _identity(agent: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in agent.items() if key not in NAMES}


def _model(agent: dict[str, object]) -> str:
    """The agent's model; empty where it names none."""
    llm = agent.get("llm")
    model = llm.get("model") if isinstance(llm, dict) else None
    return str(model or "")


def _bare(model: str) -> str:
    """The name of a model without the fields of a request and without the provider or router that serves it."""
    return folded_name(model.partition("#")[0]).rpartition("/")[2]
