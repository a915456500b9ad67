"""What a project file says about running workflows, handed to the runtime as plain data."""

from __future__ import annotations

from pathlib import Path

import pytest

from rulewright.errors import UsageError
from rulewright.workflows.load import Workflow, load_workflow
from rulewright.workflows.settings import settings_of, state_of
from rulewright_runtime.workflow.settings import AdapterSettings, Notice, Settings

FLOW = "version: '1'\nname: flow\ntasks: {build: {agent: dev}}\n"
PROJECT = """
project: p
workflow:
  file: flow.yaml
  folder: work
  state: state/runs.db
  overlays:
    hil:
      queue_path: queue
      poll_interval_seconds: 0.5
      notify:
        on_created: [{type: webhook, url: "https://${HOST:-localhost}/new"}]
        on_t2_gate: [{type: command, command: [notify, t2]}]
  adapters:
    dev: {type: command, command: [agent, --fast], environment: [TOKEN], timeout_seconds: 9, max_retries: 1}
    reviewer: {type: python, callable: "agents:review"}
    default: {type: mock, script: script.json}
"""


def workflow(folder: Path, project: str | None = PROJECT) -> Workflow:
    (folder / "flow.yaml").write_text(FLOW, encoding="utf-8")
    if project is not None:
        (folder / "rulewright.yaml").write_text(project, encoding="utf-8")
    return load_workflow(folder / "flow.yaml")


def test_every_setting_is_handed_over(tmp_path: Path) -> None:
    loaded = workflow(tmp_path)
    assert settings_of(loaded, {"HOST": "hooks.example"}) == Settings(
        adapters={
            "dev": AdapterSettings(
                "command", command=("agent", "--fast"), environment=("TOKEN",), timeout_seconds=9, max_retries=1
            ),
            "reviewer": AdapterSettings("python", callable="agents:review"),
            "default": AdapterSettings("mock", script=str(tmp_path / "script.json")),
        },
        folder=str(tmp_path / "work"),
        queue_path=str(tmp_path / "queue"),
        poll_interval_seconds=0.5,
        on_created=(Notice("webhook", url="https://hooks.example/new"),),
        on_t2_gate=(Notice("command", command=("notify", "t2")),),
    )
    assert state_of(loaded) == tmp_path / "state" / "runs.db"


def test_addresses_have_defaults(tmp_path: Path) -> None:
    assert settings_of(workflow(tmp_path), {}).on_created[0].url == "https://localhost/new"


def test_an_address_that_needs_an_unset_variable_is_refused(tmp_path: Path) -> None:
    loaded = workflow(tmp_path, PROJECT.replace(":-localhost", ""))
    with pytest.raises(UsageError, match="`HOST`, which is not set"):
        settings_of(loaded, {})


def test_a_lone_workflow_has_no_adapters(tmp_path: Path) -> None:
    loaded = workflow(tmp_path, None)
    assert settings_of(loaded).adapters == {}
    assert state_of(loaded) == tmp_path / ".rulewright" / "workflow.db"


def test_a_setting_that_can_not_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be used"):
        settings_of(workflow(tmp_path, PROJECT.replace("timeout_seconds: 9", "timeout_seconds: 0")), {})
