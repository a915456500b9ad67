"""The database of runs: one SQLite file, in which every transition of a task is one transaction."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from rulewright_runtime.english import ticked
from rulewright_runtime.files import write_whole
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.processes import Origin, Process, ancestry, here, machine
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.database import Database, StoreError, pack, unpack
from rulewright_runtime.workflow.deciders import (
    Deciders,
    Role,
    RunProcess,
    SignedDecision,
    check_name,
    check_origin,
    check_signature,
    digest_of,
    names_of_agents,
)
from rulewright_runtime.workflow.events import Event, EventDraft
from rulewright_runtime.workflow.gate import GateReport
from rulewright_runtime.workflow.hil import OPEN, STATUS_AFTER, Move, QueueError, QueueItem, apply_decision
from rulewright_runtime.workflow.machine import MachineStep
from rulewright_runtime.workflow.task_context import NO_USAGE, AgentUsage, TaskRecord
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan, decode

LOG: Final = logging.getLogger("rulewright.workflow")
MAX_CONTENT: Final = 2**20  # bytes; a larger output is stored as a hash only, and reviewers can't compare its versions

RunStatus = Literal["RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]
OVER: Final[frozenset[RunStatus]] = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
Log = Literal["gate_reports", "review_log"]
Kind = TypeVar("Kind")


class StoredWorkflow(msgspec.Struct, frozen=True):
    """A row of the table `runs`."""

    number: int
    run_id: str
    workflow: str
    plan: bytes
    plan_hash: str
    status: RunStatus
    started_at: str
    finished_at: str | None
    tokens_used: int
    cost_usd: float
    warned: int


class TaskChange(msgspec.Struct, frozen=True):
    """What one transaction writes about a task. `before` is the stored record. `move` is None when the task stays where
    it is; `withdrawn` says why the question that it waited for is withdrawn."""

    task_id: str
    before: TaskRecord
    record: TaskRecord
    move: MachineStep | None = None
    events: tuple[EventDraft, ...] = ()
    item: QueueItem | None = None
    report: GateReport | None = None
    review: JsonObject | None = None
    outputs: tuple[tuple[str, bytes], ...] = ()
    usage: AgentUsage = NO_USAGE
    withdrawn: str = ""


class AgentCall(NamedTuple):
    """A call before it is made."""

    operation_id: str
    session_id: str
    agent: str
    purpose: str


class Store(Database):
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
            about = {"plan": encode(plan), "plan_hash": plan.hash, "status": "RUNNING", "started_at": now}
            _insert(db, "runs", number=number, run_id=run_id, workflow=plan.name, **about)
            rows = [(run_id, task, n, status, pack(record)) for n, (task, status, record) in enumerate(records)]
            db.executemany("insert into tasks values (?,?,?,?,?)", rows)
            details = {"tasks": [task.id for task in plan.tasks], "plan": plan.hash}
            self._write_events(db, run_id, plan.name, None, now, [EventDraft("engine.started", details)])
        return self.run(run_id)

    def run(self, run_id: str) -> StoredWorkflow:
        """Return the run `run_id`. Raises StoreError when it does not exist."""
        rows = self.rows("select * from runs where run_id = ?", run_id)
        if not rows:
            latest = self.rows("select run_id from runs order by number desc limit 5")
            names = ticked(row["run_id"] for row in latest)
            raise StoreError(f"unknown run `{run_id}`" + (f"; the latest are {names}" if names else ""))
        return msgspec.convert(dict(rows[0]), StoredWorkflow)

    def runs(self, workflow: str | None = None) -> list[StoredWorkflow]:
        """Return all runs, or those of one workflow, newest last."""
        rows = self.rows("select * from runs where ? is null or workflow = ? order by number", workflow, workflow)
        return [msgspec.convert(dict(row), StoredWorkflow) for row in rows]

    def finish(self, run_id: str, status: RunStatus, now: str, events: Sequence[EventDraft] = ()) -> list[Event]:
        """Store the run's status and its last events."""
        with self.transaction() as db:
            finished_at = now if status in OVER else None
            db.execute("update runs set status = ?, finished_at = ? where run_id = ?", (status, finished_at, run_id))
            return self._write_events(db, run_id, self.run(run_id).workflow, None, now, events)

    def replan(self, run_id: str, plan: WorkflowPlan) -> None:
        """Store the plan that the run continues with."""
        with self.transaction() as db:
            db.execute("update runs set plan = ?, plan_hash = ? where run_id = ?", (encode(plan), plan.hash, run_id))

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
            db.execute("update runs set plan = ?, plan_hash = ? where run_id = ?", (encode(plan), plan.hash, run_id))
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
            return self._write_events(db, run_id, plan.name, None, now, [event])

    def cancel(self, run_id: str, reason: str, by: str, now: str) -> list[Event]:
        """Cancel a run and withdraw its open queue items. Raises StoreError when the run has ended."""
        with self.transaction() as db:
            run = self.run(run_id)
            if run.status in OVER:
                raise StoreError(f"`{run_id}` is {run.status}: there is nothing to cancel")
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

    def task_run(self, run_id: str, task_id: str) -> str:
        """Return the name of a task in a run; it stays the same when the plan changes."""
        query = "select run_id || '.' || (position + 1) as name from tasks where run_id = ? and task_id = ?"
        return str(self.rows(query, run_id, task_id)[0]["name"])

    def records(self, run_id: str) -> dict[str, tuple[str, TaskRecord]]:
        """Return status and record of every task, in order."""
        rows = self.rows("select task_id, status, record from tasks where run_id = ? order by position", run_id)
        return {row["task_id"]: (row["status"], unpack(row["record"], TaskRecord)) for row in rows}

    def commit(self, run_id: str, change: TaskChange, now: str) -> list[Event]:
        """Write record, transition, events, queue item, gate report, review and outputs in one transaction.

        Raises QueueError when the queue item can't be written, StoreError when the database can't be written, or the
        stored record is not the one that the change is based on.
        """
        move = change.move
        with self.transaction() as db:
            self._check_unchanged(run_id, change)
            db.execute(
                "update tasks set record = ?, status = coalesce(?, status) where run_id = ? and task_id = ?",
                (pack(change.record), move and move.after, run_id, change.task_id),
            )
            if move is not None:
                taken = {"source": move.transition.source, "event": move.transition.event, "target": move.state.place}
                after = {"before": move.before, "after": move.after, "undecided": "; ".join(move.undecided)}
                _insert(db, "transitions", run_id=run_id, task_id=change.task_id, **taken, **after)
            if change.report is not None:
                _insert(db, "gate_reports", run_id=run_id, task_id=change.task_id, body=pack(change.report))
            if change.review is not None:
                self._log_review(db, run_id, change.task_id, change.review)
            self._write_outputs(db, run_id, change)
            if change.usage != NO_USAGE:
                db.execute(
                    "update runs set cost_usd = cost_usd + ?, tokens_used = tokens_used + ? where run_id = ?",
                    (change.usage.cost_usd, change.usage.tokens, run_id),
                )
            written = self._write_events(db, run_id, self.run(run_id).workflow, change.task_id, now, change.events)
            if change.withdrawn and change.before.item is not None:
                self._withdraw_item(db, self.item(change.before.item), now, change.withdrawn)
            if change.item is not None:
                self._queue_item(db, change.item)
        return written

    def _check_unchanged(self, run_id: str, change: TaskChange) -> None:
        """Raise StoreError when another process has changed or removed the task: without a lock, as on some systems, or
        after the file of the lock was removed, two runs may work on it."""
        rows = self.rows("select record from tasks where run_id = ? and task_id = ?", run_id, change.task_id)
        if not rows or pack(unpack(rows[0]["record"], TaskRecord)) != pack(change.before):
            raise StoreError(f"task `{change.task_id}` of `{run_id}` was changed by another process: resume the run")

    def add_events(
        self, run_id: str, now: str, events: Sequence[EventDraft], *, warned: int | None = None
    ) -> list[Event]:
        """Write events about the run itself, and its budget warning level where `warned` is given."""
        with self.transaction() as db:
            if warned is not None:
                db.execute("update runs set warned = ? where run_id = ?", (warned, run_id))
            return self._write_events(db, run_id, self.run(run_id).workflow, None, now, events)

    def begin_attempt(self, run_id: str, task_id: str, call: AgentCall, now: str) -> str:
        """Record a call before it is made. Returns its attempt id, which is unique."""
        with self.transaction() as db:
            query = "select count(*) from attempts where operation_id = ?"
            number = db.execute(query, (call.operation_id,)).fetchone()[0] + 1
            attempt_id = f"{call.operation_id}:attempt_{number}"
            of_task = {"run_id": run_id, "task_id": task_id, "attempt_id": attempt_id, "started_at": now}
            _insert(db, "attempts", **of_task, **call._asdict())
        return attempt_id

    # people

    def items(self, run_id: str | None = None, *, waiting: bool = False) -> list[QueueItem]:
        """Return the queue items, oldest first; with `waiting` only the open ones."""
        rows = self.rows("select id, body from hil_items where ? is null or run_id = ? order by number", run_id, run_id)
        items = [_item(row) for row in rows]
        return [item for item in items if item.status in OPEN] if waiting else items

    def item(self, item_id: str) -> QueueItem:
        """Return one queue item. Raises QueueError when it does not exist."""
        rows = self.rows("select id, body from hil_items where id = ?", item_id)
        if not rows:
            raise QueueError(f"unknown queue item `{item_id}`")
        return _item(rows[0])

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
                self._write_events(db, item.run_id, item.workflow, item.task_id, now, [EventDraft(kind, details)])
            self._mirror(item)
        return item

    def decisions(self, item_id: str) -> list[tuple[SignedDecision, Origin]]:
        """Return every decision about an item with its origin, in order."""
        rows = self.rows("select body, origin from decisions where item_id = ? order by number", item_id)
        return [(unpack(row["body"], SignedDecision), unpack(row["origin"], Origin)) for row in rows]

    def check_decided(self, item: QueueItem) -> None:
        """Raise QueueError unless the item's decision is on record, and signed where signatures are required: writing
        into the database directly must not decide an item."""
        decisions = [each for each, _ in self.decisions(item.id) if each.move != "ack"]
        stated = (digest_of(item), item.resolved_by, item.resolution_notes, item.resolved_at)
        if len(decisions) != 1:
            raise QueueError(f"`{item.id}` is {item.status}, but no such decision is on record")
        decision = decisions[0]
        if (decision.digest, decision.by, decision.notes.strip(), decision.at) != stated:
            raise QueueError(f"`{item.id}` is {item.status}, but no such decision is on record")
        if STATUS_AFTER[decision.move] != item.status:
            raise QueueError(f"`{item.id}` is {item.status}, but the decision on record is `{decision.move}`")
        if self.deciders.signers:
            check_signature(decision, self.deciders.signers)

    # processes

    def add_process(self, role: Role, pid: int | None = None) -> None:
        """Record a process of ours (default: this one), so that its descendants can't take decisions."""
        processes, host = ancestry(pid), machine()
        if not processes:
            return
        with self.transaction() as db:
            _insert(db, "processes", role=role, **msgspec.structs.asdict(host), **msgspec.structs.asdict(processes[0]))

    def processes(self) -> list[RunProcess]:
        """Return the processes recorded by runs since this machine booted, in order."""
        query = "select role, boot, namespace, pid, started, name from processes where boot = ? order by number"
        return [
            RunProcess(row["role"], row["boot"], row["namespace"], Process(row["pid"], row["started"], row["name"]))
            for row in self.rows(query, machine().boot)
        ]

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

    # log
    def events(self, run_id: str, *, by_task: bool = False) -> list[Event]:
        """Return the events in order of time. `by_task` gives an order that does not depend on concurrency: the start
        of the run, then task by task in the order of the plan, then the rest."""
        rows = self.rows("select body from events where run_id = ? order by number", run_id)
        events = [unpack(row["body"], Event) for row in rows]
        if not by_task:
            return events
        order = {task: number for number, task in enumerate(self.records(run_id))}

        def position(event: Event) -> int:
            return -1 if event.event_type == "engine.started" else order.get(event.task_id or "", len(order))

        return sorted(events, key=position)

    def transitions(self, run_id: str, task_id: str | None = None) -> list[JsonObject]:
        """Return every transition of every task, in order."""
        query = "select * from transitions where run_id = ? and (? is null or task_id = ?) order by number"
        return [dict(row) for row in self.rows(query, run_id, task_id, task_id)]

    def reports(self, run_id: str, task_id: str | None = None) -> list[GateReport]:
        """Return the gate reports, in order."""
        return self._log("gate_reports", run_id, task_id, GateReport)

    def review_log(self, run_id: str, task_id: str) -> JsonObject:
        """Return the review of a task: an entry for each iteration, and the final decision."""
        entries = self._log("review_log", run_id, task_id, JsonObject)
        final = entries[-1]["decision"] if entries else None
        completed_at = entries[-1]["timestamp"] if final == "GO" else None
        log = {"task_id": task_id, "overlay": "agentic_review", "iterations": entries}
        return {**log, "final_decision": final, "completed_at": completed_at}

    def outputs(self, run_id: str, task_id: str) -> list[tuple[int, str, str, bytes | None]]:
        """Return (iteration, path, sha256, content) of each output, in order; content is None when too large."""
        query = (
            "select iteration, path, outputs.sha256, content from outputs left join contents using (sha256)"
            " where run_id = ? and task_id = ? order by outputs.number"
        )
        return [tuple(row) for row in self.rows(query, run_id, task_id)]

    def attempts(self, run_id: str) -> list[JsonObject]:
        """Return every attempted call, in order."""
        return [dict(row) for row in self.rows("select * from attempts where run_id = ? order by number", run_id)]

    def export(self, run_id: str) -> JsonObject:
        """Return the whole run as plain data, with tasks in the order of the plan."""
        run = msgspec.to_builtins(self.run(run_id))
        del run["plan"]
        tasks = {}
        for task_id, (status, record) in self.records(run_id).items():
            tasks[task_id] = {
                "status": status,
                "record": _plain(record),
                "transitions": [
                    {k: v for k, v in step.items() if k not in {"number", "run_id", "task_id"}}
                    for step in self.transitions(run_id, task_id)
                ],
                "gate_reports": [msgspec.to_builtins(report) for report in self.reports(run_id, task_id)],
                "review_log": self.review_log(run_id, task_id),
                "outputs": [
                    {"iteration": iteration, "path": path, "sha256": digest}
                    for iteration, path, digest, _ in self.outputs(run_id, task_id)
                ],
            }
        events = [msgspec.json.decode(event.as_line()) for event in self.events(run_id, by_task=True)]
        items = sorted(self.items(run_id), key=lambda item: item.id)
        return {
            "run": run,
            "tasks": tasks,
            "hil": [msgspec.to_builtins(item) for item in items],
            "decisions": [_decision_record(*each) for item in items for each in self.decisions(item.id)],
            "events": events,
        }

    # internals
    def _write_events(
        self,
        db: sqlite3.Connection,
        run_id: str,
        workflow: str,
        task_id: str | None,
        now: str,
        events: Sequence[EventDraft],
    ) -> list[Event]:
        written = []
        where = "select run_id || '.' || (position + 1) from tasks where run_id = ? and task_id = ?"
        task_run = None if task_id is None or not events else db.execute(where, (run_id, task_id)).fetchone()[0]
        for each in events:
            event = Event(
                run_id=run_id,
                task_run_id=task_run,
                timestamp=now,
                level=each.level,
                event_type=each.event_type,
                workflow=workflow,
                task_id=task_id,
                agent=each.agent,
                details=each.details,
            )
            _insert(db, "events", run_id=run_id, task_id=task_id, event_type=each.event_type, body=pack(event))
            written.append(event)
        return written

    def _log(self, table: Log, run_id: str, task_id: str | None, kind: type[Kind]) -> list[Kind]:
        query = f"select body from {table} where run_id = ? and (? is null or task_id = ?) order by number"
        return [unpack(row["body"], kind) for row in self.rows(query, run_id, task_id, task_id)]

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
            digest = hashlib.sha256(content).hexdigest()
            if len(content) <= MAX_CONTENT:
                db.execute("insert or ignore into contents values (?,?)", (digest, content))
            of_task = {"run_id": run_id, "task_id": change.task_id, "iteration": change.record.iteration}
            _insert(db, "outputs", **of_task, path=path, sha256=digest)


