"""The server behind the reviewer's page: loopback only, one decision an item, nothing from anywhere else."""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from rulewright.signoff import pages
from rulewright.signoff.clients import client
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.workflow.hil import OPEN, QueueError
from rulewright_runtime.workflow.processes import Origin, ancestry, here
from rulewright_runtime.workflow.run_context import utc_now
from rulewright_runtime.workflow.run_database import Store

LOG: Final = logging.getLogger("rulewright.workflow")
LOOPBACK: Final = "127.0.0.1"
MAX_FORM: Final = 64 * 1024  # bytes
_HEADERS: Final = {
    # `same-origin` and not `no-referrer`: without a referrer browsers hide the origin of a form, too.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Refused(RuntimeFailure):
    """A request that is not answered as it wishes."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        self.status = status
        super().__init__(message)


class QueueServer(ThreadingHTTPServer):
    """Serves one database to this machine. Use it as a context; `wait` returns when it is stopped."""

    daemon_threads = True

    def __init__(self, store: Store, port: int, reviewer: str) -> None:
        """Listen on the loopback address; port 0 takes any that is free."""
        super().__init__((LOOPBACK, port), _Handler)
        self.store, self.reviewer = store, reviewer
        self.token = secrets.token_urlsafe(32)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """Where a browser finds the queue."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    @property
    def hosts(self) -> frozenset[str]:
        """The names under which a browser may ask for us; any other is a page that pretends to be us."""
        port = self.server_address[1]
        return frozenset({f"{LOOPBACK}:{port}", f"localhost:{port}"})

    def __enter__(self) -> QueueServer:
        """Start to answer."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One line in the log for a request that broke, and none for a client that has gone."""
        error = sys.exception()
        if not isinstance(error, (ConnectionError, TimeoutError)):
            LOG.warning("a request to the queue's page failed: %s: %s", type(error).__name__, error)

    def wait(self) -> None:
        """Return when the server was stopped."""
        while self._thread.is_alive():
            self._thread.join(0.5)


def serve(store: Store, *, port: int = 0, reviewer: str = "") -> QueueServer:
    """A server for the queue of `store`; `reviewer` is the name that the form suggests. OSError for a taken port."""
    return QueueServer(store, port, reviewer)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server_version = "rulewright"
    sys_version = ""
    timeout = 10

    @property
    def queue(self) -> QueueServer:
        return cast("QueueServer", self.server)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what happens is in the database."""

    def do_GET(self) -> None:
        """A page, or the style."""
        self._answered(self._get)

    def do_HEAD(self) -> None:
        """As GET, without the body."""
        self._answered(self._get)

    def do_POST(self) -> None:
        """A decision."""
        self._answered(self._post)

    def _answered(self, answer: Any) -> None:
        try:
            if self.headers.get("Host", "") not in self.queue.hosts:
                raise _Refused(HTTPStatus.FORBIDDEN, "this address is not served here")
            answer()
        except _Refused as refused:
            self._send(refused.status, pages.refusal_page(refused.status.phrase, str(refused)), close=True)
        except ValueError:  # an address or a number that is none
            page = pages.refusal_page(HTTPStatus.BAD_REQUEST.phrase, "the request can't be read")
            self._send(HTTPStatus.BAD_REQUEST, page, close=True)
        except RuntimeFailure as failure:
            self._send(
                HTTPStatus.INTERNAL_SERVER_ERROR, pages.refusal_page("Something is wrong", str(failure)), close=True
            )

    def _get(self) -> None:
        path = urlsplit(self.path).path
        if path == "/":
            self._send(HTTPStatus.OK, pages.queue_page(self.queue.store.items()))
        elif path == "/style.css":
            self._send(HTTPStatus.OK, pages.style(), "text/css")
        elif path.startswith("/item/"):
            self._send(HTTPStatus.OK, self._item_page(unquote(path.removeprefix("/item/"))))
        else:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such page")

    def _item_page(self, item_id: str, problem: str = "", notes: str = "", by: str = "") -> str:
        store = self.queue.store
        try:
            item = store.item(item_id)
        except QueueError as error:
            raise _Refused(HTTPStatus.NOT_FOUND, str(error)) from None
        versions = store.outputs(item.run_id, item.task_id)
        name = by or self.queue.reviewer
        return pages.item_page(
            item, versions, self.queue.token, name, problem=problem, notes=notes, signed=bool(store.deciders.signers)
        )

    def _post(self) -> None:
        path = urlsplit(self.path).path
        if not path.startswith("/item/"):
            raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing to decide here")
        form = self._form()
        self._check_sender(form.get("token", ""))
        item_id, move = unquote(path.removeprefix("/item/")), form.get("move", "")
        by, notes = form.get("by", "").strip(), form.get("notes", "").strip()
        if move not in {"ack", "resolve", "reject"}:
            raise _Refused(HTTPStatus.BAD_REQUEST, "a decision is `ack`, `resolve` or `reject`")
        try:
            origin = self._origin()
            self.queue.store.decide(item_id, move, by=by, notes=notes, now=utc_now(), origin=origin)  # type: ignore[arg-type]
        except QueueError as error:
            page = self._item_page(item_id, str(error), notes, by)
            decided = self.queue.store.item(item_id).status not in OPEN
            self._send(HTTPStatus.CONFLICT if decided else HTTPStatus.UNPROCESSABLE_ENTITY, page)
            return
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", f"/item/{quote(item_id, safe='')}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _origin(self) -> Origin:
        """Where the decision comes from: the process that sent the form, as far as the system tells.

        Raises QueueError for another user of the system, and for a sender that can't be traced while agents are alive.
        """
        served = here("page")
        sender = client(self.connection)
        if sender is None:
            return served
        if sender.uid != os.getuid():
            raise QueueError("a decision is taken by the user of the system who serves this page")
        if not sender.pids and self.queue.store.is_at_work():
            raise QueueError("a run is at work, and the sender can't be traced: use `rulewright hil resolve`")
        lines = [ancestry(pid) for pid in sender.pids]
        together = tuple(dict.fromkeys(process for line in lines for process in line))
        return msgspec.structs.replace(served, terminal="", processes=together)

    def _check_sender(self, token: str) -> None:
        """The form must come from a page of ours: it carries our token, and its origin is ours."""
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.queue.hosts}:
            raise _Refused(HTTPStatus.FORBIDDEN, "the form comes from another page")
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
            raise _Refused(HTTPStatus.FORBIDDEN, "the form comes from another page")
        if not hmac.compare_digest(token.encode(), self.queue.token.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "the form is stale or not ours: go back, reload and decide again")

    def _form(self) -> dict[str, str]:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip()
        lengths = self.headers.get_all("Content-Length", [])
        length = lengths[0] if len(lengths) == 1 else ""
        if kind != "application/x-www-form-urlencoded" or not (length.isascii() and length.isdecimal()):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a decision is sent as a form")
        if len(length) > len(str(MAX_FORM)) or int(length) > MAX_FORM:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a form has at most {MAX_FORM} bytes")
        try:
            fields = parse_qs(self.rfile.read(int(length)).decode("utf-8"), keep_blank_values=True, max_num_fields=20)
        except (UnicodeDecodeError, ValueError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "the form can't be read") from None
        return {name: values[0] for name, values in fields.items() if len(values) == 1}

    def _send(self, status: HTTPStatus, body: str, kind: str = "text/html", *, close: bool = False) -> None:
        data = body.encode("utf-8", errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if close:  # what was sent along may not have been read
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
