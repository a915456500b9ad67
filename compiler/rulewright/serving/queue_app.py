"""The part of the local site for the queue of decisions."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote

from markupsafe import Markup
from msgspec import Struct

from rulewright.web.rendering import LOCAL, PageFrame
from rulewright.web.server import LocalServer, RefusedError, Request, Response, local_page, sender
from rulewright_runtime.workflow.hil import OPEN, STATUS_AFTER, QueueError, QueueItem
from rulewright_runtime.workflow.hil_text import changes, limits_of_approval, objections
from rulewright_runtime.workflow.run_context import utc_now
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_records import OutputVersion

ITEM: Final = "/item/"


class QueueApp(Struct, frozen=True):
    """The queue of `store`, below the path `at`; `reviewer` is the name that the form suggests."""

    store: Store
    reviewer: str = ""
    at: str = ""

    def get(self, request: Request) -> Response:
        """Return the page of the queue or of an item. Raises RefusedError."""
        if request.path == "/":
            return Response(queue_page(self.store.items(), self.at))
        if request.path.startswith(ITEM):
            return Response(self._item_page(unquote(request.path.removeprefix(ITEM)), request.token))
        raise RefusedError(HTTPStatus.NOT_FOUND, "page not found")

    def post(self, request: Request) -> Response:
        """Take a decision about an item. Raises RefusedError."""
        if not request.path.startswith(ITEM):
            raise RefusedError(HTTPStatus.NOT_FOUND, "nothing waits for a decision here")
        item_id, move = unquote(request.path.removeprefix(ITEM)), request.form.get("move", "")
        by, notes = request.form.get("by", "").strip(), request.form.get("notes", "").strip()
        if move not in STATUS_AFTER:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "a decision is `ack`, `resolve` or `reject`")
        try:
            origin = sender(request.connection, self.store.is_run_active)
            self.store.decide(item_id, move, by=by, notes=notes, now=utc_now(), origin=origin)
        except QueueError as error:
            page = self._item_page(item_id, request.token, str(error), notes, by)
            is_decided = self.store.item(item_id).status not in OPEN
            return Response(page, HTTPStatus.CONFLICT if is_decided else HTTPStatus.UNPROCESSABLE_ENTITY)
        return Response(location=f"{self.at}{ITEM}{quote(item_id, safe='')}")

    def _item_page(self, item_id: str, token: str, problem: str = "", notes: str = "", by: str = "") -> str:
        try:
            item = self.store.item(item_id)
        except QueueError as error:
            raise RefusedError(HTTPStatus.NOT_FOUND, str(error)) from None
        versions = self.store.outputs(item.run_id, item.task_id)
        form = {"token": token, "reviewer": by or self.reviewer, "problem": problem, "notes": notes}
        return item_page(item, versions, self.at, signed=bool(self.store.deciders.signers), **form)


def serve(store: Store, *, port: int = 0, reviewer: str = "") -> LocalServer:
    """Return a server for the queue of `store`; the form suggests `reviewer`. Raises OSError for a taken port."""
    return LocalServer({"": QueueApp(store, reviewer)}, port)


def _page(name: str, at: str, **values: object) -> str:
    home = Markup('<a href="/">Rulewright</a>') if at else Markup('<a href="/">Waiting for people</a>')
    return local_page("queue.html", PageFrame(True, home, LOCAL), page=name, at=at, **values)


def queue_page(items: Sequence[QueueItem], at: str) -> str:
    """Return the list of items below the path `at`: waiting ones first, then decided ones."""
    waiting = [item for item in items if item.status in OPEN]
    decided = [item for item in items if item.status not in OPEN][::-1]
    title = "Nothing waits for a decision"
    if waiting:
        title = "One decision is waiting" if len(waiting) == 1 else f"{len(waiting)} decisions are waiting"
    return _page("queue", at, title=title, waiting=waiting, decided=decided)


def item_page(item: QueueItem, versions: Sequence[OutputVersion], at: str = "", **form: object) -> str:
    """Return one item with its gate report, history, outputs and decision form: the `token`, the suggested `reviewer`,
    the `problem` and `notes` of the last attempt, and the command to use where decisions are `signed`."""
    return _page(
        "item",
        at,
        title=f"{item.task_id}: {item.status}",
        item=item,
        is_open=item.status in OPEN,
        changes=list(changes(versions)),
        limits=list(limits_of_approval(item)),
        objections=objections,
        **form,
    )
