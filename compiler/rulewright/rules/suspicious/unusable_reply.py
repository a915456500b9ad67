from collections.abc import Iterable, Iterator
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import entries, scalar
from rulewright.load import Mapping, Node, Scalar, Sequence
from rulewright.load.nodes import Plain
from rulewright.rules.suspicious.misspelt_path import output_meant, paths_of
from rulewright.rules.suspicious.script_for_no_agent import calls_of
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.workflow.adapters.agent_adapter import AgentReply
from rulewright_runtime.workflow.adapters.in_process import SCRIPT_KEYS
from rulewright_runtime.workflow.task_context import AgentUsage
from rulewright_runtime.workflow.task_scoring import parse_score

KEYS: Final = SCRIPT_KEYS | {*AgentReply.__struct_fields__, "score"}
USAGE: Final = frozenset(AgentUsage.__struct_fields__)
DECISIONS: Final = ("GO", "NO_GO")


def unusable_reply(workflow: Workflow) -> Findings:
    """A scripted agent has no reply, or one with a misspelt key, a value that fails the call, or a misspelt file.

    Why it matters: an unknown key is ignored, such a value fails the call, and a misspelt file is not found.
    Instead: correct the spelling. `decision` is `GO` or `NO_GO`, `approved` is true or false, and `score` is a number
    from 0 to 1; the replies of an agent are a list.
    """
    named = {each.text for each in paths_of(workflow)}
    scripts = {id(each): each.root for each in workflow.scripts.values()}
    given = [reply for root in scripts.values() for reply in _replies(root)]
    replies = [reply for reply in given if isinstance(reply, Mapping)]
    files = [entry for reply in replies for entry in entries(reply, "files")]
    missing = named - {entry.name for entry in files}
    known = {*workflow.agents.names, *(task.id for task in workflow.document.tasks)}
    for root in scripts.values():
        is_script = any(not known.isdisjoint(entry.name.split("/")) for entry in entries(root))
        for entry in entries(root) if is_script else ():
            if not isinstance(entry.value, Sequence):
                yield warning(
                    entry.key, f"the replies of `{entry.name}` must be a list", help="write the reply in `[...]`"
                )
            elif not entry.value.items:
                yield warning(entry.key, f"`{entry.name}` has no reply: its first call fails", help="write a reply")
    for reply in replies:
        yield from _of_keys(reply)
    judging = [reply for root in scripts.values() for reply in _replies(root, _only_judges(workflow))]
    for whole in (reply if isinstance(reply, Scalar) else scalar(reply, "text") for reply in judging):
        yield from _of_score(whole) if whole is not None else ()
    for entry in files:
        near = None if entry.name in named else output_meant(entry.name, missing)
        if near is not None:
            yield warning(entry.key, f"no task names `{entry.name}`, and no reply writes `{near}`", help=Guess(near))


def _of_keys(reply: Mapping) -> Findings:
    usage = reply.get("usage")
    for node, known in ((reply, KEYS), (usage, USAGE)):
        for entry in entries(node):
            near = (
                None if entry.name in known else did_you_mean(entry.name, known - {each.name for each in entries(node)})
            )
            if near is not None:
                yield warning(entry.key, f"unknown key `{entry.name}` in a reply", help=near)
    decision = scalar(reply, "decision")
    if decision is not None and decision.value not in DECISIONS:
        help = did_you_mean(decision.text, DECISIONS) or "write `GO` or `NO_GO`"
        yield warning(decision, f"unknown `decision`: `{decision.value}`", help=help)
    approved, score = reply.get("approved"), reply.get("score")
    if isinstance(approved, Scalar) and not isinstance(approved.value, bool | None):
        yield warning(approved, f"`approved` must be true or false, not `{approved.raw}`")
    if isinstance(score, Scalar) and not _is_score(score.value):
        yield warning(score, f"`score` must be a number from 0 to 1, not `{score.raw}`")


def _of_score(whole: Scalar) -> Findings:
    """A finding for the whole reply of a judge whose score can't be read."""
    try:
        if '"score"' in whole.text:
            parse_score(whole.text)
    except JudgeError as unreadable:
        yield warning(whole, f"this reply gives no score: {unreadable}")


def _is_score(value: Plain) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _only_judges(workflow: Workflow) -> frozenset[str]:
    """The agents that only judge: what others reply may contain a score of any kind."""
    tasks = workflow.document.tasks
    judges = {each.evaluator.text for task in tasks for each in task.metrics if each.evaluator is not None}
    return frozenset(judges.difference(agent for task in tasks for agent, _ in calls_of(task)))


def _replies(root: Node | None, agents: Iterable[str] | None = None) -> Iterator[Mapping | Scalar]:
    """Every reply, a mapping or a text, of these or all agents and all attempts."""
    for entry in (each for each in entries(root) if agents is None or not {*each.name.split("/")}.isdisjoint(agents)):
        for call in entry.value if isinstance(entry.value, Sequence) else (entry.value,):
            for reply in call if isinstance(call, Sequence) else (call,):
                if isinstance(reply, Mapping | Scalar):
                    yield reply
