"""Outputs that change after a review, an approval or a question: what nobody has seen is never COMPLETED unnoticed."""

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.folders import write
from tests.runtime.workflow.running import GATE, Bench, bench

from rulewright_runtime.workflow.artifacts import UNREADABLE, changed_paths, hashes
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.engine import carried_over
from rulewright_runtime.workflow.hil_text import describe
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.workflow_plan import Artifact

SIGNED = """
tasks:
  build:
    agent: dev
    outputs: [out]
    overlays:
      policy_gate:
        {enabled: true, risk_tier: T2, evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}}
"""
EXHAUSTED = """
tasks:
  build:
    agent: dev
    outputs: [out]
    overlays: {agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 1}}
"""
PAIRED = "paired_workflow: {enabled: true, challenger_agent: reviewer, max_iterations: 1}"
REVIEWED = "agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 1}"
WORK = {"dev": [{"files": {"out/a.md": "good"}}]}


def at(run: Bench, place: str) -> Bench:
    run.run(one_step=True)
    while run.record().state.place != place:
        run.run(resume=True, one_step=True)
    return run


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("text", [SIGNED, EXHAUSTED])
def test_an_approval_of_outputs_that_have_changed_since_is_asked_for_again(text: str, tmp_path: Path) -> None:
    run = bench(tmp_path, text, {**WORK, "reviewer": [{"decision": "NO_GO"}]})
    assert run.run().status == "WAITING"
    first = run.store.item("run-1-build-1")
    assert first.context["outputs"] == {"out/a.md": sha256("good")}
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    run.decide("resolve")
    assert run.run(resume=True).status == "WAITING"
    withdrawn = run.store.item("run-1-build-1")
    assert (withdrawn.status, withdrawn.resolution_notes) == ("WITHDRAWN", "`out/a.md` changed after the question")
    again = run.store.item("run-1-build-2")
    assert (again.status, again.trigger, again.reason) == ("PENDING", first.trigger, first.reason)
    assert again.context["outputs"] == {"out/a.md": sha256("worse")}
    shown = describe(again, run.store.outputs("run-1", "build"))
    assert ("-good" in shown, "+worse" in shown) == (True, True)
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


def test_a_sign_off_of_evidence_that_has_changed_since_is_asked_for_again(tmp_path: Path) -> None:
    run = bench(tmp_path, SIGNED, WORK)
    run.run()
    with (tmp_path / "ready.md").open("a", encoding="utf-8") as evidence:
        evidence.write("\nNot on Fridays.\n")
    run.decide("resolve")
    assert run.run(resume=True).status == "WAITING"
    assert run.store.item("run-1-build-1").resolution_notes == "`ready.md` changed after the question"
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


@pytest.mark.parametrize("damage", ["", "removed"])
def test_nobody_can_sign_off_a_gate_whose_evidence_fails_now(damage: str, tmp_path: Path) -> None:
    run = bench(tmp_path, SIGNED, WORK)
    run.run()
    evidence = tmp_path / "junit.xml"
    good = evidence.read_text(encoding="utf-8")
    if damage:
        evidence.unlink()
    else:
        evidence.write_text('<testsuite><testcase name="a"><failure/></testcase></testsuite>', encoding="utf-8")
    for number in (1, 2, 3):
        run.decide("resolve")
        assert run.run(resume=True).status == "WAITING"
        assert run.store.item(f"run-1-build-{number}").status == "WITHDRAWN"
    assert run.store.item("run-1-build-3").resolution_notes.startswith("the gate says FAIL now: ")
    reports = run.store.item("run-1-build-4").context["gate_reports"]
    assert [each["verdict"] for each in reports] == ["PASS", "FAIL"]  # at the gate, and now
    evidence.write_text(good, encoding="utf-8")
    for _ in range(2):  # the first approval is of evidence that has changed
        run.decide("resolve")
        result = run.run(resume=True)
    assert result.status == "COMPLETED"


