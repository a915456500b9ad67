"""Whole runs with scripted agents: order, concurrency, retries, costs, contracts, people and resuming."""

import itertools
import json
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runtime.workflow.running import BROKEN, EVIDENCE, GATE, Bench, bench, plan_of

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.adapters import AgentError, AgentReply, Brief
from rulewright_runtime.workflow.continuation import initial_task
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.engine import EngineError
from rulewright_runtime.workflow.events import narrate
from rulewright_runtime.workflow.hil_text import describe, history_line
from rulewright_runtime.workflow.run_context import RunContext
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_settings import AdapterSettings
from rulewright_runtime.workflow.workflow_plan import OVERLAYS

DIAMOND = """
tasks:
  a: {agent: dev}
  b: {agent: dev, dependencies: [a]}
  c: {agent: dev, dependencies: [a]}
  d: {agent: dev, dependencies: [b, c]}
"""


def test_a_plain_task_runs_and_completes(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    assert run.run().status == "COMPLETED"
    assert run.places() == ["work", "done"]
    assert [event.event_type for event in run.events()] == [
        "engine.started",
        "task.started",
        "context.assembled",
        "task.completed",
        "engine.completed",
    ]


class Meeting:
    """An agent that keeps count of how many of it are at work; `waiting` are the tasks that wait for as many."""

    def __init__(self, expected: int = 1, waiting: Sequence[str] = ()) -> None:
        self.lock = threading.Lock()
        self.met = threading.Event()  # as many as are expected were at work at once
        self.expected, self.waiting = expected, waiting
        self.now = self.most = 0
        self.order: list[str] = []

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(brief.task_id)
            if self.most >= self.expected:
                self.met.set()
        if not self.waiting or brief.task_id in self.waiting:
            self.met.wait(20)
        time.sleep(0.05)
        with self.lock:
            self.now -= 1
        return AgentReply()


def with_agent(run: Bench, agent: Any, **how: Any) -> engine.Result:
    return engine.run(run.plan, run.store, run.settings, adapter=lambda _: agent, **how)


@pytest.mark.parametrize(("allowed", "most"), [(1, 1), (2, 2), (8, 4)])
def test_tasks_run_side_by_side_within_the_limit(tmp_path: Path, allowed: int, most: int) -> None:
    text = "tasks:\n" + "\n".join(f"  t{n}: {{agent: dev}}" for n in range(4))
    run, meeting = bench(tmp_path, text, max_concurrent_tasks=allowed), Meeting(most)
    assert with_agent(run, meeting).status == "COMPLETED"
    assert meeting.most == most


def test_a_task_waits_for_what_it_depends_on(tmp_path: Path) -> None:
    run, meeting = bench(tmp_path, DIAMOND, max_concurrent_tasks=4), Meeting(2, "bc")
    assert with_agent(run, meeting).status == "COMPLETED"
    assert (meeting.order[0], sorted(meeting.order[1:3]), meeting.order[3]) == ("a", ["b", "c"], "d")
    assert meeting.most == 2


def test_events_have_an_order_that_concurrency_does_not_change(tmp_path: Path) -> None:
    logs = []
    for name, allowed in (("one", 1), ("four", 4)):
        (tmp_path / name).mkdir()
        run = bench(tmp_path / name, DIAMOND, max_concurrent_tasks=allowed)
        run.run()
        logs.append([(e.event_type, e.task_id) for e in run.store.events("run-1", by_task=True)])
    assert logs[0] == logs[1]
    assert logs[0][0][0] == "engine.started"
    assert logs[0][-1][0] == "engine.completed"


def test_what_depends_on_a_failed_task_never_runs(tmp_path: Path) -> None:
    run = bench(tmp_path, DIAMOND, {"a/dev": [{}], "b/dev": [{"raise": "no disk"}]})
    result = run.run()
    assert (result.status, result.blocked) == ("FAILED", ("d",))
    assert result.tasks == {"a": "COMPLETED", "b": "FAILED", "c": "COMPLETED", "d": "PENDING"}
    assert result.reasons == {"b": "no disk"}
    assert run.events("engine.completed")[0].details["blocked"] == ["d"]


def test_only_one_task_and_what_it_needs(tmp_path: Path) -> None:
    run = bench(tmp_path, DIAMOND)
    result = run.run(only="b")
    assert result.status == "PAUSED"
    assert result.tasks == {"a": "COMPLETED", "b": "COMPLETED", "c": "PENDING", "d": "PENDING"}
    with pytest.raises(EngineError, match="no task `x`"):
        run.run(resume=True, only="x")


def test_a_call_that_fails_is_repeated_as_often_as_allowed(tmp_path: Path) -> None:
    script = {"dev": [[{"raise": "busy"}, {"raise": "busy"}, {"summary": "done"}]]}
    run = bench(tmp_path, "tasks: {build: {agent: dev}}", script, max_retries=2)
    assert run.run().status == "COMPLETED"
    assert [event.details["retry"] for event in run.events("task.retrying")] == [1, 2]
    attempts = run.store.attempts("run-1")
    assert len({each["operation_id"] for each in attempts}) == 1
    assert [each["attempt_id"].rpartition(":")[2] for each in attempts] == ["attempt_1", "attempt_2", "attempt_3"]
    assert attempts[0]["operation_id"].startswith("flow:build:run-1.1")


def test_a_call_that_keeps_failing_fails_the_task(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}", {"dev": [{"raise": "broken"}]}, max_retries=1)
    assert run.run().reasons == {"build": "broken"}
    assert len(run.recorder.briefs) == 2


def test_a_final_failure_is_not_repeated(tmp_path: Path) -> None:
    class Missing:
        def call(self, brief: Brief, timeout: float) -> AgentReply:
            raise AgentError("`dev` can't be started", is_final=True)

    run = bench(tmp_path, "tasks: {build: {agent: dev}}", max_retries=2)
    assert with_agent(run, Missing()).reasons == {"build": "`dev` can't be started"}
    assert run.events("task.retrying") == []


def test_an_adapter_that_crashes_is_a_failed_call(tmp_path: Path) -> None:
    class Crash:
        def call(self, brief: Brief, timeout: float) -> AgentReply:
            raise ZeroDivisionError("oops")

    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    assert with_agent(run, Crash()).reasons == {"build": "ZeroDivisionError: oops"}


def test_outputs_must_exist_and_keep_their_contract(tmp_path: Path) -> None:
    text = """
    tasks:
      build:
        agent: dev
        outputs:
          - {path: out.md, contract: {required_sections: [Goal, Risks]}}
          - {path: out.json, contract: {required_fields: [name], file_format: json}}
    """
    good = {"files": {"out.md": "# Goal\n## risks\n", "out.json": '{"name": 1}'}}
    script = {"dev": [[{}, {"files": {"out.md": "# Goal", "out.json": "[1]"}}, good]]}
    run = bench(tmp_path, text, script, max_retries=2)
    assert run.run().status == "COMPLETED"
    first, second = (event.details["reason"] for event in run.events("task.retrying"))
    assert first == f"outputs: `out.md` is missing in `{tmp_path}`; `out.json` is missing in `{tmp_path}`"
    assert second == "outputs: `out.md` lacks the section `Risks`; `out.json` is not a JSON object"


def test_an_output_outside_the_project_fails_before_anybody_works(tmp_path: Path) -> None:
    (tmp_path.parent / f"{tmp_path.name}.md").write_text("not ours", encoding="utf-8")
    path = f"../{tmp_path.name}.md"
    run = bench(tmp_path, f"tasks: {{build: {{agent: dev, outputs: [{path}]}}}}")
    assert run.run().reasons == {"build": f"outputs: `{path}` is outside the project"}
    assert run.recorder.briefs == []


def test_inputs_must_exist(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, inputs: [gone.md]}}", max_retries=5)
    assert run.run().reasons == {"build": f"inputs: `gone.md` is missing in `{tmp_path}`"}
    assert run.recorder.briefs == []


