"""`rulewright score` delivers its results to files, endpoints and collectors, which never hold it up."""

import http.server
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.commands.score_in_place import batch, elsewhere, score
from tests.folders import read_lines
from tests.safe_cases import case

from rulewright_runtime.cases import hooks

__all__ = ["elsewhere"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run waits for what will be delivered, also on a busy machine."""
    monkeypatch.setattr(hooks, "LIMIT", 60.0)


def test_observations_and_events_go_to_files() -> None:
    batch("b", case("T1"), case("T2", summary="nothing"))
    score("--batch", "b", "--observe", "seen.jsonl", "--events", "events.jsonl")
    seen = read_lines(Path("seen.jsonl"))
    assert seen[1] == {
        "event": "recordSAFEv0Result",
        "test_id": "T2",
        "scores": {"CR": 1.0, "AH": 1.0, "AC": 0.0},
        "label": "Fail",
        "timestamp": "2025-01-15T10:30:00Z",
    }
    (event,) = read_lines(Path("events.jsonl"))
    assert (event["event"], event["concern_id"], event["batch_id"]) == ("safe:v0:result", "I25", "b")
    assert event["summary"]["overall_pass_rate"] == 0.5


class _Endpoint(http.server.BaseHTTPRequestHandler):
    received: list[Any] = []  # noqa: RUF012 - each test has its own
    refusals = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if _Endpoint.refusals:
            _Endpoint.refusals -= 1
            self.send_response(503)
        else:
            _Endpoint.received.append(json.loads(body))
            self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    _Endpoint.received, _Endpoint.refusals = [], 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_an_endpoint_that_refuses_twice_is_asked_again(endpoint: str) -> None:
    _Endpoint.refusals = 2
    batch("b", case("T1"))
    assert score("--batch", "b", "--events", endpoint) == 0
    assert [message["event"] for message in _Endpoint.received] == ["safe:v0:result"]


def test_a_collector_receives_evaluation_events(endpoint: str) -> None:
    batch("b", case("T1"), case("T2", summary="nothing"))
    assert score("--batch", "b", "--otlp", endpoint) == 1
    logs = [request["resourceLogs"][0]["scopeLogs"][0]["logRecords"] for request in _Endpoint.received]
    records = [record for each in logs for record in each]
    assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
    last = {each["key"]: next(iter(each["value"].values())) for each in records[-1]["attributes"]}
    assert last["gen_ai.evaluation.name"] == "SAFE v0 composite"
    assert last["gen_ai.evaluation.score.label"] == "Fail"
    assert last["gen_ai.evaluation.score.value"] == pytest.approx(2 / 3)
    assert records[-1]["timeUnixNano"] == "1736937000000000000"


def kept() -> list[Any]:
    (path,) = Path("reports").glob("*.undelivered.jsonl")
    return read_lines(path)


def test_what_an_endpoint_does_not_take_is_kept_and_fails_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2"))
    assert score("--batch", "b", "--observe", "http://127.0.0.1:9/", "--otlp", "http://127.0.0.1:9/logs") == 0
    place = "reports/SAFE_v0_I25_b_20250115T103000Z.undelivered.jsonl"
    said = capsys.readouterr().err
    assert f"warning: not delivered to `http://127.0.0.1:9/`: 2 messages, kept in `{place}`\n" in said
    assert f"warning: not delivered to `http://127.0.0.1:9/logs`: 8 messages, kept in `{place}`\n" in said
    lines = kept()
    assert [each["message"]["test_id"] for each in lines if each["target"] == "http://127.0.0.1:9/"] == ["T1", "T2"]
    assert score("--batch", "b", "--events", "http://127.0.0.1:9/") == 0
    assert len(list(Path("reports").iterdir())) == 2  # nothing is written over


def test_an_endpoint_that_never_answers_does_not_hold_up_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hooks, "LIMIT", 0.2)
    batch("b", *(case(f"T{n}") for n in range(5)))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert score("--batch", "b", "--observe", address) == 0
        assert f"not delivered to `{address}`: 5 messages" in capsys.readouterr().err
    assert [each["message"]["test_id"] for each in kept()] == [f"T{n}" for n in range(5)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names only there")
def test_a_pipe_that_nobody_reads_does_not_hold_up_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hooks, "LIMIT", 0.2)
    batch("b", case("T1"))
    os.mkfifo("pipe")
    assert score("--batch", "b", "--observe", "pipe", "--events", "pipe") == 0
    assert "not delivered to `pipe`: 2 messages" in capsys.readouterr().err
    assert [each["message"]["event"] for each in kept()] == ["recordSAFEv0Result", "safe:v0:result"]


def test_messages_go_to_the_file_that_was_named_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code of a plug-in changes it, and so does a program that continues while a pipe waits for its reader."""
    deliver = hooks._append("seen.jsonl")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert deliver([b"{}"])
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["seen.jsonl"]


def test_of_too_many_messages_those_that_do_not_fit_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_MAX_QUEUE", 10)
    blocked, undelivered = threading.Event(), hooks.Undelivered(str(tmp_path / "x"))
    delivery = hooks.Delivery("t", lambda _: blocked.wait(60), 1, undelivered)
    for number in range(100):
        delivery.send({"n": number})
    delivery.close(0.0)
    (said,) = undelivered.close()
    assert said == f"not delivered to `t`: 100 messages, kept in `{tmp_path / 'x'}.undelivered.jsonl`"
    kept = [json.loads(line)["message"]["n"] for line in (tmp_path / "x.undelivered.jsonl").read_text().splitlines()]
    assert sorted(kept) == list(range(100))
    blocked.set()


def test_a_message_whose_delivery_fails_when_the_run_ends_is_kept(tmp_path: Path) -> None:
    undelivered = SlowlyUndelivered(str(tmp_path / "x"))
    delivery = hooks.Delivery("t", lambda _: False, 1, undelivered)
    delivery.send({"n": 1})
    assert undelivered.has_begun.wait(60)
    threading.Timer(0.1, undelivered.may_go_on.set).start()
    delivery.close(0.0)
    assert undelivered.close() == [f"not delivered to `t`: 1 message, kept in `{tmp_path / 'x'}.undelivered.jsonl`"]


class SlowlyUndelivered(hooks.Undelivered):
    """The file of undelivered messages; the thread that adds the first of them is held up."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()

    def add(self, target: str, messages: list[bytes]) -> None:
        if messages:
            self.has_begun.set()
            self.may_go_on.wait(60)
        super().add(target, messages)


def test_undelivered_messages_that_the_disk_does_not_take_end_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = open("/dev/full", "wb")  # noqa: SIM115  what is tested closes it
    monkeypatch.setattr(hooks.Undelivered, "_open", lambda _: full)
    undelivered = hooks.Undelivered(str(tmp_path / "x"))
    undelivered.add("t", [b"{}"])
    assert undelivered.close() == ["not delivered to `t`: 1 message, and `/dev/full` does not contain all of them"]
