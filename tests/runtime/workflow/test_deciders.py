"""People decide: no agent does, neither under its name nor from a process of a run, and a key makes sure of it."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from msgspec.structs import replace
from tests.runtime.workflow.running import Bench, bench

from rulewright.cli import main
from rulewright_runtime import workflow
from rulewright_runtime.processes.ancestry import Host, Origin, Process, ancestry, here, machine
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.deciders import (
    Deciders,
    RunProcess,
    SignedDecision,
    SigningKey,
    check_name,
    check_origin,
    digest_of,
    names_of_agents,
)
from rulewright_runtime.workflow.engine import EngineError
from rulewright_runtime.workflow.hil import QueueError
from rulewright_runtime.workflow.run_database import Store

FLOW = "tasks: {build: {agent: dev, requires_human: true}}"
ITEM = "run-1-build-1"
NOW = "2026-01-01T00:00:00.000Z"


def waiting(folder: Path, text: str = FLOW) -> Bench:
    run = bench(folder, text)
    assert run.run().status == "WAITING"
    return run


AGENT = ["dev", "DEV", " dev ", "d\u200bev", "ｄｅｖ", "Developer", "developer", "de\u0301v"]
INVISIBLE = ["", " ", "\u200b", "\u3164", "\u2800\u00ad"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, "is the name of an agent") for name in AGENT),
        *((name, "needs the name of the person") for name in INVISIBLE),
    ],
)
def test_nobody_signs_under_an_agents_name_however_it_is_written_nor_under_an_invisible_one(
    tmp_path: Path, name: str, why: str
) -> None:
    run = waiting(tmp_path)
    with pytest.raises(QueueError, match=why):
        run.store.decide(ITEM, "resolve", by=name, notes="fine", now=NOW)
    assert run.store.item(ITEM).status == "PENDING"


def test_everybody_whom_a_workflow_names_is_an_agent(tmp_path: Path) -> None:
    text = """
    agents: {judge: {extends: reviewer, display_name: The Judge}}
    tasks:
      build:
        agent: dev
        requires_human: true
        overlays:
          paired_workflow: {enabled: true, driver_agent: le, challenger_agent: pe, max_iterations: 2}
          policy_gate: {enabled: true}
          confidence_loop:
            {enabled: true, threshold: 0.5, max_iterations: 2, metrics: [{type: llm_judge, evaluator_agent: judge}]}
    """
    names = names_of_agents(bench(tmp_path, text).plan)
    assert {"dev", "le", "pe", "judge", "The Judge", "Developer"} <= names
    assert "ana" not in names


def test_agents_of_the_project_that_the_workflow_does_not_name_do_not_sign_either() -> None:
    with pytest.raises(QueueError, match="`QA-Bot` is the name of an agent"):
        check_name("QA-Bot", Deciders(frozenset({"qa-bot"})).agents)
    check_name("Ana (QA)", {"qa", "ana-bot", "dev"})


def test_a_decision_records_user_host_terminal_and_ancestry(tmp_path: Path) -> None:
    run = waiting(tmp_path)
    run.store.decide(ITEM, "resolve", by="ana", notes="fine", now=NOW)
    ((decision, origin),) = run.store.decisions(ITEM)
    assert (decision.move, decision.by, decision.notes, decision.at) == ("resolve", "ana", "fine", NOW)
    assert origin.processes[0].pid == os.getpid()
    assert origin.processes[1].pid == os.getppid()
    assert origin.user
    assert origin.host
    assert origin.machine == machine()
    assert "system user" in origin.describe()
    exported = run.store.export("run-1")["decisions"]
    assert [(each["by"], each["via"], each["item"]) for each in exported] == [("ana", "program", ITEM)]


def test_decisions_on_record_are_only_ever_added_to(tmp_path: Path) -> None:
    run = waiting(tmp_path)
    run.decide("resolve")
    with sqlite3.connect(run.store.path) as other:
        for change in ("update decisions set body = ''", "delete from decisions", "delete from processes"):
            with pytest.raises(sqlite3.IntegrityError, match="only ever added to"):
                other.execute(change)
    other.close()


def test_what_was_written_into_the_queue_past_us_decides_nothing(tmp_path: Path) -> None:
    run = waiting(tmp_path)
    body = json.loads(json.dumps(run.store.item(ITEM), default=lambda item: item.__struct_fields__ and _plain(item)))
    forged = {**body, "status": "RESOLVED", "resolved_by": "Ana (QA)", "resolved_at": NOW}
    with sqlite3.connect(run.store.path) as other:
        other.execute("update hil_items set status = 'RESOLVED', body = ?", (json.dumps(forged),))
    other.close()
    with pytest.raises(EngineError, match="no such decision is on record"):
        run.run(resume=True)
    assert run.status() == "HIL_PENDING"


@pytest.mark.parametrize(
    "change",
    [
        {"status": "RESOLVED"},
        {"resolved_by": "Bea"},
        {"resolution_notes": "fine"},
        {"resolved_at": "2026-01-02T00:00:00.000Z"},
        {"reason": "another question"},
    ],
)
def test_a_decision_that_was_changed_in_the_queue_is_not_the_one_on_record(
    change: dict[str, str], tmp_path: Path
) -> None:
    run = waiting(tmp_path)
    run.decide("reject", "no")
    body = {**_plain(run.store.item(ITEM)), **change}
    with sqlite3.connect(run.store.path) as other:
        other.execute("update hil_items set status = ?, body = ?", (body["status"], json.dumps(body)))
    other.close()
    with pytest.raises(EngineError, match=r"`run-1-build-1` is \w+, but no such decision is on record"):
        run.run(resume=True)


def _plain(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__}


HERE = Host("boot", "pid:[1]")


def known(role: Any, pid: int, started: str = "7", namespace: str = "pid:[1]", boot: str = "boot") -> RunProcess:
    return RunProcess(role, boot, namespace, Process(pid, started, "x"))


def origin(*pids: int, place: Host = HERE) -> Origin:
    return Origin("command", "ana", "host", "", place, tuple(Process(pid, "7", "x") for pid in pids))


@pytest.mark.parametrize(
    ("who", "rows", "at_work", "why"),
    [
        (origin(9, 5, 1), [known("command", 5)], False, "process 5 was started by a run"),
        (origin(5, 1), [known("command", 5)], True, "process 5 was started by a run"),
        (origin(9, 5, 1), [known("run", 5)], True, "started by the active run"),
        (origin(9, 1, place=Host("boot", "pid:[2]")), [known("run", 5)], True, "another PID namespace"),
    ],
)
def test_what_a_run_started_does_not_decide(who: Origin, rows: list[RunProcess], at_work: bool, why: str) -> None:
    with pytest.raises(QueueError, match=why):
        check_origin(who, rows, run_active=at_work)


@pytest.mark.parametrize(
    ("who", "rows", "at_work"),
    [
        (origin(9, 8, 1), [known("run", 7), known("command", 6)], True),  # side by side with the run
        (origin(9, 5, 1), [known("run", 5)], False),  # a script that was a run and now asks another program
        (origin(5, 1), [known("run", 5)], True),  # the program that runs and decides
        (origin(9, 5, 1), [known("command", 5, started="6")], False),  # the id is used again
        (origin(9, 5, 1), [known("command", 5, boot="before")], False),
        (origin(9, 5, 1), [known("command", 5, namespace="pid:[3]")], False),
        (origin(9, 1, place=Host("boot", "pid:[2]")), [known("run", 5)], False),  # in a container, after the run
        (origin(), [known("run", 5), known("command", 6)], True),  # a system that does not tell
    ],
)
def test_people_decide_from_wherever_else(who: Origin, rows: list[RunProcess], at_work: bool) -> None:
    check_origin(who, rows, run_active=at_work)


def test_a_table_of_ps_gives_the_same_ancestors(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ancestry()
    monkeypatch.setattr("rulewright_runtime.processes.ancestry._PROC", Path("/no/such/folder"))
    listed = ancestry()
    assert [process.pid for process in listed] == [process.pid for process in usual]
    assert all(process.started for process in listed)
    assert here("program").machine.boot


PROJECT = """
project: p
workflow:
  file: flow.yaml
  engine: {max_retries: 0, max_concurrent_tasks: 2}
  adapters:
    default: {type: command, command: [PYTHON, agent.py], environment: [RULEWRIGHT_ATTACK]}
