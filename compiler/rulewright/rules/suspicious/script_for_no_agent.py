from collections.abc import Collection, Iterator
from typing import Final, TypeAlias, get_args

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Guess, warning
from rulewright.documents.base import descend, entries, scalar, value
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Entry, Loaded, Mapping, Sequence
from rulewright.spelling import suggest
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.adapters.agent_adapter import Purpose
from rulewright_runtime.workflow.run_settings import DEFAULT

PURPOSES: Final[tuple[str, ...]] = get_args(Purpose)
Names: TypeAlias = tuple[Collection[str], Collection[str]]  # the tasks and the agents of a workflow


def script_for_no_agent(workflow: Workflow) -> Findings:
    """The script of a mock adapter names an unknown agent, task or purpose, or has no reply for a called agent.

    Why it matters: replies under an unknown name, or for what the task never asks of the agent, are never used, and the
    run fails at the first call without a reply.
    Instead: write the replies under `agent`, `task/agent` or `task/agent/purpose`, with the names of the workflow.
    """
    own: Names = [task.id for task in workflow.document.tasks], workflow.agents.names
    scripts = {id(each): each for each in workflow.scripts.values()}
    # That an agent which a task asks is unknown is reported at the task.
    asked = {agent for task in workflow.document.tasks for agent, _ in calls_of(task)} - {*workflow.agents.names}
    for script in scripts.values():
        if not isinstance(script.root, Mapping):
            continue
        if _is_not_a_script(script.root, own):
            name = next(name for name, each in workflow.scripts.items() if each is script)
            place = scalar(workflow.settings, "adapters", name, "script") or script.root
            yield warning(place, "no key of this file names an agent, and its values are not lists of replies")
            continue
        replies = [each for each in script.root.entries if each.name.rpartition("/")[2] not in asked]
        known = own if not any(_unknown(each, own) for each in replies) else workflow.names_of_project()
        unknown = [found for each in replies if (found := _unknown(each, known)) is not None]
        unknown += _of_other_purposes(script.root, workflow)
        meant = {word for each in unknown if isinstance(each.help, Guess) for word in each.help.meant.split("/")}
        unanswered = {
            name: found for name, found in _unanswered(workflow, script, {*script.root.keys}) if name not in meant
        }
        if len(unknown) == len(unanswered) == 1 and unknown[0].help is None:  # they are one mistake
            unknown, unanswered = [replace(unknown[0], help=Guess(*unanswered))], {}
        yield from (*unknown, *unanswered.values())


def _is_not_a_script(root: Mapping, own: Names) -> bool:
    """Whether a file has neither an agent of the workflow nor lists of replies, as another document."""
    are_lists = all(isinstance(entry.value, Sequence) for entry in root.entries)
    return not are_lists and all(_unknown(entry, own) is not None for entry in root.entries)


def _unknown(entry: Entry, names: Names) -> Diagnostic | None:
    """The finding for replies under an unknown name, or None."""
    tasks, agents = names
    *task, agent = entry.name.split("/")[:2]
    purpose = entry.name.split("/")[2:]
    if task and task[0] not in tasks and task[0] in agents and agent in PURPOSES:
        message = f"`{entry.name}` names no task: these replies are never used"
        return warning(entry.key, message, help=f"write `TASK/{entry.name}`, with the id of the task")
    for word, known, kind in (
        *((each, tasks, "task") for each in task),
        (agent, agents, "agent"),
        *((each, PURPOSES, "purpose") for each in purpose),
    ):
        if word not in known:
            near = suggest(word, known)
            help = Guess(entry.name.replace(word, near)) if near else None
            return warning(entry.key, f"unknown {kind} `{word}`: these replies are never used", help=help)
    return None


def _of_other_purposes(root: Mapping, workflow: Workflow) -> Findings:
    """Findings for replies for which a task never asks the agent; tasks of other workflows may have the same id, and an
    overlay that is switched off keeps its replies."""
    elsewhere = {entry.name for each in workflow.others() for entry in entries(each.root, "tasks")}
    tasks = [each for each in workflow.document.tasks if each.id not in elsewhere and not _is_partly_off(each)]
    calls = {task.id: _calls(task) for task in tasks}
    for entry in root.entries:
        match entry.name.split("/"):
            case [task, agent, purpose] if task in calls and agent in workflow.agents.names and purpose in PURPOSES:
                asked = sorted(each for name, each in calls[task] if name == agent)
                if purpose not in asked:
                    help = Guess(f"{task}/{agent}/{asked[0]}") if len(asked) == 1 else None
                    message = f"`{task}` never asks `{agent}` for `{purpose}`: these replies are never used"
                    yield warning(entry.key, message, help=help)


def _is_partly_off(task: TaskDocument) -> bool:
    return any(value(overlay.find("enabled")) is False for name, overlay in task.overlays.items() if name != "hil")


def _calls(task: TaskDocument) -> set[tuple[str, str]]:
    """The agents that a task may call, each with the purposes. The two of a pair may change roles."""
    judges = {(each.evaluator.text, "judge") for each in task.metrics if each.evaluator is not None}
    asked = {*calls_of(task), *judges, *({(task.agent.text, "work")} if task.agent is not None else ())}
    pair = {agent for agent, purpose in asked if task.on("paired_workflow") and purpose in ("work", "challenge")}
    return asked | {(agent, purpose) for agent in pair for purpose in ("work", "challenge")}


def _unanswered(workflow: Workflow, script: Loaded, keys: set[str]) -> Iterator[tuple[str, Diagnostic]]:
    """Findings for the agents that are called for work, a challenge or a review without a reply in the script."""
    names = [name for name, each in workflow.scripts.items() if each is script]
    adapters = descend(workflow.settings, "adapters")
    others = set(adapters.keys) if isinstance(adapters, Mapping) else set()
    place = scalar(adapters, names[0], "script")
    for task in workflow.document.tasks:
        for agent, purpose in calls_of(task):
            is_answered = agent in names or (DEFAULT in names and agent not in others)
            own = {f"{task.id}/{agent}/{purpose}", f"{task.id}/{agent}", agent}
            if is_answered and agent in workflow.agents and not own & keys:
                found = f"the script has no reply for `{agent}`, which task `{task.id}` calls"
                yield agent, warning(place or task.key, found)


def calls_of(task: TaskDocument) -> Iterator[tuple[str, str]]:
    """The agents that a run of the task calls, each with the purpose; a judge may also be a model."""
    paired, reviewed = task.on("paired_workflow"), task.on("agentic_review")
    author = task.driver if paired else task.coder if reviewed else task.agent
    partners = ((task.challenger, "challenge") if paired else None, (task.reviewer, "review") if reviewed else None)
    for agent, purpose in ((author, "work"), *(each for each in partners if each is not None)):
        if agent is not None:
            yield agent.text, purpose
