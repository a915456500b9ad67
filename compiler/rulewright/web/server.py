"""A server for local pages: loopback only, with a key to read and a token to decide.

Opening the address that the command prints sets a cookie; without it no page is shown, so that other users of the
machine can't read it. A form must have the token of its page, and come from one of our pages. The process at the other
end of a connection is identified as far as the system allows.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Struct, field

from rulewright.errors import UsageError
from rulewright.web.rendering import LOCAL, PageFrame, rendered, script, style
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.processes.ancestry import Origin, ancestry, here
from rulewright_runtime.workflow.hil import QueueError

LOG: Final = logging.getLogger("rulewright.workflow")
LOOPBACK: Final = "127.0.0.1"
MAX_FORM: Final = 64 * 1024  # bytes
_HEADERS: Final = {
    # `same-origin` and not `no-referrer`: without a referrer browsers hide the origin of a form, too.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class RefusedError(RuntimeFailure):
    """A refused request."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Keep the status of the response and the message."""
        self.status = status
        super().__init__(message)


class Request(Struct, frozen=True):
    """A request to an app: the path below the app's own, still quoted, the connection, and the fields of the form or of
    the address."""

    path: str
    token: str
    connection: socket.socket
    form: Mapping[str, str] = field(default_factory=dict)


class Response(Struct, frozen=True):
    """An app's response: a page, or the address to redirect to."""

    body: str = ""
    status: HTTPStatus = HTTPStatus.OK
    location: str = ""


class App(Protocol):
    """A part of the local site, under its own path."""

    def get(self, request: Request) -> Response:
        """Return a page. Raises RefusedError for an unknown one."""

    def post(self, request: Request) -> Response:
        """Process a form. Raises RefusedError where that is not possible."""


class LocalServer(ThreadingHTTPServer):
    """Serves apps to this machine. Use it as a context manager; `wait` returns when it is stopped."""

    daemon_threads = True

    def __init__(self, apps: Mapping[str, App], port: int = 0) -> None:
        """Listen on the loopback address. `apps` maps paths to apps; port 0 takes any free port. Raises OSError for a
        taken port."""
        super().__init__((LOOPBACK, port), _Handler)
        self.apps = apps
        self.deciding = threading.Lock()  # people who decide at once wait for each other
        self.token, self.key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """The address to open, with the key."""
        return self.address("/")

    def address(self, path: str) -> str:
        """Return the address of a page, with the key."""
        return f"http://{LOOPBACK}:{self.server_address[1]}{path}?key={self.key}"

    @property
    def cookie(self) -> str:
        """The name of the cookie with the key; it holds the port, since ports share cookies."""
        return f"rulewright-{self.server_address[1]}"

    @property
    def hosts(self) -> frozenset[str]:
        """The accepted values of the `Host` header; any other may be DNS rebinding."""
        port = self.server_address[1]
        return frozenset({f"{LOOPBACK}:{port}", f"localhost:{port}"})

    def __enter__(self) -> LocalServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """Log one line for a failed request, and none for a client that has disconnected."""
        error = sys.exception()
        if not isinstance(error, (ConnectionError, TimeoutError)):
            LOG.warning("a request to a local page failed: %s: %s", type(error).__name__, error)

    def wait(self) -> None:
        """Block until the server is stopped."""
        while self._thread.is_alive():
            self._thread.join(0.5)


def local_page(template: str, frame: PageFrame, **context: object) -> str:
    return "".join(rendered(template, frame, **context)) + "\n"