def _insert(db: sqlite3.Connection, table: str, **row: object) -> None:
    db.execute(f"insert into {table} ({','.join(row)}) values ({','.join('?' * len(row))})", (*row.values(),))


def _item(row: sqlite3.Row) -> QueueItem:
    item = unpack(row["body"], QueueItem)
    if item.id != row["id"]:
        raise QueueError(f"the database holds the question `{item.id}` in place of `{row['id']}`")
    return item


def _plain(record: TaskRecord) -> JsonObject:
    """Return the record as plain data: `confidence` as a number, `confidence_exact` as the stored fraction."""
    exported: JsonObject = msgspec.to_builtins(record)
    score = record.context.score
    context = exported["context"]
    context["confidence_exact"] = context["confidence"]
    context["confidence"] = None if score is None else float(score)
    return exported


def _decision_record(decision: SignedDecision, origin: Origin) -> JsonObject:
    """Return a decision for an export: without process ids, which are valid on one machine only, and without the
    digest, which a verifier of the signature computes from the item."""
    where = {"via": origin.via, "user": origin.user, "host": origin.host, "terminal": origin.terminal}
    fields = {name: value for name, value in msgspec.to_builtins(decision).items() if name != "digest"}
    return {**fields, **where, "programs": [process.name for process in origin.processes]}


def _queue_failure(error: Exception) -> QueueError:
    LOG.critical("the human queue can't be written: %s", error)
    return QueueError(f"the human queue can't be written: {error}")
