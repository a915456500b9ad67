"""The database of runs: one SQLite file, in which every transition of a task is one transaction."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from rulewright_runtime.digests import sha256_of_much
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.processes.ancestry import Origin, ancestry, here, machine
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.database import StoreError, pack, unpack
from rulewright_runtime.workflow.deciders import (
    Deciders,
    Role,
    SignedDecision,
    check_name,
    check_origin,
    check_signature,
    digest_of,
    names_of_agents,
)
from rulewright_runtime.workflow.events import Event, EventDraft
from rulewright_runtime.workflow.gate import GateReport
from rulewright_runtime.workflow.hil import STATUS_AFTER, Move, QueueError, QueueItem, apply_decision
from rulewright_runtime.workflow.machine import MachineStep
from rulewright_runtime.workflow.run_records import OVER, RunRecords, RunStatus, StoredWorkflow
from rulewright_runtime.workflow.task_context import NO_USAGE, AgentUsage, TaskRecord
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan, decode

LOG: Final = logging.getLogger("rulewright.workflow")
MAX_CONTENT: Final = 2**20  # bytes; a larger output is stored as a hash only, and reviewers can't compare its versions


class TaskChange(Struct, frozen=True, kw_only=True):
    """What one transaction writes about a task. `before` is the stored record. `move` is None when the task stays where
    it is; `withdrawn` says why the question that it waited for is withdrawn."""

    task: TaskPlan
    before: TaskRecord
    record: TaskRecord
    events: tuple[EventDraft, ...] = ()
    report: GateReport | None = None
    review: JsonObject | None = None
    outputs: Sequence[tuple[str, bytes]] = ()
    usage: AgentUsage = NO_USAGE
    move: MachineStep | None = None
    item: QueueItem | None = None
    withdrawn: str = ""


class Store(RunRecords):
    """An open database of runs, safe to share between threads; other processes may decide queue items meanwhile."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        queue_path: str | os.PathLike[str] | None = None,
        deciders: Deciders | None = None,
    ) -> None:
        """Open or create the database at `path`. `queue_path` mirrors queue items as JSON files; `deciders` adds to
        what the plans of the runs say about who may decide. Raises StoreError."""
        super().__init__(path)
        self.deciders = Deciders() if deciders is None else deciders
        self._queue = None if not queue_path else Path(queue_path)

    # runs

    def begin(self, plan: WorkflowPlan, records: Sequence[tuple[str, str, TaskRecord]], now: str) -> StoredWorkflow:
        """Create a run of `plan`. `records` holds id, status and record of each task, in order."""
        with self.transaction() as db:
            number = db.execute("select coalesce(max(number), 0) + 1 from runs").fetchone()[0]
            run_id = f"run-{number}"
            about = {"plan": b"", "plan_hash": "", "status": "PAUSED", "started_at": now}
            _insert(db, "runs", number=number, run_id=run_id, workflow=plan.name, **about)
            self.replan(run_id, plan)
            rows = [(run_id, task, n, status, pack(record)) for n, (task, status, record) in enumerate(records)]
            db.executemany("insert into tasks values (?,?,?,?,?)", rows)
            details = {"tasks": [task.id for task in plan.tasks], "plan": plan.hash}
            self._write_events(db, run_id, None, now, [EventDraft("engine.started", details)])
        return self.run(run_id)

    def finish(self, run_id: str, status: RunStatus, now: str, events: Sequence[EventDraft] = ()) -> list[Event]:
        with self.transaction() as db:
            finished_at = now if status in OVER else None
            db.execute("update runs set status = ?, finished_at = ? where run_id = ?", (status, finished_at, run_id))
            return self._write_events(db, run_id, None, now, events)

    def replan(self, run_id: str, plan: WorkflowPlan) -> None:
        """Store the plan that the run continues with. Runs that were killed before are PAUSED, and the queue is
        mirrored again: a kill may have left a file of an item or decision that was not stored."""
        with self.transaction() as db:
            db.execute("update runs set status = 'PAUSED' where status = 'RUNNING'")
            query = "update runs set plan = ?, plan_hash = ?, status = 'RUNNING', finished_at = null where run_id = ?"
            db.execute(query, (encode(plan), plan.hash, run_id))
            for item in self.items():
                self._mirror(item)

    def change(
        self,
        run_id: str,
        plan: WorkflowPlan,
        records: Mapping[str, tuple[str, TaskRecord]],
        removed: Sequence[str],
        now: str,
        event: EventDraft,
    ) -> list[Event]:
        """Continue the run with another plan. `records` holds status and record of each task that is new or restarted;
        open queue items of these tasks and of `removed` ones are withdrawn."""
        with self.transaction() as db:
            self.replan(run_id, plan)
            for task_id in removed:
                db.execute("delete from tasks where run_id = ? and task_id = ?", (run_id, task_id))
            for task_id, (status, record) in records.items():
                last = "select coalesce(max(position), -1) + 1 from tasks where run_id = ?"
                position = db.execute(last, (run_id,)).fetchone()[0]
                db.execute(
                    "insert into tasks values (?,?,?,?,?) on conflict (run_id, task_id)"
                    " do update set status = excluded.status, record = excluded.record",
                    (run_id, task_id, position, status, pack(record)),
                )
            self._withdraw(db, run_id, {*records, *removed}, now, "the workflow has changed")
            return self._write_events(db, run_id, None, now, [event])

    def cancel(self, run_id: str, reason: str, by: str, now: str) -> list[Event]:
        """Cancel a run and withdraw its open queue items. Raises StoreError when the run has ended."""
        with self.transaction() as db:
            run = self.run(run_id)
            if run.status in OVER:
                raise StoreError(f"`{run_id}` is {run.status}, so it can't be cancelled")
            self._withdraw(db, run_id, set(self.records(run_id)), now, f"`{run_id}` was cancelled")
            cancelled = EventDraft("engine.cancelled", {"by": by, "reason": reason}, "warning")
            return self.finish(run_id, "CANCELLED", now, [cancelled])

    def _withdraw(self, db: sqlite3.Connection, run_id: str, tasks: Collection[str], now: str, why: str) -> None:
        for item in self.items(run_id, waiting=True):
            if item.task_id in tasks:
                self._withdraw_item(db, item, now, why)

    def _withdraw_item(self, db: sqlite3.Connection, item: QueueItem, now: str, why: str) -> None:
        item = msgspec.structs.replace(item, status="WITHDRAWN", resolved_at=now, resolution_notes=why)
        db.execute("update hil_items set status = ?, body = ? where id = ?", (item.status, pack(item), item.id))
        self._mirror(item)

    # tasks

    def commit(self, run_id: str, change: TaskChange, now: str) -> list[Event]:
        """Write record, transition, events, queue item, gate report, review and outputs in one transaction.

        Raises QueueError when the queue item can't be written, StoreError when the database can't be written, or the
        stored record is not the one that the change is based on.
        """
        move, task_id = change.move, change.task.id
        with self.transaction() as db:
            self._check_unchanged(run_id, change)
            db.execute(
                "update tasks set record = ?, status = coalesce(?, status) where run_id = ? and task_id = ?",
                (pack(change.record), move and move.after, run_id, task_id),
            )
            if move is not None:
                taken = {"source": move.transition.source, "event": move.transition.event, "target": move.state.place}
                after = {"before": move.before, "after": move.after, "undecided": "; ".join(move.undecided)}
                _insert(db, "transitions", run_id=run_id, task_id=task_id, **taken, **after)
            if change.report is not None:
                _insert(db, "gate_reports", run_id=run_id, task_id=task_id, body=pack(change.report))
            if change.review is not None:
                self._log_review(db, run_id, task_id, change.review)
            self._write_outputs(db, run_id, change)
            if change.usage != NO_USAGE:
                db.execute(
                    "update runs set cost_usd = cost_usd + ?, tokens_used = tokens_used + ? where run_id = ?",
                    (change.usage.cost_usd, change.usage.tokens, run_id),
                )
            written = self._write_events(db, run_id, task_id, now, change.events)
            if change.withdrawn and change.before.item is not None:
                self._withdraw_item(db, self.item(change.before.item), now, change.withdrawn)
            if change.item is not None:
                self._queue_item(db, change.item)
        return written

    def _check_unchanged(self, run_id: str, change: TaskChange) -> None:
        """Raise StoreError when another process has changed or removed the task: without a lock, as on some systems, or
        after the file of the lock was removed, two runs may work on it."""
        task_id = change.task.id
        rows = self.rows("select record from tasks where run_id = ? and task_id = ?", run_id, task_id)
        if not rows or pack(unpack(rows[0]["record"], TaskRecord)) != pack(change.before):
            raise StoreError(f"task `{task_id}` of `{run_id}` was changed by another process: resume the run")

    def add_events(self, run_id: str, now: str, events: Sequence[EventDraft], *, warned: int | None) -> list[Event]:
        """Write events about the run itself, and its budget warning level where `warned` is given."""
        with self.transaction() as db:
            if warned is not None:
                db.execute("update runs set warned = ? where run_id = ?", (warned, run_id))
            return self._write_events(db, run_id, None, now, events)

    def begin_attempt(self, run_id: str, task_id: str, now: str, operation_id: str, **call: str) -> str:
        """Record a call of an agent, with its session and purpose, before it is made. Returns its unique attempt id."""
        with self.transaction() as db:
            query = "select count(*) from attempts where operation_id = ?"
            number = db.execute(query, (operation_id,)).fetchone()[0] + 1
            attempt_id = f"{operation_id}:attempt_{number}"
            of_task = {"run_id": run_id, "task_id": task_id, "operation_id": operation_id, "attempt_id": attempt_id}
            _insert(db, "attempts", **of_task, **call, started_at=now)
        return attempt_id

    # people

    def decide(
        self,
        item_id: str,
        move: Move,
        *,
        by: str,
        notes: str = "",
        now: str,
        signature: str = "",
        origin: Origin | None = None,
    ) -> QueueItem:
        """Take one decision. `origin` says where it was taken (default: in this process).

        Raises QueueError when the item is already decided (of two people only one decides), `by` is the name of an
        agent, the process was started by a run, or a required signature is missing or not that of `by`.
        """
        origin = here("program") if origin is None else origin
        run_active = self.is_run_active()
        with self.transaction() as db:
            open_item = self.item(item_id)
            item = apply_decision(open_item, move, by, notes, now)
            check_name(by, self.deciders.agents | names_of_agents(decode(self.run(item.run_id).plan)))
            check_origin(origin, self.processes(), run_active=run_active)
            decision = SignedDecision(item.id, digest_of(open_item), move, by, notes, now, signature)
            if self.deciders.signers and move != "ack":
                check_signature(decision, self.deciders.signers)
            _insert(db, "decisions", item_id=item.id, body=pack(decision), origin=pack(origin))
            db.execute("update hil_items set status = ?, body = ? where id = ?", (item.status, pack(item), item.id))
            if move != "ack":
                kind = "hil.resolved" if move == "resolve" else "hil.rejected"
                details = {"item": item.id, "trigger": item.trigger, "resolved_by": by, "notes": item.resolution_notes}
                self._write_events(db, item.run_id, item.task_id, now, [EventDraft(kind, details)])
            self._mirror(item)
        return item

    def check_decided(self, item: QueueItem) -> None:
        """Raise QueueError unless the item's decision is on record, and signed where signatures are required: writing
        into the database directly must not decide an item."""
        decisions = [each for each, _ in self.decisions(item.id) if each.move != "ack"]
        stated = (digest_of(item), item.status, item.resolved_by, item.resolution_notes, item.resolved_at)
        on_record = [(each.digest, STATUS_AFTER[each.move], each.by, each.notes.strip(), each.at) for each in decisions]
        if on_record != [stated]:
            raise QueueError(f"`{item.id}` is {item.status}, but no such decision is on record")
        if self.deciders.signers:
            try:
                check_signature(decisions[0], self.deciders.signers)
            except QueueError as error:
                raise QueueError(f"the decision about `{item.id}` does not count: {error}") from None

    # processes

    def add_process(self, role: Role, pid: int | None = None) -> None:
        """Record a process of ours (default: this one), so that its descendants can't take decisions."""
        processes, host = ancestry(pid), machine()
        if not processes:
            return
        with self.transaction() as db:
            _insert(db, "processes", role=role, **msgspec.structs.asdict(host), **msgspec.structs.asdict(processes[0]))

    def _queue_item(self, db: sqlite3.Connection, item: QueueItem) -> None:
        try:
            number = db.execute("select coalesce(max(number), 0) + 1 from hil_items").fetchone()[0]
            about = {"run_id": item.run_id, "task_id": item.task_id, "status": item.status, "body": pack(item)}
            _insert(db, "hil_items", id=item.id, number=number, **about)
        except sqlite3.Error as error:
            raise _queue_failure(error) from error
        self._mirror(item)

    def _mirror(self, item: QueueItem) -> None:
        if self._queue is None:
            return
        try:
            self._queue.mkdir(parents=True, exist_ok=True)
            target = self._queue / f"{quote(item.id, safe='')}.json"  # quoted: an id can't lead out of the folder
            write_whole(target, msgspec.json.format(pack(item), indent=2) + b"\n")
        except OSError as error:
            raise _queue_failure(error) from error

    def _write_events(
        self, db: sqlite3.Connection, run_id: str, task_id: str | None, now: str, events: Sequence[EventDraft]
    ) -> list[Event]:
        written: list[Event] = []
        if not events:
            return written
        task_run = None if task_id is None else self.task_run(run_id, task_id)
        about: JsonObject = {
            "run_id": run_id,
            "task_run_id": task_run,
            "task_id": task_id,
            "workflow": self.run(run_id).workflow,
        }
        for each in events:
            event = Event(**about, timestamp=now, **msgspec.structs.asdict(each))
            _insert(db, "events", run_id=run_id, task_id=task_id, event_type=each.event_type, body=pack(event))
            written.append(event)
        return written

    def _log_review(self, db: sqlite3.Connection, run_id: str, task_id: str, entry: JsonObject) -> None:
        """Append to the review log. A failure is logged and does not stop the run."""
        db.execute("savepoint review")
        try:
            _insert(db, "review_log", run_id=run_id, task_id=task_id, body=pack(entry))
        except sqlite3.Error as error:
            db.execute("rollback to review")
            LOG.warning("the review log of `%s` can't be written: %s", task_id, error)
        db.execute("release review")

    def _write_outputs(self, db: sqlite3.Connection, run_id: str, change: TaskChange) -> None:
        for path, content in change.outputs:
            digest = sha256_of_much(content).hexdigest()
            if len(content) <= MAX_CONTENT:
                db.execute("insert or ignore into contents values (?,?)", (digest, content))
            of_task = {"run_id": run_id, "task_id": change.task.id, "iteration": change.record.iteration}
            _insert(db, "outputs", **of_task, path=path, sha256=digest)


def _insert(db: sqlite3.Connection, table: str, **row: object) -> None:
    db.execute(f"insert into {table} ({','.join(row)}) values ({','.join('?' * len(row))})", (*row.values(),))


def _queue_failure(error: Exception) -> QueueError:
    LOG.critical("the human queue can't be written: %s", error)
    return QueueError(f"the human queue can't be written: {error}")
