"""Notifications reach people by command and by webhook, and never hold up a run."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.model_server import Response, model_server
from tests.runtime.workflow.running import bench

from rulewright_runtime.workflow import notify

FLOW = "tasks: {build: {agent: dev, requires_human: true}}"
T2 = """
tasks:
  build:
    agent: dev
    overlays:
      policy_gate:
        {enabled: true, risk_tier: T2, evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}}
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run waits for what will be delivered, also on a busy machine."""
    for name in ("PATIENCE", "TIMEOUT"):
        monkeypatch.setattr(notify, name, 60.0)


def command(code: str) -> dict[str, Any]:
    return {"type": "command", "command": [sys.executable, "-c", code]}


@pytest.fixture
def received() -> Iterator[tuple[str, list[Any]]]:
    bodies: list[Any] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if self.path == "/broken" else 204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", bodies
        server.shutdown()
        thread.join()


def test_a_new_item_is_sent_to_command_and_webhook(tmp_path: Path, received: tuple[str, list[Any]]) -> None:
    url, bodies = received
    notices = [command("import sys; open('told', 'w').write(sys.stdin.read())"), {"type": "webhook", "url": url}]
    run = bench(tmp_path, FLOW, settings={"on_created": notices_of(notices)})
    assert run.run().status == "WAITING"
    assert json.loads((tmp_path / "told").read_text())["id"] == "run-1-build-1"
    assert [body["trigger"] for body in bodies] == ["requires_human"]


def test_sign_offs_have_notifications_of_their_own(tmp_path: Path, received: tuple[str, list[Any]]) -> None:
    url, bodies = received
    settings = {"on_t2_gate": notices_of([{"type": "webhook", "url": url}])}
    for name, flow in (("plain", FLOW), ("t2", T2)):
        (tmp_path / name).mkdir()
        assert bench(tmp_path / name, flow, settings=settings).run().status == "WAITING"
    assert [body["trigger"] for body in bodies] == ["t2_gate"]


def test_a_notification_that_fails_is_only_a_warning(
    tmp_path: Path, received: tuple[str, list[Any]], caplog: pytest.LogCaptureFixture
) -> None:
    url, _ = received
    notices = [
        command("raise SystemExit('no network')"),
        {"type": "webhook", "url": f"{url}/broken"},
        {"type": "webhook", "url": "http://127.0.0.1:1/"},
        {"type": "webhook", "url": "file:///etc/passwd"},
        {"type": "command"},
    ]
    assert bench(tmp_path, FLOW, settings={"on_created": notices_of(notices)}).run().status == "WAITING"
    assert len([r for r in caplog.records if "was not delivered" in r.getMessage()]) == 5


@pytest.mark.parametrize("status", [301, 302, 303, 307])
def test_a_webhook_that_redirects_has_not_received_the_item(
    status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        model_server(lambda *_: Response(200)) as other,
        model_server(lambda *_: Response(status, headers={"Location": other.base})) as server,
    ):
        notices = notices_of([{"type": "webhook", "url": server.base}])
        assert bench(tmp_path, FLOW, settings={"on_created": notices}).run().status == "WAITING"
        assert (len(server.requests), other.requests) == (1, [])
    assert f"was not delivered: the webhook answered {status}" in caplog.text


def test_a_webhook_that_does_not_speak_http_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.recv(100_000)
            connection.sendall(b"SSH-2.0-OpenSSH_9\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        notices = notices_of([{"type": "webhook", "url": f"http://127.0.0.1:{server.getsockname()[1]}/"}])
        assert bench(tmp_path, FLOW, settings={"on_created": notices}).run().status == "WAITING"
        thread.join()
    assert "a notification of `run-1-build-1` was not delivered" in caplog.text


def test_a_slow_notification_is_a_warning_and_does_not_hold_up_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "PATIENCE", 0.2)
    waits = "import os, time\nwhile not os.path.exists('over'): time.sleep(0.01)"
    run = bench(tmp_path, FLOW, settings={"on_created": notices_of([command(waits)])})
    assert run.run().status == "WAITING"
    assert [r.getMessage() for r in caplog.records if "was not delivered" in r.getMessage()] == [
        "a notification of `run-1-build-1` was not delivered in the 0.2 seconds before the run ended"
    ]
    (tmp_path / "over").touch()


def notices_of(notices: list[dict[str, Any]]) -> Any:
    from msgspec import convert

    from rulewright_runtime.workflow.run_settings import Notice

    return convert(notices, tuple[Notice, ...])
