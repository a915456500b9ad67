"""A run whose workflow has changed goes on with what is as it was; a run that is given up asks nobody any more."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runtime.workflow.running import Bench, bench, plan_of

from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.workflow.continuation import Continuation
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.engine import EngineError, carried_over
from rulewright_runtime.workflow.events import narrate
from rulewright_runtime.workflow.hil import QueueError
from rulewright_runtime.workflow.run_database import Store

FLOW = """
tasks:
  first: {agent: dev, inputs: [in.md], outputs: [one.md]}
  second: {agent: dev, dependencies: [first], outputs: [two.md]}
  third: {agent: reviewer, dependencies: [second], requires_human: true, description: "Ceck it."}
"""
SCRIPT: dict[str, Any] = {
    "first/dev": [{"files": {"one.md": "1"}, "usage": {"cost_usd": 1.0}}],
    "second/dev": [{"files": {"two.md": "2"}}],
}


def stopped(folder: Path, text: str = FLOW, script: Any = SCRIPT) -> Bench:
    (folder / "in.md").write_text("in", encoding="utf-8")
    run = bench(folder, text, script)
    assert run.run().status == "WAITING"
    run.recorder.briefs.clear()
    return run


def resumed(run: Bench, text: str) -> tuple[str, list[str]]:
    """How the run stands after it went on with another workflow, and whose agents were asked to work."""
    run.plan = plan_of(text)
    status = run.run(resume="run-1", changed=True).status
    return status, [brief.task_id for brief in run.recorder.briefs]


def test_a_corrected_word_in_a_later_task_repeats_no_work_that_was_paid_for(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    corrected = FLOW.replace("Ceck", "Check")
    run.plan = plan_of(corrected)
    with pytest.raises(EngineError, match="keep its unchanged tasks with `--resume run-1 --changed`"):
        run.run(resume=True)
    assert resumed(run, corrected) == ("WAITING", [])
    (item,) = run.store.items(waiting=True)
    assert item.id == "run-1-third-2"
    assert item.context["task_definition"]["description"] == "Check it."
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    assert [brief.task_id for brief in run.recorder.briefs] == ["third"]
    assert run.store.run("run-1").cost_usd == 1.0


def test_what_is_carried_over_is_known_before_it_starts(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    changed = FLOW.replace("outputs: [two.md]", "outputs: [two.md], description: Other.").replace("third:", "last:")
    assert carried_over(plan_of(changed), run.store, run.settings, "run-1") == (
        "run-1",
        Continuation({"first": "COMPLETED"}, {"second": "its definition has changed"}, ("third",)),
    )
    assert [event.event_type for event in run.events()][-1] == "hil.created"


def test_a_task_whose_input_has_changed_is_done_again_with_all_that_depends_on_it(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    (tmp_path / "in.md").write_text("changed", encoding="utf-8")
    assert resumed(run, FLOW) == ("WAITING", ["first", "second"])
    (said,) = run.events("engine.changed")
    assert said.details["restarted"] == {
        "first": "its input `in.md` has changed",
        "second": "it depends on `first`",
        "third": "it depends on `second`",
    }
    assert run.store.item("run-1-third-1").status == "WITHDRAWN"
    with pytest.raises(QueueError, match="WITHDRAWN: the workflow has changed"):
        run.store.decide("run-1-third-1", "resolve", by="ana", notes="fine", now="")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("outputs: [one.md]", "outputs: [one.md, more.md]"),
        ("inputs: [in.md]", "inputs: []"),
        ("first: {agent: dev", "first: {agent: le"),
        ("outputs: [one.md]", "outputs: [one.md], overlays: {hil: {enabled: false}}"),
        ("tasks:", "agents: {dev: {role: {description: Another.}}}\ntasks:"),
    ],
)
def test_whatever_defines_a_task_is_its_definition(tmp_path: Path, old: str, new: str) -> None:
    run = stopped(tmp_path)
    _, carried = carried_over(plan_of(FLOW.replace(old, new)), run.store, run.settings, "run-1")
    assert carried.restarted["first"] == "its definition has changed"


def test_a_task_that_waits_for_a_person_is_carried_over_with_its_question(tmp_path: Path) -> None:
    text = FLOW + "  fourth: {agent: dev, dependencies: [third]}\n"
    run = stopped(tmp_path, text)
    assert resumed(run, text.replace("fourth: {agent: dev", "fourth: {agent: le")) == ("WAITING", [])
    assert [item.id for item in run.store.items(waiting=True)] == ["run-1-third-1"]
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


def test_what_has_failed_is_done_again_and_what_is_done_stays_done(tmp_path: Path) -> None:
    script = {**SCRIPT, "second/dev": [{"raise": "no"}, {"files": {"two.md": "2"}}]}
    text = FLOW.replace(", requires_human: true", "")
    (tmp_path / "in.md").write_text("in", encoding="utf-8")
    run = bench(tmp_path, text, script)
    assert run.run().status == "FAILED"
    run.recorder.adapter._script["second/dev"] = [{"files": {"two.md": "2"}}]  # type: ignore[attr-defined]
    run.recorder.briefs.clear()
    with pytest.raises(EngineError, match="is FAILED, so it can't be resumed"):
        run.run(resume="run-1")
    assert resumed(run, text) == ("COMPLETED", ["second", "third"])
    assert run.events("engine.changed")[0].details["restarted"] == {"second": "it has failed: no"}


def test_tasks_may_come_and_go(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    text = FLOW.replace("third: {agent: reviewer", "other: {agent: reviewer").replace("second]", "second, extra]")
    text += "  extra: {agent: dev, dependencies: [first]}\n"
    assert resumed(run, text) == ("WAITING", ["extra"])
    assert set(run.store.records("run-1")) == {"first", "second", "other", "extra"}
    assert run.store.item("run-1-third-1").status == "WITHDRAWN"
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    calls = [attempt["operation_id"] for attempt in run.store.attempts("run-1")]
    assert len(calls) == len(set(calls))
    told = "\n".join(narrate(run.store.events("run-1")))
    assert "the run continues with a changed workflow; carried over: first, second; removed: third" in told


def test_a_completed_run_and_one_of_another_workflow_are_not_continued(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    run.run()
    with pytest.raises(EngineError, match="COMPLETED, so it can't be resumed"):
        run.run(resume="run-1", changed=True)
    run.plan = seal(replace(plan_of(FLOW), name="other"))
    (tmp_path / "in.md").write_text("in", encoding="utf-8")
    assert run.run().run_id == "run-2"
    run.plan = plan_of(FLOW)
    with pytest.raises(EngineError, match="`run-2` is a run of `other`, not of `flow`"):
        run.run(resume="run-2", changed=True)


def test_a_run_that_is_given_up_asks_nobody_and_is_never_continued(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    run.store.cancel("run-1", "a better idea", "ana", "2026-01-01T00:00:00.000Z")
    assert run.store.run("run-1").status == "CANCELLED"
    assert run.store.items(waiting=True) == []
    assert run.events("engine.cancelled")[0].details == {"by": "ana", "reason": "a better idea"}
    with pytest.raises(QueueError, match="WITHDRAWN: `run-1` was cancelled"):
        run.store.decide("run-1-third-1", "resolve", by="ana", notes="fine", now="")
    with pytest.raises(StoreError, match="is CANCELLED, so it can't be cancelled"):
        run.store.cancel("run-1", "", "ana", "")
    with pytest.raises(EngineError, match="no unfinished run"):
        run.run(resume=True)
    with pytest.raises(EngineError, match="CANCELLED, so it can't be resumed"):
        run.run(resume="run-1")
    assert run.run().run_id == "run-2"


def test_withdrawn_items_leave_the_folder_that_mirrors_the_queue_as_such(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    run.store = Store(tmp_path / "state" / "runs.db", queue_path=tmp_path / "queue")
    run.run()
    run.store.cancel("run-1", "", "ana", "")
    assert '"status": "WITHDRAWN"' in (tmp_path / "queue" / "run-1-build-1.json").read_text(encoding="utf-8")


def test_a_file_of_a_decision_that_a_kill_kept_from_being_stored_is_written_again(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    run.store = Store(tmp_path / "state" / "runs.db", queue_path=tmp_path / "queue")
    run.run()
    file = tmp_path / "queue" / "run-1-build-1.json"
    asked = file.read_text(encoding="utf-8")
    file.write_text(asked.replace("PENDING", "RESOLVED"), encoding="utf-8")
    run.run(resume=True)
    assert file.read_text(encoding="utf-8") == asked
