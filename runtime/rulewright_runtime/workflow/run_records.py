"""What a database of runs holds, read for people, resumed runs and exports."""

from __future__ import annotations

import sqlite3
from typing import Final, Literal, NamedTuple, TypeVar

import msgspec

from rulewright_runtime.english import ticked
from rulewright_runtime.processes.ancestry import Origin, Process, machine
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.database import Database, StoreError, converted, unpack
from rulewright_runtime.workflow.deciders import RunProcess, SignedDecision
from rulewright_runtime.workflow.events import Event
from rulewright_runtime.workflow.gate import GateReport
from rulewright_runtime.workflow.hil import OPEN, QueueError, QueueItem
from rulewright_runtime.workflow.task_context import TaskRecord

RunStatus = Literal["RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]
OVER: Final[frozenset[RunStatus]] = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
Log = Literal["gate_reports", "review_log"]
Kind = TypeVar("Kind")


class StoredWorkflow(msgspec.Struct, frozen=True):
    """A row of the table `runs`. A run whose process was killed is PAUSED."""

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


class _Lock(msgspec.Struct):
    """The part of a TaskRecord that is read for each other task."""

    locked: dict[str, str] | None = None


class OutputVersion(NamedTuple):
    """An output file as an iteration left it; `content` is None if it was too large to store."""

    iteration: int
    path: str
    sha256: str
    content: bytes | None


class RunRecords(Database):
    """The records of runs in an open database."""

    def run(self, run_id: str) -> StoredWorkflow:
        """Return the run `run_id`. Raises StoreError when it does not exist."""
        rows = self.rows("select * from runs where run_id = ?", run_id)
        if not rows:
            latest = self.rows("select run_id from runs order by number desc limit 5")
            names = ticked(row["run_id"] for row in latest)
            raise StoreError(f"unknown run `{run_id}`" + (f"; the latest are {names}" if names else ""))
        return self._stored(rows[0])

    def runs(self, workflow: str | None = None) -> list[StoredWorkflow]:
        """Return all runs, or those of one workflow, newest last."""
        rows = self.rows("select * from runs where ? is null or workflow = ? order by number", workflow, workflow)
        return [self._stored(row) for row in rows]

    def _stored(self, row: sqlite3.Row) -> StoredWorkflow:
        run = converted(row, StoredWorkflow)
        was_killed = run.status == "RUNNING" and not self.is_run_active()
        return msgspec.structs.replace(run, status="PAUSED") if was_killed else run

    def task_run(self, run_id: str, task_id: str) -> str:
        """Return the name of a task in a run; it stays the same when the plan changes. Raises StoreError when the run
        has no such task."""
        query = "select run_id || '.' || (position + 1) as name from tasks where run_id = ? and task_id = ?"
        for row in self.rows(query, run_id, task_id):
            return str(row["name"])
        raise StoreError(f"the database contains no task `{task_id}` of `{run_id}`")

    def records(self, run_id: str) -> dict[str, tuple[str, TaskRecord]]:
        """Return status and record of every task, in order."""
        rows = self.rows("select task_id, status, record from tasks where run_id = ? order by position", run_id)
        return {row["task_id"]: (row["status"], unpack(row["record"], TaskRecord)) for row in rows}

    def approved(self, run_id: str) -> dict[str, dict[str, str]]:
        """Return the hashes of the approved outputs, by path, of every completed task, in order."""
        query = "select task_id, record from tasks where run_id = ? and status = 'COMPLETED' order by position"
        locks = {row["task_id"]: unpack(row["record"], _Lock).locked for row in self.rows(query, run_id)}
        return {task_id: lock for task_id, lock in locks.items() if lock}

    def items(self, run_id: str | None = None, *, waiting: bool = False) -> list[QueueItem]:
        """Return the queue items, oldest first; with `waiting` only the open ones."""
        rows = self.rows("select id, body from hil_items where ? is null or run_id = ? order by number", run_id, run_id)
        items = [_item(row) for row in rows]
        return [item for item in items if item.status in OPEN] if waiting else items

    def item(self, item_id: str) -> QueueItem:
        """Return one queue item. Raises QueueError when it does not exist."""
        rows = self.rows("select id, body from hil_items where id = ?", item_id)
        if not rows:
            raise QueueError(f"unknown queue item `{item_id}`; `rulewright hil list --all` lists them")
        return _item(rows[0])

    def decisions(self, item_id: str) -> list[tuple[SignedDecision, Origin]]:
        """Return every decision about an item with its origin, in order."""
        rows = self.rows("select body, origin from decisions where item_id = ? order by number", item_id)
        return [(unpack(row["body"], SignedDecision), unpack(row["origin"], Origin)) for row in rows]

    def processes(self) -> list[RunProcess]:
        """Return the processes recorded by runs since this machine booted, in order."""
        query = "select role, boot, namespace, pid, started, name from processes where boot = ? order by number"
        return [
            RunProcess(row["role"], row["boot"], row["namespace"], Process(row["pid"], row["started"], row["name"]))
            for row in self.rows(query, machine().boot)
        ]

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

    def outputs(self, run_id: str, task_id: str) -> list[OutputVersion]:
        """Return every version of every output, in order."""
        query = (
            "select iteration, path, outputs.sha256, content from outputs left join contents using (sha256)"
            " where run_id = ? and task_id = ? order by outputs.number"
        )
        return [OutputVersion(*row) for row in self.rows(query, run_id, task_id)]

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
                    {"iteration": each.iteration, "path": each.path, "sha256": each.sha256}
                    for each in self.outputs(run_id, task_id)
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

    def _log(self, table: Log, run_id: str, task_id: str | None, kind: type[Kind]) -> list[Kind]:
        query = f"select body from {table} where run_id = ? and (? is null or task_id = ?) order by number"
        return [unpack(row["body"], kind) for row in self.rows(query, run_id, task_id, task_id)]


def _item(row: sqlite3.Row) -> QueueItem:
    item = unpack(row["body"], QueueItem)
    if item.id != row["id"]:
        raise QueueError(f"the database contains the question `{item.id}` in place of `{row['id']}`")
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
