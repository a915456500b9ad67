from typing import Final

from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.base import entries, items, scalar, value
from rulewright.workflow import Workflow

NEEDED: Final = {"command": "command", "python": "callable", "mock": "script"}  # what an adapter of a type runs
TYPES: Final = {"command": "command", "environment": "command", "folder": "command", "callable": "python",
                "script": "mock"}  # fmt: skip


def adapter_of_another_type(workflow: Workflow) -> Findings:
    """An adapter lacks the key that its `type` needs, or has one of another type.

    Why it matters: the agent can't be started, or is not what the key says.
    Instead: correct the type or the key.
    """
    for adapter in (entry.value for entry in entries(workflow.settings, "adapters")):
        kind = scalar(adapter, "type")
        if kind is None or kind.value not in TYPES.values():
            continue
        needed = NEEDED.get(kind.text)
        if needed is not None and value(adapter, needed) is None and not items(adapter, needed):
            yield error(kind, f"an adapter of the type `{kind.value}` needs the key `{needed}`")
            continue
        for entry in entries(adapter):
            if TYPES.get(entry.name, kind.value) != kind.value:
                help = f"it belongs to the type `{TYPES[entry.name]}`"
                yield warning(
                    entry.key, f"an adapter of the type `{kind.value}` does not read `{entry.name}`", help=help
                )