def costly(cost: float) -> dict[str, Any]:
    return {"dev": [{"usage": {"cost_usd": cost, "tokens": 10}}]}


def test_a_used_up_budget_pauses_the_run_until_it_is_raised(tmp_path: Path) -> None:
    run = bench(tmp_path, DIAMOND, costly(6.0), cost_enforcement="pause")
    assert run.run().status == "PAUSED"
    assert [e.event_type for e in run.events() if e.event_type.startswith("cost.")] == [
        "cost.budget_warning",
        "cost.exceeded",
    ]
    assert run.run(resume=True).status == "PAUSED"
    assert len(run.recorder.briefs) == 2
    run.plan = seal(replace(run.plan, limits=replace(run.plan.limits, cost_budget_per_run_usd=100.0)))
    assert run.run(resume=True).status == "COMPLETED"
    assert run.store.run("run-1").cost_usd == 24.0


def test_a_used_up_budget_can_stop_the_run(tmp_path: Path) -> None:
    run = bench(tmp_path, DIAMOND, costly(11.0), cost_enforcement="stop")
    result = run.run()
    assert "RUNNING" not in result.tasks.values()
    assert len(run.recorder.briefs) == 1


@pytest.mark.parametrize(
    "overlays",
    [
        "agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 3}",
        "confidence_loop: {enabled: true, threshold: 0.9, max_iterations: 2}",
        f"policy_gate: {GATE}",
    ],
)
def test_a_used_up_budget_fails_the_tasks_that_it_stops(overlays: str, tmp_path: Path) -> None:
    script = {**costly(11.0), "reviewer": [{"decision": "NO_GO", "feedback": "no"}]}
    run = bench(
        tmp_path, f"tasks: {{build: {{agent: dev, overlays: {{{overlays}}}}}}}", script, cost_enforcement="stop"
    )
    result = run.run()
    assert (result.status, result.tasks, result.reasons) == (
        "FAILED", {"build": "FAILED"}, {"build": "the cost budget is used up"},
    )  # fmt: skip
    assert len(run.recorder.briefs) == 1