class _Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    protocol_version = "HTTP/1.1"
    server_version = "rulewright"
    sys_version = ""
    timeout = 10
    disable_nagle_algorithm = True  # else a browser waits some 40 ms between the head and the body

    @property
    def site(self) -> LocalServer:
        return cast("LocalServer", self.server)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        """Send a page, the style or the script."""
        self._respond(self._get)

    def do_HEAD(self) -> None:
        """Send the headers of a GET."""
        self._respond(self._get)

    def do_POST(self) -> None:
        """Take a decision."""
        self._respond(self._post)

    def _respond(self, answer: Any) -> None:
        try:
            names = self.headers.get_all("Host", [])
            if len(names) != 1 or names[0] not in self.site.hosts:
                raise RefusedError(HTTPStatus.FORBIDDEN, "this address is not served here")
            answer()
        except RefusedError as refused:
            self._refuse(refused.status, refused.status.phrase, str(refused))
        except ValueError:  # an invalid address or number
            self._refuse(HTTPStatus.BAD_REQUEST, HTTPStatus.BAD_REQUEST.phrase, "the request can't be read")
        except (RuntimeFailure, UsageError, OSError) as failure:
            if isinstance(failure, (ConnectionError, TimeoutError)):
                raise
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "Something is wrong", str(failure))

    def _refuse(self, status: HTTPStatus, title: str, message: str) -> None:
        page = local_page("refusal.html", PageFrame(linked=True, footer=LOCAL), title=title, message=message)
        self._send(status, page, close=True)

    def _get(self) -> None:
        address = urlsplit(self.path)
        if "key" in (query := parse_qs(address.query, max_num_fields=20)):
            self._check_key(query["key"][0])
            cookie = f"{self.site.cookie}={self.site.key}; HttpOnly; SameSite=Strict; Path=/"
            self._go_to(address.path, {"Set-Cookie": cookie})
        elif address.path == "/style.css":
            self._send(HTTPStatus.OK, style(), "text/css")
        elif address.path == "/page.js":
            self._send(HTTPStatus.OK, script(), "text/javascript")
        else:
            self._check_key(self._cookie())
            app, path = self._app(address.path)
            self._answer(app.get(Request(path, self.site.token, self.connection, _single(query))))

    def _post(self) -> None:
        self._check_key(self._cookie())
        app, path = self._app(urlsplit(self.path).path)
        form = self._form()
        self._check_sender(form.get("token", ""))
        with self.site.deciding:
            answer = app.post(Request(path, self.site.token, self.connection, form))
        self._answer(answer)

    def _app(self, path: str) -> tuple[App, str]:
        """Return the app with the longest matching path, and the rest of the path."""
        for prefix in sorted(self.site.apps, key=len, reverse=True):
            if path == prefix or path.startswith(f"{prefix}/"):
                return self.site.apps[prefix], path[len(prefix) :] or "/"
        raise RefusedError(HTTPStatus.NOT_FOUND, "page not found")

    def _cookie(self) -> str:
        try:
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return ""
        cookie_value = cookies.get(self.site.cookie)
        return "" if cookie_value is None else cookie_value.value

    def _check_key(self, key: str) -> None:
        if not hmac.compare_digest(key.encode(), self.site.key.encode()):
            raise RefusedError(HTTPStatus.FORBIDDEN, "open the address that the command has printed")

    def _check_sender(self, token: str) -> None:
        """Refuse a form that does not come from our page: its token and its origin must be ours."""
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.site.hosts}:
            raise RefusedError(HTTPStatus.FORBIDDEN, "the form comes from another page")
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
            raise RefusedError(HTTPStatus.FORBIDDEN, "the form comes from another page")
        if not hmac.compare_digest(token.encode(), self.site.token.encode()):
            raise RefusedError(HTTPStatus.FORBIDDEN, "the form is stale or not ours: go back, reload and decide again")

    def _form(self) -> dict[str, str]:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip()
        lengths = self.headers.get_all("Content-Length", [])
        length = lengths[0] if len(lengths) == 1 else ""
        if kind != "application/x-www-form-urlencoded" or not (length.isascii() and length.isdecimal()):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "a decision is sent as a form")
        if len(length) > len(str(MAX_FORM)) or int(length) > MAX_FORM:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a form has at most {MAX_FORM} bytes")
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the form ends early")
        try:
            fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=20)
        except (UnicodeDecodeError, ValueError):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the form can't be read") from None
        return _single(fields)

    def _answer(self, answer: Response) -> None:
        if answer.location:
            self._go_to(answer.location, {})
        else:
            self._send(answer.status, answer.body)

    def _go_to(self, path: str, headers: Mapping[str, str]) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/" + path.lstrip("/"))  # two slashes would lead to another host
        for name, value in {**_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: HTTPStatus, body: str, kind: str = "text/html", *, close: bool = False) -> None:
        data = body.encode("utf-8", errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if close:  # the request's body may be unread
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _single(fields: Mapping[str, list[str]]) -> dict[str, str]:
    """The fields that are given once."""
    return {name: values[0] for name, values in fields.items() if len(values) == 1}


_PROC: Final = Path("/proc")


class Client(NamedTuple):
    """The user id of a connection's other end, and the processes that hold it (none: they are not visible)."""

    uid: int
    pids: tuple[int, ...]


def sender(connection: socket.socket, is_run_active: Callable[[], bool] = lambda: False) -> Origin:
    """Return the origin of a decision on a page: the process that sent the form, where the system shows it.

    Raises QueueError for another user of the system, and for an untraceable sender while a run is active.
    """
    page_origin, peer = here("page"), client(connection)
    if peer is None:
        return page_origin
    if peer.uid != os.getuid():
        raise QueueError("a decision is taken by the user of the system who serves this page")
    if not peer.pids and is_run_active():
        raise QueueError("a run is active, and the sender can't be traced: use `rulewright hil resolve`")
    lines = [ancestry(pid) for pid in peer.pids]
    processes = tuple(dict.fromkeys(process for line in lines for process in line))
    return msgspec.structs.replace(page_origin, terminal="", processes=processes)


def client(connection: socket.socket) -> Client | None:
    """Return the other end of an IPv4 connection; None where the system does not show it."""
    try:
        rows = (_PROC / "net/tcp").read_text(encoding="ascii").splitlines()[1:]
        ends = (_proc_address(connection.getpeername()), _proc_address(connection.getsockname()))
    except (OSError, ValueError):
        return None
    for row in rows:
        fields = row.split()
        if (fields[1], fields[2]) == ends:
            return Client(int(fields[7]), tuple(_processes_of(fields[9])))
    return None


def _proc_address(address: tuple[str, int]) -> str:
    """An address in the format of `/proc/net/tcp`: hexadecimal bytes in the machine's order."""
    number = int.from_bytes(socket.inet_aton(address[0]), byteorder=sys.byteorder)
    return f"{number:08X}:{address[1]:04X}"


def _processes_of(inode: str) -> Iterator[int]:
    """The processes that have a socket open."""
    link = f"socket:[{inode}]"
    for name in os.listdir(_PROC):
        if not name.isdecimal():
            continue
        with suppress(OSError):
            folder = _PROC / name / "fd"
            if any(_link(folder / descriptor) == link for descriptor in os.listdir(folder)):
                yield int(name)


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return ""
