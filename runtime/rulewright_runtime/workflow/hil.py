"""The human queue: items that wait for a person's decision; each takes one."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.report.text import moment
from rulewright_runtime.strict_json import JsonObject

Status = Literal["PENDING", "ACKED", "RESOLVED", "REJECTED", "WITHDRAWN"]
OPEN: Final[frozenset[Status]] = frozenset({"PENDING", "ACKED"})
Move = Literal["ack", "resolve", "reject"]
STATUS_AFTER: Final[dict[Move, Status]] = {"ack": "ACKED", "resolve": "RESOLVED", "reject": "REJECTED"}


class QueueError(RuntimeFailure):
    """A queue that can't be written or read, or a refused decision."""


class QueueItem(msgspec.Struct, frozen=True):
    """A question to a person; WITHDRAWN when the run continued without an answer, or the outputs have changed since.

    `context` holds `task_definition`, `loop_history`, `overlay_state`, `gate_reports` (possibly empty), and once the
    task has worked `outputs`: the hash of each file that the question is about.
    """

    id: str
    task_id: str
    trigger: str
    reason: str
    status: Status
    context: JsonObject
    created_at: str
    run_id: str
    workflow: str
    acked_at: str | None = None
    acked_by: str | None = None
    resolved_at: str | None = None
    resolved_by: str | None = None
    resolution_notes: str = ""


def apply_decision(item: QueueItem, move: Move, by: str, notes: str, now: str) -> QueueItem:
    """Return the item after the decision. Raises QueueError when it is already decided, `by` is empty, or the
    reason is missing."""
    if item.status == "WITHDRAWN":
        raise QueueError(f"`{item.id}` is WITHDRAWN: {item.resolution_notes}")
    if item.status not in OPEN:
        who, at = item.resolved_by or "a person", moment(item.resolved_at)
        raise QueueError(f"`{item.id}` is {item.status} already: {who} decided at {at}")
    if not folded_name(by):
        raise QueueError("a decision needs the name of the person who takes it")
    if move == "ack":
        if item.status == "ACKED":
            raise QueueError(f"`{item.id}` is ACKED already, by {item.acked_by}")
        return msgspec.structs.replace(item, status="ACKED", acked_at=now, acked_by=by)
    if not folded_name(notes):
        raise QueueError("a decision needs a reason")
    return msgspec.structs.replace(
        item, status=STATUS_AFTER[move], resolved_at=now, resolved_by=by, resolution_notes=notes.strip()
    )