def test_a_used_up_budget_can_be_only_a_warning(tmp_path: Path) -> None:
    run = bench(tmp_path, DIAMOND, costly(6.0), cost_enforcement="warn")
    assert run.run().status == "COMPLETED"
    assert len(run.events("cost.exceeded")) == 1


def test_a_waiting_run_continues_when_a_person_decides(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    run.settings = replace(run.settings, poll_interval_seconds=0.05)
    person = threading.Timer(0.3, lambda: run.decide("resolve"))
    person.start()
    assert run.run(patient=True).status == "COMPLETED"
    person.join()


def test_other_tasks_go_on_while_one_waits_for_a_person(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {a: {agent: dev, requires_human: true}, b: {agent: dev}}")
    result = run.run()
    assert (result.status, result.tasks) == ("WAITING", {"a": "HIL_PENDING", "b": "COMPLETED"})
    assert [item.id for item in result.waiting] == ["run-1-a-1"]


def test_a_person_who_corrects_the_evidence_gets_one_more_gate(tmp_path: Path) -> None:
    text = f"tasks: {{build: {{agent: dev, overlays: {{policy_gate: {GATE}}}}}}}"
    for name, mended, outcome in (("good", True, "COMPLETED"), ("bad", False, "FAILED")):
        (tmp_path / name).mkdir()
        run = bench(tmp_path / name, text, files={**EVIDENCE, "junit.xml": BROKEN})
        assert run.run().waiting[0].trigger == "overlay_escalation"
        if mended:
            (tmp_path / name / "junit.xml").write_text(EVIDENCE["junit.xml"], encoding="utf-8")
        run.decide("resolve")
        assert run.run(resume=True).status == outcome


def test_a_changed_workflow_is_not_resumed(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    run.run()
    run.plan = plan_of("tasks: {build: {agent: pe, requires_human: true}}")
    with pytest.raises(EngineError, match="has changed since `run-1` began"):
        run.run(resume=True)


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    with pytest.raises(EngineError, match="`flow` has no unfinished run"):
        run.run(resume=True)
    run.run()
    with pytest.raises(EngineError, match="`run-1` is COMPLETED"):
        run.run(resume="run-1")
    with pytest.raises(StoreError, match="the latest are `run-1`"):
        run.run(resume="run-7")


def test_only_one_engine_works_on_a_database(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")

    class Second:
        def call(self, brief: Brief, timeout: float) -> AgentReply:
            with pytest.raises(EngineError, match="another run is using"):
                with_agent(run, self)
            return AgentReply()

    assert with_agent(run, Second()).status == "COMPLETED"


def test_runs_are_numbered_and_kept_apart(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    assert [run.run().run_id for _ in range(3)] == ["run-1", "run-2", "run-3"]
    assert len(run.events(run="run-2")) == 5


def test_what_happened_can_not_be_rewritten(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    run.run()
    for statement in ("delete from events", "update transitions set after = 'FAILED'", "delete from attempts"):
        with pytest.raises(StoreError, match="only ever added to"), run.store.transaction() as db:
            db.execute(statement)


def test_a_database_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("these are notes, not a database of runs", encoding="utf-8")
    with pytest.raises(StoreError, match="can't be opened"):
        Store(tmp_path / "notes.db")
    with Store(tmp_path / "future.db") as store, store.transaction() as db:
        db.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="version 99"):
        Store(tmp_path / "future.db")


@pytest.mark.parametrize(
    "change",
    [
        "update runs set status = '{}'",
        "update runs set plan = 5",
        "update runs set tokens_used = 1e308",
        "update runs set cost_usd = 'x'",
        "update tasks set record = 9",
        "update tasks set record = x'ff'",
        "delete from tasks",
    ],
)
def test_a_row_that_was_damaged_is_reported_as_such(tmp_path: Path, change: str) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev, requires_human: true}}")
    assert run.run().status == "WAITING"
    with run.store.transaction() as db:
        db.execute(change)
    for read in (lambda: run.run(resume="run-1"), lambda: run.decide("resolve"), lambda: run.store.export("run-1")):
        with suppress(RuntimeFailure):  # any other error is a crash
            read()


def test_a_killed_run_is_paused_and_a_resumed_one_runs(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    seen: list[str] = []
    with run.store.run_lock():
        run.store.begin(run.plan, [(task.id, *initial_task(task)) for task in run.plan.tasks], "2026-01-01T00:00:00Z")
        assert run.store.run("run-1").status == "RUNNING"
    assert run.store.run("run-1").status == "PAUSED"
    publish = lambda _: seen.append("/".join(each.status for each in run.store.runs()))  # noqa: E731
    run.run(publish=publish)
    assert set(seen[:-1]) == {"PAUSED/RUNNING"}
    seen.clear()
    run.run(resume=True, publish=publish)
    assert set(seen[:-1]) == {"RUNNING/COMPLETED"}


@pytest.mark.parametrize(("kind", "waits"), [("mock", []), ("python", [10.0])])
def test_a_script_is_asked_again_without_a_wait(tmp_path: Path, kind: Any, waits: list[float]) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}", retry_backoff_seconds=5.0)
    settings = replace(run.settings, adapters={"default": AdapterSettings(kind)})
    waited: list[float | None] = []
    stop = threading.Event()
    stop.wait = waited.append  # type: ignore[assignment]
    RunContext(run.plan, "run-1", run.store, settings, tmp_path, lambda _: run.recorder, stop=stop).wait_before(
        2, "dev"
    )
    assert waited == waits


def test_the_export_is_json_and_holds_everything(tmp_path: Path) -> None:
    text = f"tasks: {{build: {{agent: dev, outputs: [o.md], overlays: {{policy_gate: {GATE}}}}}}}"
    run = bench(tmp_path, text, {"dev": [{"files": {"o.md": "x"}}]})
    run.run()
    exported = json.loads(json.dumps(run.store.export("run-1")))
    build = exported["tasks"]["build"]
    assert build["gate_reports"][0]["verdict"] == "PASS"
    assert [step["target"] for step in build["transitions"]] == ["work", "gate", "done"]
    assert build["outputs"][0]["path"] == "o.md"
    assert exported["run"]["status"] == "COMPLETED"


def test_what_an_agent_says_can_not_pass_for_a_line_of_ours(tmp_path: Path) -> None:
    said = {"summary": "done\n\x1b[2Jgate T2: PASS", "raise": "no\r\nCOMPLETED: \x1b]0;x\x07"}
    review = "agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 1}"
    script = {"dev": [{"summary": said["summary"]}], "reviewer": [{"decision": "NO_GO", "feedback": said["raise"]}]}
    run = bench(tmp_path, f"tasks: {{build: {{agent: dev, overlays: {{{review}}}}}}}", script)
    item = run.run().waiting[0]
    text = describe(item) + "\n".join(narrate(run.events()))
    assert "\x1b" not in text
    assert not any(line.startswith(("gate T2: PASS", "COMPLETED")) for line in text.splitlines())


CHALLENGE = {"step": "challenge", "challenger_agent": "dev", "challenger_critique": "why?"}


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({**CHALLENGE, "challenger_approved": True}, "dev approves: why?"),
        ({**CHALLENGE, "challenger_approved": False}, "dev objects: why?"),
        ({**CHALLENGE, "challenger_approved": True, "challenger_critique": ""}, "dev approves"),
        ({"step": "escalate", "reason": "the roles are `dev`"}, "a person is asked: the roles are `dev`"),
        (
            {"step": "human", "status": "REJECTED", "by": "ana", "trigger": "t2_gate", "notes": "not yet"},
            "REJECTED by ana (t2_gate) not yet",
        ),
    ],
)
def test_a_step_of_the_history_reads_as_a_line(entry: dict[str, Any], line: str) -> None:
    assert history_line(entry) == line


def test_every_event_reads_as_a_sentence(tmp_path: Path) -> None:
    text = f"tasks: {{build: {{agent: dev, requires_human: true, overlays: {{policy_gate: {GATE}}}}}}}"
    run = bench(tmp_path, text)
    run.run()
    run.decide("resolve", "go")
    run.run(resume=True)
    told = "\n".join(narrate(run.events()))
    assert "waits for a person (requires_human)" in told
    assert "resolved by ana: go" in told
    assert "the policy gate says PASS" in told
    assert "{" not in told


def test_a_wide_workflow_runs(tmp_path: Path) -> None:
    text = "tasks:\n" + "\n".join(f"  t{n}: {{agent: dev}}" for n in range(100))
    run = bench(tmp_path, text, max_concurrent_tasks=8)
    result = run.run()
    assert set(result.tasks.values()) == {"COMPLETED"}
    assert len(run.events("task.completed")) == 100


def test_nothing_begins_while_an_agent_can_not_be_reached(tmp_path: Path) -> None:
    review = "agentic_review: {enabled: true, reviewer_agent: pe, max_iterations: 2}"
    text = f"tasks: {{build: {{agent: dev, overlays: {{{review}}}}}}}"
    run = bench(tmp_path, text, settings={"adapters": {"dev": AdapterSettings("mock", script={"dev": [{}]})}})
    with pytest.raises(EngineError, match="agent `pe` can't be reached: no adapter; name one"):
        engine.run(run.plan, run.store, run.settings)
    assert run.store.runs() == []


def test_the_working_folder_is_made(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    run.settings = replace(run.settings, folder=str(tmp_path / "deep" / "work"))
    assert run.run().status == "COMPLETED"
    (tmp_path / "file").write_text("", encoding="utf-8")
    run.settings = replace(run.settings, folder=str(tmp_path / "file" / "work"))
    with pytest.raises(EngineError, match="can't be created"):
        run.run()


VALID = [
    each
    for size in range(6)
    for each in itertools.combinations(OVERLAYS, size)
    if not {"agentic_review", "paired_workflow"} <= set(each)
]
BLOCKS = {
    "hil": "hil: {enabled: true}",
    "policy_gate": f"policy_gate: {GATE}",
    "agentic_review": "agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 2}",
    "paired_workflow": "paired_workflow: {enabled: true, challenger_agent: reviewer, max_iterations: 2}",
    "confidence_loop": (
        "confidence_loop: {enabled: true, threshold: 0.8, max_iterations: 2,"
        " metrics: [{type: checklist_completion, source: ready.md}]}"
    ),
}


@pytest.mark.parametrize("on", VALID, ids=lambda on: "+".join(on) or "none")
@pytest.mark.parametrize("friendly", [True, False])
def test_every_valid_combination_runs_to_an_end(tmp_path: Path, on: tuple[str, ...], friendly: bool) -> None:
    """Friendly agents complete; what goes wrong ends with a person or as FAILED, and never as COMPLETED. Confidence
    without a gate of its own never promotes: the implicit gate finds no evidence."""
    blocks = [BLOCKS[name] for name in on] + (["hil: {enabled: false}"] if "hil" not in on else [])
    script = {} if friendly else {"reviewer": [{"decision": "NO_GO", "approved": False}]}
    files = EVIDENCE if friendly else {**EVIDENCE, "junit.xml": BROKEN, "ready.md": "- [ ] runbook"}
    run = bench(tmp_path, f"tasks: {{build: {{agent: dev, overlays: {{{', '.join(blocks)}}}}}}}", script, files)
    result = run.run()
    ungated = "confidence_loop" in on and "policy_gate" not in on
    if set(on) <= {"hil"} or (friendly and not ungated):
        assert result.status == "COMPLETED"
        assert set(run.record().passed) == set(on)
    else:
        assert result.status == ("WAITING" if "hil" in on else "FAILED")
        assert run.status() == ("HIL_PENDING" if "hil" in on else "FAILED")


def test_a_lock_that_can_not_be_opened_stops_the_run_before_it_begins(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    run.store.path.with_name("runs.db.lock").mkdir()
    with pytest.raises(StoreError, match=r"the lock .* can't be opened: is a directory"):
        run.run()
    assert run.store.runs() == []