def test_a_folder_in_which_requirements_are_looked_for_is_not_part_of_what_is_signed(tmp_path: Path) -> None:
    wanted = "risk_tier: T2, require_coverage: true, evidence: {requirements: req.md, implemented: ., "
    run = bench(tmp_path, SIGNED.replace("risk_tier: T2, evidence: {", wanted), WORK)
    (tmp_path / "req.md").write_text("- REQ-1: it is good\n", encoding="utf-8")
    (tmp_path / "code.py").write_text("# REQ-1\n", encoding="utf-8")
    run.run()
    assert run.record().state.place == "sign_off"
    (tmp_path / "notes.txt").write_text("the database of the run is below this folder, too", encoding="utf-8")
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


def test_a_rejection_counts_whatever_has_changed(tmp_path: Path) -> None:
    run = bench(tmp_path, SIGNED, WORK)
    run.run()
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    run.decide("reject", "no")
    assert run.run(resume=True).status == "FAILED"


def test_a_question_shows_the_outputs_as_they_are_and_not_as_the_agent_left_them(tmp_path: Path) -> None:
    run = at(bench(tmp_path, SIGNED, WORK), "gate")
    (tmp_path / "out/a.md").write_text("corrected", encoding="utf-8")
    assert run.run(resume=True).status == "WAITING"
    assert "+corrected" in describe(run.store.item("run-1-build-1"), run.store.outputs("run-1", "build"))


def test_a_person_may_correct_outputs_where_the_gate_judges_them_again(tmp_path: Path) -> None:
    text = f"tasks: {{build: {{agent: dev, outputs: [out], overlays: {{policy_gate: {GATE}}}}}}}"
    files = {"junit.xml": "<testsuite/>", "ruff.json": "[]"}
    run = bench(tmp_path, text, {"dev": [{"files": {"out/a.py": "1"}}]}, files)
    assert run.run().waiting[0].trigger == "overlay_escalation"
    (tmp_path / "out/a.py").write_text("2", encoding="utf-8")
    (tmp_path / "junit.xml").write_text('<testsuite><testcase name="a"/></testsuite>', encoding="utf-8")
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


@pytest.mark.parametrize(("overlay", "place"), [(REVIEWED, "agentic_review"), (PAIRED, "paired_workflow")])
def test_an_approval_of_outputs_that_were_changed_before_it_took_effect_does_not_count(
    overlay: str, place: str, tmp_path: Path
) -> None:
    text = f"tasks: {{build: {{agent: dev, outputs: [out], overlays: {{hil: {{enabled: false}}, {overlay}}}}}}}"
    run = at(bench(tmp_path, text, WORK), f"decide:{place}")
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    result = run.run(resume=True)
    assert (result.status, result.reasons) == ("FAILED", {"build": "max_iterations_exceeded"})
    (warning,) = run.events("task.warning")
    assert warning.details["warning"] == "`out/a.md` changed after the review, which does not count any more"


def test_outputs_changed_while_they_were_reviewed_were_not_reviewed(tmp_path: Path) -> None:
    script = {**WORK, "reviewer": [{"decision": "GO", "files": {"out/a.md": "worse"}}]}
    text = f"tasks: {{build: {{agent: dev, outputs: [out], overlays: {{hil: {{enabled: false}}, {REVIEWED}}}}}}}"
    assert bench(tmp_path, text, script).run().status == "FAILED"


def test_a_task_is_not_completed_with_other_outputs_than_those_that_were_signed(tmp_path: Path) -> None:
    run = bench(tmp_path, SIGNED, WORK)
    run.run()
    run.decide("resolve")
    run.run(resume=True, one_step=True)
    assert run.record().state.place == "signed"
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    with pytest.raises(StoreError, match=r"`out/a\.md` changed after the approval: restore it, then resume"):
        run.run(resume=True)
    assert run.status() == "RUNNING"
    (tmp_path / "out/a.md").write_text("good", encoding="utf-8")
    assert run.run(resume=True).status == "COMPLETED"


