from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings
from rulewright.documents.base import descend, entries
from rulewright.documents.workflow import REQUIRED, TaskDocument
from rulewright.load import Scalar, scalars_below
from rulewright_runtime.english import either

FIELD: Final = "overlays.policy_gate.evidence"


def evidence_not_read(task: TaskDocument) -> Findings:
    """A policy gate names evidence that its tier does not read, or `implemented` without `requirements` or the same.

    Why it matters: the gate says PASS whatever these files hold, and even if they don't exist. A list of requirements
    is not searched for its own ids.
    Instead: choose a tier that reads them, name the `requirements` to look for and other files, or remove the key.
    """
    if task.on("policy_gate") is None or task.tier not in REQUIRED or task.missing_evidence:
        return  # `gate-without-evidence` reports the key in whose place another one is written
    written = entries(descend(task.node, *FIELD.split(".")))
    unread = [each.key for each in written if each.name not in task.evidence_read]
    of_tier = [each for each in unread if each.value != "implemented"]
    for keys, why in (
        (of_tier, f"at tier {task.tier}"),
        ([each for each in unread if each not in of_tier], "without `requirements`"),
    ):
        if keys:
            notes = [(each, "not read either") for each in keys[1:]]
            named = either([f"`{each.value}`" for each in keys])
            yield task.warning(keys[0], FIELD, f"the gate does not read {named} {why}", notes=notes)
    lists = {each.text: each for each in _paths(task, "requirements")}
    for each in _paths(task, "implemented"):
        if each.text in lists:
            message = f"`{each.text}` lists the requirements and is not searched for them"
            yield task.warning(each, FIELD, message, notes=[(lists[each.text], "listed here")])


def _paths(task: TaskDocument, kind: str) -> Iterable[Scalar]:
    return scalars_below(descend(task.node, *FIELD.split("."), kind))
