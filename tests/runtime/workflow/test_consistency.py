"""A run does not continue from rows that somebody changed or removed in its database."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.workflow.running import BROKEN, EVIDENCE, JUNIT, Bench, bench

from rulewright_runtime.workflow.engine import EngineError
from rulewright_runtime.workflow.hil import QueueError

WORKFLOW = """
tasks:
  build:
    agent: dev
    requires_human: true
    overlays:
      confidence_loop: {enabled: true, max_iterations: 3, threshold: 0.5,
        metrics: [{type: checklist_completion, source: ready.md}]}
      policy_gate:
        {enabled: true, risk_tier: T2, evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}}
  ship: {agent: le, dependencies: [build]}
"""
# The gate fails once, so that the run has a rework; then a person is asked to sign.
SCRIPT: dict[str, Any] = {"dev": [{"files": {"junit.xml": BROKEN}}, {"files": {"junit.xml": JUNIT}}]}
SIGN_OFF = "run-1-build-2"


def waiting(folder: Path) -> Bench:
    """A run that waits for the sign-off of `build`."""
    run = bench(folder, WORKFLOW, SCRIPT, EVIDENCE)
    run.run()
    run.decide("resolve")
    assert [item.id for item in run.run(resume=True).waiting] == [SIGN_OFF]
    return run


def change(run: Bench, *statements: str) -> None:
    """Execute statements past Rulewright, without the triggers that protect the logs."""
    with sqlite3.connect(run.store.path) as other:
        for (name,) in other.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            other.execute(f"drop trigger {name}")
        for statement in statements:
            other.execute(statement)
    other.close()


def change_record(run: Bench, fields: dict[str, Any], status: str, task: str = "build") -> None:
    with sqlite3.connect(run.store.path) as other:
        (body,) = other.execute("select record from tasks where task_id = ?", (task,)).fetchone()
        record = json.dumps({**json.loads(body), **fields}).encode()
        other.execute("update tasks set record = ?, status = ? where task_id = ?", (record, status, task))
    other.close()


def at(place: str, used: int = 2) -> dict[str, Any]:
    return {"state": {"place": place, "used": [used]}}


def reply_of_gate(run: Bench) -> None:
    change(run, 'update gate_reports set body = replace(body, \'"verdict":"PASS"\', \'"verdict":"FAIL"\')')


Attack = Callable[[Bench], None]
ATTACKS: dict[str, tuple[Attack, str]] = {
    "a task is completed": (
        lambda run: change_record(run, {**at("done"), "item": None}, "COMPLETED"),
        "its record says `done` (2,), its steps lead to `sign_off` (2,)",
    ),
    "a task is signed": (
        lambda run: change_record(run, {**at("signed"), "item": None}, "RUNNING"),
        "its record says `signed` (2,), its steps lead to `sign_off` (2,)",
    ),
    "a status": (
        lambda run: change_record(run, {}, "COMPLETED"),
        "its status is COMPLETED, and its record says HIL_PENDING",
    ),
    "iterations are given back": (
        lambda run: change_record(run, at("sign_off", 0), "HIL_PENDING"),
        "its record says `sign_off` (0,), its steps lead to `sign_off` (2,)",
    ),
    "a task begins again": (
        lambda run: change_record(run, at("start", 0), "PENDING"),
        "it has steps, and its record says that it has not begun",
    ),
    "the last step is removed": (
        lambda run: change(run, "delete from transitions where number = (select max(number) from transitions)"),
        "its steps lead to `gate` (2,)",
    ),
    "a step is removed": (
        lambda run: change(run, "delete from transitions where source = 'work'"),
        "no step leads from `work` by `scored` to `decide:confidence_loop`",
    ),
    "all steps are removed": (lambda run: change(run, "delete from transitions"), "its steps lead to `start` (0,)"),
    "a step is added": (
        lambda run: change(
            run,
            "insert into transitions (run_id, task_id, source, event, target, before, after, undecided)"
            " values ('run-1', 'build', 'sign_off', 'resolved', 'signed', 'HIL_PENDING', 'RUNNING', '')",
            "update tasks set status = 'RUNNING', record = replace(replace(record, '\"place\":\"sign_off\"',"
            f' \'"place":"signed"\'), \'"item":"{SIGN_OFF}"\', \'"item":null\') where task_id = \'build\'',
        ),
        "it has passed the question `t2_gate`, and no such decision is on record",
    ),
    "a verdict": (reply_of_gate, "its gate reports are not those that its steps follow from"),
    "a gate report is removed": (
        lambda run: change(run, "delete from gate_reports where number = 1"),
        "its gate reports are not those that its steps follow from",
    ),
    "a decision is removed": (
        lambda run: change(run, "delete from decisions"),
        "`run-1-build-1` is RESOLVED, but no such decision is on record",
    ),
    "a question is removed": (
        lambda run: change(run, f"delete from hil_items where id = '{SIGN_OFF}'"),
        f"it waits for `{SIGN_OFF}`, which is not its last question",
    ),
    "an earlier question is removed": (
        lambda run: change(run, "delete from hil_items where id = 'run-1-build-1'"),
        "it has passed the question `requires_human`, and no such decision is on record",
    ),
    "a task waits for another question": (
        lambda run: change_record(run, {"item": "run-1-build-1"}, "HIL_PENDING"),
        "it waits for `run-1-build-1`, which is not its last question",
    ),
    "a task is removed": (lambda run: change(run, "delete from tasks where task_id = 'build'"), "it has no record"),
    "a task is added": (
        lambda run: change(run, "insert into tasks select run_id, 'more', 9, status, record from tasks limit 1"),
        "the workflow has no such task",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_was_changed_in_the_database_is_not_resumed_from(name: str, tmp_path: Path) -> None:
    attack, why = ATTACKS[name]
    run = waiting(tmp_path)
    attack(run)
    run.recorder.briefs.clear()
    with pytest.raises(EngineError) as caught:
        run.run(resume=True)
    task = "more" if name == "a task is added" else "build"
    assert f"the database contradicts itself about task `{task}` of `run-1`: " in str(caught.value)
    assert why in str(caught.value)
    assert run.recorder.briefs == []


@pytest.mark.parametrize("name", ATTACKS)
def test_what_contradicts_itself_can_be_repeated_and_is_signed_again(name: str, tmp_path: Path) -> None:
    run = waiting(tmp_path)
    ATTACKS[name][0](run)
    run.recorder.briefs.clear()
    result = run.run(resume=True, changed=True)
    while result.status == "WAITING":
        run.decide("resolve")
        result = run.run(resume=True)
    assert result.status == "COMPLETED"
    decided = [item.trigger for item in run.store.items() if item.status == "RESOLVED"]
    assert decided[-1] == "t2_gate"
    worked = {brief.task_id for brief in run.recorder.briefs}
    assert worked == ({"ship"} if name == "a task is added" else {"build", "ship"})


def test_a_question_in_the_place_of_another_decides_nothing(tmp_path: Path) -> None:
    run = waiting(tmp_path)
    change(run, f"update hil_items set body = (select body from hil_items limit 1) where id = '{SIGN_OFF}'")
    with pytest.raises(QueueError, match="contains the question `run-1-build-1` in place of `run-1-build-2`"):
        run.run(resume=True)