def test_hidden_files_of_reviewed_folders_are_locked_and_caches_are_not(tmp_path: Path) -> None:
    text = f"tasks: {{build: {{agent: dev, outputs: [out], overlays: {{{REVIEWED}, policy_gate: {GATE}}}}}}}"
    run = at(bench(tmp_path, text, WORK), "gate")
    (tmp_path / "out/__pycache__").mkdir()
    (tmp_path / "out/__pycache__/a.pyc").write_text("cache", encoding="utf-8")
    (tmp_path / "out/.htaccess").write_text("hidden", encoding="utf-8")
    run.run(resume=True)
    assert run.store.reports("run-1")[0].reasons == ("locked output `out/.htaccess` was added after its review",)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda at: os.symlink("../elsewhere", at / "out/link"), "`out` contains `link`, a link to a folder or out"),
        (lambda at: os.symlink("/etc/passwd", at / "out/link"), "`out` contains `link`, a link to a folder or out"),
        (lambda at: os.mkfifo(at / "pipe"), "`pipe` is neither a file nor a folder"),
    ],
)
def test_outputs_that_can_not_be_locked_are_none(make: Any, why: str, tmp_path: Path) -> None:
    for name in ("elsewhere", "out"):
        (tmp_path / name).mkdir()
    make(tmp_path)
    output = "pipe" if "pipe" in why else "out"
    result = bench(tmp_path, f"tasks: {{build: {{agent: dev, outputs: [{output}]}}}}", WORK).run()
    assert (result.status, why in result.reasons["build"]) == ("FAILED", True)