"""
TWO = """
version: "1"
tasks:
  ask: {agent: dev, requires_human: true}
  build: {agent: dev}
"""
# Resolves, as soon as there is something to resolve, in a name that is not an agent's.
RESOLVE = """
import subprocess, sys, time
for _ in range(200):
    decide = ["hil", "resolve", "run-1-ask-1", "--by", "Ana (QA)", "--why", "tried"]
    done = subprocess.run([sys.executable, "-m", "rulewright", *decide], capture_output=True, text=True)
    with open("said.txt", "a") as said:
        said.write(f"{done.returncode} {done.stderr}")
    if done.returncode == 0 or "person" in done.stderr or "traced" in done.stderr:
        break
    time.sleep(0.05)
"""
AGENTS = {
    "the agent itself": "import runpy\nrunpy.run_path('resolve.py')\n",
    "a child that outlives it": (
        "import os, sys\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time\n        time.sleep(0.3)\n"
        "        os.execve(sys.executable, [sys.executable, 'resolve.py'], {'PATH': os.environ['PATH']})\n"
        "    os._exit(0)\n"
    ),
}


def project(folder: Path, agent: str) -> None:
    (folder / "rulewright.yaml").write_text(PROJECT.replace("PYTHON", sys.executable), encoding="utf-8")
    (folder / "flow.yaml").write_text(TWO, encoding="utf-8")
    (folder / "resolve.py").write_text(RESOLVE, encoding="utf-8")
    (folder / "agent.py").write_text(agent, encoding="utf-8")


@pytest.mark.parametrize("agent", AGENTS)
def test_no_child_of_a_run_signs_as_somebody(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, AGENTS[agent])
    monkeypatch.chdir(tmp_path)
    assert main(["workflow", "run"]) == 2
    with Store(tmp_path / ".rulewright" / "workflow.db") as store:
        assert store.item("run-1-ask-1").status == "PENDING"
        assert store.decisions("run-1-ask-1") == []
    if agent == "the agent itself":
        said = (tmp_path / "said.txt").read_text(encoding="utf-8")
        assert "was started by a run" in said or "another PID namespace" in said


def test_a_script_that_runs_and_decides_is_not_a_child(tmp_path: Path) -> None:
    project(tmp_path, "print('done')\n")
    rulewright = f"{sys.executable} -m rulewright"
    script = (
        f"{rulewright} workflow run\n{rulewright} hil resolve run-1-ask-1 --by 'Ana (QA)' --why tried || exit 9\n"
        f"{rulewright} workflow run --resume"
    )
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "run-1 is COMPLETED" in done.stdout) == (0, True), done.stdout + done.stderr


def write_key(path: Path, protection: KeySerializationEncryption | None = None) -> str:
    """A new private key at `path`; the value is its public key as `hil.signers` holds it."""
    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, protection or NoEncryption()))
    return SigningKey(path, lambda: "pass").public


def signed(store: Store, key: Path, changed: Mapping[str, Any] | None = None, item: str = ITEM) -> Mapping[str, Any]:
    decision = SignedDecision(item, digest_of(store.item(item)), "resolve", "ana", "fine", NOW)
    signature = SigningKey(key, lambda: "pass").sign(replace(decision, **(changed or {}))).signature
    return {"by": "ana", "notes": "fine", "now": NOW, "signature": signature}


@pytest.fixture
def keyed(tmp_path: Path) -> Bench:
    run = waiting(tmp_path)
    public = write_key(tmp_path / "ana")
    run.store.deciders = Deciders(signers={"ana": f"{public} ana@example", "ben": write_key(tmp_path / "ben")})
    return run


def test_a_signed_decision_counts(keyed: Bench) -> None:
    keyed.store.decide(ITEM, "resolve", **signed(keyed.store, keyed.folder / "ana"))
    assert keyed.run(resume=True).status == "COMPLETED"
    assert keyed.store.export("run-1")["decisions"][0]["signature"]


def test_to_look_at_an_item_needs_no_signature(keyed: Bench) -> None:
    assert keyed.store.decide(ITEM, "ack", by="ana", now=NOW).status == "ACKED"
    keyed.store.decide(ITEM, "resolve", **signed(keyed.store, keyed.folder / "ana"))
    assert keyed.run(resume=True).status == "COMPLETED"


@pytest.mark.parametrize(
    ("key", "changed", "why"),
    [
        ("ben", {}, "not that of `ana`'s key"),
        ("ana", {"move": "reject"}, "not that of `ana`'s key"),
        ("ana", {"item": "run-1-build-2"}, "not that of `ana`'s key"),
        ("ana", {"digest": "0" * 64}, "not that of `ana`'s key"),
        ("ana", {"notes": "and more"}, "not that of `ana`'s key"),
        ("ana", {"by": "carl"}, "not that of `ana`'s key"),
    ],
)
def test_a_signature_is_for_one_person_one_item_and_one_decision(
    keyed: Bench, key: str, changed: dict[str, Any], why: str
) -> None:
    with pytest.raises(QueueError, match=why):
        keyed.store.decide(ITEM, "resolve", **signed(keyed.store, keyed.folder / key, changed))
    assert keyed.store.item(ITEM).status == "PENDING"


@pytest.mark.parametrize(
    ("by", "signature", "why"),
    [
        ("ana", "", "not signed"),
        ("carl", "", "not one of `hil.signers`"),
        ("ana", "é", "not that of"),
        ("ana", "AAAA", "not"),
    ],
)
def test_without_a_signature_nobody_decides(keyed: Bench, by: str, signature: str, why: str) -> None:
    with pytest.raises(QueueError, match=why):
        keyed.store.decide(ITEM, "resolve", by=by, notes="fine", now=NOW, signature=signature)


def test_a_decision_from_before_the_keys_is_not_enough(tmp_path: Path) -> None:
    run = waiting(tmp_path)
    run.decide("resolve")
    run.store.deciders = Deciders(signers={"ana": write_key(tmp_path / "ana")})
    with pytest.raises(EngineError, match=f"the decision about `{ITEM}` does not count: .* is not signed"):
        run.run(resume=True)


def test_a_decision_of_a_signer_whose_key_was_removed_is_asked_for_again(keyed: Bench) -> None:
    keyed.store.decide(ITEM, "resolve", **signed(keyed.store, keyed.folder / "ana"))
    keyed.store.deciders = Deciders(signers={"ben": keyed.store.deciders.signers["ben"]})
    with pytest.raises(
        EngineError, match=f"`{ITEM}` does not count: `ana` is not one of .* `--resume run-1 --changed`"
    ):
        keyed.run(resume=True)
    result = keyed.run(resume="run-1", changed=True)
    assert (result.status, [item.id for item in result.waiting]) == ("WAITING", ["run-1-build-2"])


def copy_decision(source: Bench, target: Bench) -> None:
    """Write a question and its decision into the database of another run, past Rulewright."""
    with sqlite3.connect(target.store.path) as other:
        other.execute("attach ? as source", (str(source.store.path),))
        other.execute("update hil_items set (status, body) = (select status, body from source.hil_items)")
        other.execute("insert into decisions select * from source.decisions")
    other.close()


def test_a_signature_from_another_database_is_not_one_for_a_task_defined_otherwise(tmp_path: Path) -> None:
    harmless, harmful = tmp_path / "harmless", tmp_path / "harmful"
    harmless.mkdir()
    harmful.mkdir()
    signers = {"ana": write_key(tmp_path / "ana")}
    before, after = (
        waiting(harmless),
        waiting(harmful, FLOW.replace("agent: dev", "agent: dev, description: erase all")),
    )
    for run in (before, after):
        run.store.deciders = Deciders(signers=signers)
    before.store.decide(ITEM, "resolve", **signed(before.store, tmp_path / "ana"))
    copy_decision(before, after)
    assert after.run(resume=True).status == "WAITING"
    assert after.store.item(ITEM).resolution_notes == "the question shows another definition of the task"
    again = after.store.item("run-1-build-2")
    assert again.context["task_definition"]["description"] == "erase all"
    after.store.decide(again.id, "resolve", **signed(after.store, tmp_path / "ana", item=again.id))
    assert after.run(resume=True).status == "COMPLETED"


def test_keys_that_can_not_be_used_are_refused_with_a_message(tmp_path: Path) -> None:
    write_key(tmp_path / "protected", BestAvailableEncryption(b"pass"))
    with pytest.raises(QueueError, match="contains no private key"):
        SigningKey(tmp_path / "protected", lambda: "wrong")
    (tmp_path / "text").write_text("no key", encoding="utf-8")
    with pytest.raises(QueueError, match="contains no private key"):
        SigningKey(tmp_path / "text", str)
    with pytest.raises(QueueError, match="can't be read: no such file"):
        SigningKey(tmp_path / "gone", str)
    other = generate_private_key(65537, 2048)
    (tmp_path / "rsa").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    with pytest.raises(QueueError, match="of another kind"):
        SigningKey(tmp_path / "rsa", str)


@pytest.mark.parametrize(
    "text", ["", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ==", "é"]
)
def test_a_signer_without_a_key_is_refused(keyed: Bench, text: str) -> None:
    keyed.store.deciders = Deciders(signers={"ana": text})
    with pytest.raises(QueueError, match="expected a public key"):
        keyed.store.decide(ITEM, "resolve", **signed(keyed.store, keyed.folder / "ana"))


def test_a_missing_library_for_keys_is_reported(keyed: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    given = signed(keyed.store, keyed.folder / "ana")
    monkeypatch.delattr(workflow, "ssh_keys", raising=False)
    monkeypatch.delitem(sys.modules, "rulewright_runtime.workflow.ssh_keys", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(QueueError, match=r"pip install 'rulewright\[signing\]'"):
        keyed.store.decide(ITEM, "resolve", **given)


def test_a_key_signs_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, "print('done')\n")
    public = write_key(tmp_path / "id_ed25519", BestAvailableEncryption(b"pass"))
    settings = f"{PROJECT}  overlays: {{hil: {{signers: {{'Ana (QA)': '{public}'}}}}}}\n".replace(
        "PYTHON", sys.executable
    )
    (tmp_path / "rulewright.yaml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("getpass.getpass", lambda _: "pass")
    assert main(["workflow", "run"]) == 2
    assert main(["hil", "resolve", "run-1-ask-1", "--by", "Ana (QA)", "--why", "tried"]) == 1
    assert "the decision of `Ana (QA)` is not signed: add `--key FILE`" in capsys.readouterr().err
    assert main(["hil", "resolve", "run-1-ask-1", "--key", "id_ed25519", "--why", "tried"]) == 0
    assert main(["hil", "show", "run-1-ask-1"]) == 0
    assert "on record: resolve by Ana (QA)" in (shown := capsys.readouterr().out)
    assert ", signed, system user " in shown
    assert main(["workflow", "run", "--resume"]) == 0
    assert main(["workflow", "watch", "--once"]) == 0
    (tmp_path / "rulewright.yaml").write_text(settings.replace(public, write_key(tmp_path / "other")), encoding="utf-8")
    assert main(["workflow", "watch", "--once"]) == 3, "the signature is not that of the person's key"


@pytest.mark.parametrize("version", [1, 99])
def test_a_database_of_another_version_is_refused_with_a_hint(version: int, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with sqlite3.connect(path) as other:
        other.execute(f"pragma user_version = {version}")
    other.close()
    with pytest.raises(StoreError, match=r"schema version mismatch: .* has version \d+, .*; to migrate, "):
        Store(path)


def test_two_who_look_at_once_whether_a_run_is_at_work_do_not_take_each_other_for_one(tmp_path: Path) -> None:
    run = waiting(tmp_path)
    with Store(run.store.path) as other:
        assert not run.store.is_run_active()
        with other.run_lock() as ours:
            assert ours
            assert run.store.is_run_active()
            with run.store.run_lock() as second:
                assert not second
