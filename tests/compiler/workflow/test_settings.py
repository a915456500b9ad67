"""What a project file says about running workflows, handed to the runtime as plain data."""

from __future__ import annotations

from pathlib import Path

import pytest

from rulewright.commands.workflow_settings import settings_of, state_of
from rulewright.errors import UsageError
from rulewright.workflow import Workflow, load_workflow
from rulewright_runtime.workflow.run_settings import AdapterSettings, Constitution, Notice, RunSettings, Security

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


@pytest.fixture(autouse=True)
def _without_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOST", raising=False)


def test_every_setting_is_handed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "hooks.example")
    loaded = workflow(tmp_path)
    assert settings_of(loaded) == RunSettings(
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
    assert settings_of(workflow(tmp_path)).on_created[0].url == "https://localhost/new"


def test_an_address_that_needs_an_unset_variable_is_refused(tmp_path: Path) -> None:
    loaded = workflow(tmp_path, PROJECT.replace(":-localhost", ""))
    with pytest.raises(UsageError, match="`HOST`, which is not set"):
        settings_of(loaded)


def test_signers_are_handed_over_and_never_nobody(tmp_path: Path) -> None:
    signed = PROJECT.replace("      queue_path: queue\n", "      signers: {Ana (QA): ssh-ed25519 AAAA}\n")
    assert settings_of(workflow(tmp_path, signed)).signers == {"Ana (QA)": "ssh-ed25519 AAAA"}
    with pytest.raises(UsageError, match=r"`hil\.signers` is empty"):
        settings_of(workflow(tmp_path, signed.replace("{Ana (QA): ssh-ed25519 AAAA}", "{}")))


def test_constitution_and_security_are_handed_over(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Be kind.", encoding="utf-8")
    security = "{secret_patterns: ['x+'], injection_detection_level: quarantine}"
    more = f"  constitution: {{file: rules.md}}\n  security: {security}\n"
    found = settings_of(workflow(tmp_path, PROJECT + more))
    assert found.constitution == Constitution("rules.md", "Be kind.")
    assert found.security == Security(("x+",), "quarantine")
    with pytest.raises(UsageError, match=r"can't read the constitution `gone\.md`: no such file"):
        settings_of(workflow(tmp_path, PROJECT + more.replace("rules.md", "gone.md")))
    with pytest.raises(UsageError, match=r"regular expression `\(` is refused"):
        settings_of(workflow(tmp_path, PROJECT + more.replace("x+", "(")))


def test_a_lone_workflow_has_no_adapters(tmp_path: Path) -> None:
    loaded = workflow(tmp_path, None)
    assert settings_of(loaded).adapters == {}
    assert state_of(loaded) == tmp_path / ".rulewright" / "workflow.db"


def test_a_setting_that_can_not_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"invalid `workflow` in the project file: .*timeout_seconds"):
        settings_of(workflow(tmp_path, PROJECT.replace("timeout_seconds: 9", "timeout_seconds: 0")))
