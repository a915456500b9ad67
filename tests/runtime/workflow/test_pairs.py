"""Pairs: what they approved is locked, and a session that contradicts itself goes to a person."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.workflow.running import GATE, Bench, bench
from tests.runtime.workflow.test_rules import NO, YES, pair, task


def paired(folder: Path, *overlays: str, script: Any = None) -> Bench:
    text = task(*overlays, pair(3, ", role_switch: subtask"), more="outputs: [out.md],")
    work = {"files": {"out.md": "x"}}
    usual = {"build/dev/work": [work], "build/reviewer/work": [work], "reviewer": [NO, YES], "dev": [YES]}
    return bench(folder, text, {**usual, **(script or {})})


def test_what_the_challenger_approved_is_locked(tmp_path: Path) -> None:
    run = paired(tmp_path)
    assert run.run().status == "COMPLETED"
    assert list(run.record().locked or ()) == ["out.md"]
    (event,) = run.events("artifact.locked")
    assert event.details == {"outputs": ["out.md"]}


def test_what_was_changed_after_the_approval_fails_the_gate(tmp_path: Path) -> None:
    run = paired(tmp_path, f"policy_gate: {GATE}")
    run.run(one_step=True)
    while run.record().state.place != "gate":
        run.run(resume=True, one_step=True)
    (tmp_path / "out.md").write_text("changed", encoding="utf-8")
    run.run(resume=True, one_step=True)
    assert "locked output `out.md` was changed after its review" in run.store.reports("run-1")[0].reasons


def test_a_pair_that_ends_without_approval_locks_nothing(tmp_path: Path) -> None:
    text = task(pair(3, ", exit_conditions: ['loop.iteration >= 1']"), more="outputs: [out.md],")
    run = bench(tmp_path, text, {"dev": [{"files": {"out.md": "x"}}], "reviewer": [NO]})
    assert run.run().status == "COMPLETED"
    assert run.record().locked is None
    assert run.events("artifact.locked") == []


def tampered(run: Bench, change: dict[str, Any]) -> None:
    with sqlite3.connect(run.store.path) as other:
        (body,) = other.execute("select record from tasks").fetchone()
        record = json.loads(body)
        record["history"] += change.pop("history", [])
        record["context"].update(change)
        other.execute("update tasks set record = ?", (json.dumps(record).encode(),))
    other.close()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "one agent in both roles": ({"driver": "dev", "challenger": "dev"}, "the roles are `dev`"),
    "somebody else": ({"driver": "pe", "challenger": "dev"}, "the roles are `dev` and `pe`"),
    "challenges that nobody remembers": ({"challenges": 7}, "7 challenges were counted, and 0 are remembered"),
    "a challenge before the work": (
        {
            "challenges": 1,
            "history": [{"step": "challenge", "iteration": 1, "challenger_critique": "", "challenger_approved": False}],
        },
        "1 challenges are remembered before iteration 1 has ended",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_inconsistent_session_goes_to_a_person_and_begins_again(name: str, tmp_path: Path) -> None:
    change, words = dict(WRONG[name][0]), WRONG[name][1]
    run = paired(tmp_path)
    run.run(one_step=True)
    run.run(resume=True, one_step=True)
    assert run.record().state.place == "challenge"
    tampered(run, change)
    run.recorder.briefs.clear()
    assert run.run(resume=True).status == "WAITING"
    assert run.recorder.briefs == []
    (item,) = run.store.items(waiting=True)
    assert (item.trigger, item.reason) == (
        "overlay_escalation", f"the session of the pair is inconsistent: {words}",
    )  # fmt: skip
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    assert [brief.agent for brief in run.recorder.briefs][:2] in (["dev", "reviewer"], ["reviewer", "dev"])


def test_without_people_an_inconsistent_session_fails_its_task(tmp_path: Path) -> None:
    run = paired(tmp_path, "hil: {enabled: false}")
    run.run(one_step=True)
    run.run(resume=True, one_step=True)
    tampered(run, {"driver": "dev", "challenger": "dev"})
    result = run.run(resume=True)
    assert (result.status, result.reasons["build"]) == (
        "FAILED", "the session of the pair is inconsistent: the roles are `dev`",
    )  # fmt: skip
