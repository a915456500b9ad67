"""The settings of workflow runs in the project file: adapters, notifications and folders."""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from rulewright.diagnostics import Severity
from rulewright.documents.base import descend, number, value
from rulewright.documents.layout import PROJECT_FILE_NAMES
from rulewright.documents.project_file import expand
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Node
from rulewright.load.nodes import plain
from rulewright.workflow import Workflow
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import PlanError
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.deciders import Deciders
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.security import check

STATE: Final = ".rulewright/workflow.db"
LOOKING_ON: Final = RunSettings()  # for commands that only read runs


def settings_of(workflow: Workflow) -> RunSettings:
    """The settings of the workflow's project. A workflow without a project has none, so no agent can be called.

    `${NAME}` and `${NAME:-default}` in addresses are replaced. Raises UsageError for invalid settings, and
    DocumentError for mistakes in the project file, which may hide who may decide.
    """
    node = workflow.settings
    hil = plain(descend(node, "overlays", "hil")) if descend(node, "overlays", "hil") is not None else {}
    hil = hil if isinstance(hil, dict) else {}
    notify = hil.get("notify") or {}
    found: dict[str, object] = {
        "adapters": _adapters(descend(node, "adapters"), workflow.root),
        "folder": str(workflow.place("folder", ".")),
        "on_created": _notices(notify.get("on_created")),
        "on_t2_gate": _notices(notify.get("on_t2_gate")),
    }
    if hil.get("queue_path"):
        found["queue_path"] = str(workflow.root / hil["queue_path"])
    if (security := descend(node, "security")) is not None:
        found["security"] = plain(security)
    if (file := value(node, "constitution", "file")) is not None:
        found["constitution"] = _constitution(str(file), workflow.root)
    if "signers" in hil:
        if not hil["signers"]:
            raise UsageError("`hil.signers` is empty: name a person and a public key, or remove it")
        found["signers"] = hil["signers"]
    if hil.get("poll_interval_seconds") is not None:
        found["poll_interval_seconds"] = hil["poll_interval_seconds"]
    try:
        settings = msgspec.convert(found, RunSettings)
        check(settings.security)
    except (msgspec.ValidationError, PlanError) as error:
        raise UsageError(f"invalid `workflow` in the project file: {error}") from None
    own = [each for each in workflow.diagnostics if Path(each.span.path).name in PROJECT_FILE_NAMES]
    if mistakes := [each for each in own if each.severity is Severity.ERROR]:
        raise DocumentError(mistakes)
    return settings


def state_of(workflow: Workflow) -> Path:
    """The path of the database of runs."""
    return workflow.place("state", STATE)


def _constitution(file: str, root: Path) -> dict[str, str]:
    try:
        return {"path": file, "text": (root / file).read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read the constitution `{file}`: {reason_of(error)}") from None


def open_store(workflow: Workflow, settings: RunSettings = LOOKING_ON, *, create: bool = False) -> Store:
    """Open the database of the workflow's runs, with the rules of who may decide. Raises UsageError if there
    is none and `create` is not set, StoreError if it can't be opened."""
    path = state_of(workflow)
    if not create and not path.is_file():
        raise UsageError(f"`{path}` does not exist: no runs yet; `rulewright workflow run` starts one")
    agents = {name for name, agent in workflow.agents.agents.items() for name in (name, str(agent.get("display_name")))}
    return Store(path, queue_path=settings.queue_path, deciders=Deciders(frozenset(agents), settings.signers))


def _adapters(node: Node | None, root: Path) -> dict[str, object]:
    adapters: JsonObject = {}
    found: JsonObject = {} if node is None else plain(node)
    for name, each in found.items():
        adapters[name] = dict(each)
        if "max_retries" in each:
            adapters[name]["max_retries"] = number(node, name, "max_retries")  # 3.0 counts as an integer
        if isinstance(each.get("script"), str):
            adapters[name]["script"] = str((root / each["script"]).resolve())
    return adapters


def _notices(found: Any) -> list[dict[str, object]]:
    notices = [dict(each) for each in found or ()]
    for notice in notices:
        if "url" in notice:
            notice["url"], missing = expand(notice["url"], os.environ)
            if missing:
                raise UsageError(f"a webhook needs the variable `{missing[0]}`, which is not set")
    return notices