def test_a_link_to_a_file_of_the_project_is_an_output(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.symlink("../ruff.json", tmp_path / "out/link")
    assert bench(tmp_path, "tasks: {build: {agent: dev, outputs: [out]}}", WORK).run().status == "COMPLETED"


def test_inputs_that_can_not_be_counted_fail_their_task_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rulewright_runtime.workflow.collectors.report_reading.MAX_FILES", 1)
    (tmp_path / "many").mkdir()
    for name in "ab":
        (tmp_path / "many" / name).write_text("", encoding="utf-8")
    run = bench(tmp_path, "tasks: {build: {agent: dev, inputs: [many]}, other: {agent: pe}}")
    result = run.run()
    assert result.tasks == {"build": "FAILED", "other": "COMPLETED"}
    assert result.reasons["build"] == "inputs: `many` can't be read"


def test_what_can_not_be_read_equals_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    monkeypatch.setattr(Path, "open", _refuse)
    unreadable = hashes(tmp_path, [Artifact("a")])
    assert unreadable == {"a": UNREADABLE}
    assert changed_paths(unreadable, unreadable) == ["a"]


def _refuse(*_: Any, **__: Any) -> Any:
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("change", ["delete from tasks", "update tasks set record = ?"])
def test_two_runs_at_work_on_one_task_do_not_overwrite_each_other(change: str, tmp_path: Path) -> None:
    """The lock is missing on some systems, and somebody may remove its file."""
    run = bench(tmp_path, SIGNED, WORK)

    def interfere(events: Any) -> None:
        if any(event.event_type == "context.assembled" for event in events):
            record = json.dumps({"state": {"place": "work", "used": []}})
            with sqlite3.connect(run.store.path) as other:
                other.execute(change, [record.encode()] * change.count("?"))
            other.close()

    with pytest.raises(StoreError, match="task `build` of `run-1` was changed by another process: resume the run"):
        run.run(publish=interfere)


CHAIN = f"""
tasks:
  build: {{agent: dev, outputs: [out], overlays: {{{REVIEWED}}}}}
  wait: {{agent: le, requires_human: true}}
  use: {{agent: pe, inputs: [out], dependencies: [build, wait]}}
"""


def test_an_input_that_was_changed_after_its_approval_is_reported(tmp_path: Path) -> None:
    run = bench(tmp_path, CHAIN, WORK)
    assert run.run().status == "WAITING"
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    (warning,) = run.events("task.warning")
    assert (warning.task_id, warning.details["warning"]) == (
        "use", "input `out/a.md` was changed after its approval in task `build`",
    )  # fmt: skip


def test_an_unchanged_approved_input_gives_no_warning(tmp_path: Path) -> None:
    run = bench(tmp_path, CHAIN, WORK)
    run.run()
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"
    assert run.events("task.warning") == []


def test_a_changed_workflow_does_not_keep_a_task_whose_approved_output_has_changed(tmp_path: Path) -> None:
    run = bench(tmp_path, CHAIN, WORK)
    run.run()
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    _, carried = carried_over(run.plan, run.store, run.settings, True)
    assert carried.restarted == {"build": "its approved output `out/a.md` has changed"}
    run.run(resume=True, changed=True)
    assert (tmp_path / "out/a.md").read_text(encoding="utf-8") == "good"


LOOP = "confidence_loop: {enabled: true, threshold: 1, max_iterations: 1, metrics: [{type: lint_score}]}"
LOOP_AND_GATE = f"tasks: {{build: {{agent: dev, outputs: [out], overlays: {{{LOOP}, policy_gate: {GATE}}}}}}}"


def accepted_by_a_person(folder: Path) -> Bench:
    """A run whose exhausted loop a person has accepted, before its gate."""
    run = bench(folder, LOOP_AND_GATE, WORK)
    run.run()
    run.decide("resolve")
    run.run(resume=True, one_step=True)
    return run


def test_a_person_may_correct_at_the_gate_what_a_person_has_accepted(tmp_path: Path) -> None:
    files = {"junit.xml": "<testsuite/>", "ruff.json": "[]"}
    run = bench(tmp_path, LOOP_AND_GATE, {"dev": [{"files": {"out/a.py": "1"}}]}, files)
    run.run()
    run.decide("resolve")
    assert [item.trigger for item in run.run(resume=True).waiting] == ["loop_exhaustion"]
    assert run.record().locked == {"out/a.py": sha256("1")}
    (tmp_path / "out/a.py").write_text("2", encoding="utf-8")
    (tmp_path / "junit.xml").write_text('<testsuite><testcase name="a"/></testsuite>', encoding="utf-8")
    run.decide("resolve")
    (item,) = run.run(resume=True).waiting
    assert item.context["outputs"] == {"out/a.py": sha256("2")}
    run.decide("resolve")
    assert run.run(resume=True).status == "COMPLETED"


def test_outputs_changed_again_after_a_person_has_decided_about_the_gate_are_not_completed(tmp_path: Path) -> None:
    run = accepted_by_a_person(tmp_path)
    (tmp_path / "out/a.md").write_text("shown", encoding="utf-8")
    (item,) = run.run(resume=True).waiting
    assert item.context["outputs"] == {"out/a.md": sha256("shown")}
    (tmp_path / "out/a.md").write_text("shown to nobody", encoding="utf-8")
    run.decide("resolve")
    assert run.run(resume=True).status == "WAITING"
    assert run.events("task.warning")[-1].details["warning"].endswith("`out/a.md` changed after the question")


def test_outputs_changed_between_their_acceptance_and_the_gate_fail_it(tmp_path: Path) -> None:
    run = accepted_by_a_person(tmp_path)
    assert run.record().state.place == "gate"
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    run.run(resume=True)
    assert run.store.reports("run-1")[0].reasons == ("locked output `out/a.md` was changed after its review",)


def test_a_person_is_shown_every_objection_of_the_gate(tmp_path: Path) -> None:
    run = accepted_by_a_person(tmp_path)
    (tmp_path / "out/a.md").write_text("worse", encoding="utf-8")
    (tmp_path / "junit.xml").unlink(missing_ok=True)
    (item,) = run.run(resume=True).waiting
    shown = describe(item)
    assert "  objection: locked output `out/a.md` was changed after its review\n" in shown
    assert shown.count("  objection: ") == 1  # the line of the missing evidence says the other


def test_a_database_behind_a_link_has_the_lock_of_its_target(tmp_path: Path) -> None:
    run = bench(tmp_path, SIGNED, WORK)
    os.symlink(run.store.path, tmp_path / "link.db")
    with Store(tmp_path / "link.db") as linked, run.store.run_lock() as ours:
        assert (ours, linked.is_run_active()) == (True, True)


def test_the_records_of_all_tasks_are_not_read_again_for_each_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reads(size: int) -> int:
        """How often a run of this many works with inputs reads all records."""
        read: list[str] = []
        works = "".join(f"  t{number}: {{agent: dev, inputs: [in.md]}}\n" for number in range(size))
        run = bench(write(tmp_path / str(size), {"in.md": "in"}), f"tasks:\n{works}")
        with monkeypatch.context() as patched:
            records = Store.records

            def counted(store: Store, run_id: str) -> Any:
                read.append(run_id)
                return records(store, run_id)

            patched.setattr(Store, "records", counted)
            assert run.run().status == "COMPLETED"
        return len(read)

    assert reads(6) == reads(2) > 0
