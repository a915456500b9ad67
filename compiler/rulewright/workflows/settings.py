"""What a project file says about running workflows here: adapters, notifications, folders, as plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright.documents.base import descend, number
from rulewright.documents.project_file import expand
from rulewright.errors import UsageError
from rulewright.load.nodes import plain
from rulewright_runtime.workflow.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from rulewright.load import Node
    from rulewright.workflows.load import Workflow

STATE: Final = ".rulewright/workflow.db"


def settings_of(workflow: Workflow, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of the project around the workflow; a lone file has none, and so no agent can be reached.

    `${NAME}` and `${NAME:-default}` in addresses are replaced. Raises UsageError for what can't be used.
    """
    known = os.environ if environment is None else environment
    node = workflow.settings
    hil = plain(descend(node, "overlays", "hil")) if descend(node, "overlays", "hil") is not None else {}
    hil = hil if isinstance(hil, dict) else {}
    notify = hil.get("notify") or {}
    found: dict[str, Any] = {
        "adapters": _adapters(descend(node, "adapters"), workflow.root),
        "folder": str(workflow.place("folder", ".")),
        "on_created": _notices(notify.get("on_created"), known),
        "on_t2_gate": _notices(notify.get("on_t2_gate"), known),
    }
    if hil.get("queue_path"):
        found["queue_path"] = str(workflow.root / hil["queue_path"])
    if hil.get("poll_interval_seconds") is not None:
        found["poll_interval_seconds"] = hil["poll_interval_seconds"]
    try:
        return msgspec.convert(found, Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"the project file's `workflow` can't be used: {error}") from None


def state_of(workflow: Workflow) -> Path:
    """Where the database of runs lies."""
    return workflow.place("state", STATE)


def _adapters(node: Node | None, root: Path) -> dict[str, Any]:
    adapters: dict[str, Any] = {}
    found: dict[str, Any] = {} if node is None else plain(node)
    for name, each in found.items():
        adapters[name] = dict(each)
        if "max_retries" in each:
            adapters[name]["max_retries"] = number(node, name, "max_retries")  # 3.0 is a whole number, too
        if isinstance(each.get("script"), str):
            adapters[name]["script"] = str((root / each["script"]).resolve())
    return adapters


def _notices(found: Any, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    notices = [dict(each) for each in found or ()]
    for notice in notices:
        if "url" in notice:
            notice["url"], missing = expand(notice["url"], environment)
            if missing:
                raise UsageError(f"a webhook needs the variable `{missing[0]}`, which is not set")
    return notices
