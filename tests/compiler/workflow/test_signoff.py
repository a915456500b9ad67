"""The reviewer's page: what it shows, whom it refuses, and that one decision is all an item takes."""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import pytest
from tests.runtime.workflow.running import BROKEN, EVIDENCE, Bench, bench

from rulewright.serving.queue_app import item_page, serve
from rulewright.web.server import MAX_FORM, Client, LocalServer
from rulewright_runtime.workflow.deciders import Deciders
from rulewright_runtime.workflow.hil_text import changes, describe
from rulewright_runtime.workflow.run_records import OutputVersion

EVIL = "<script>alert(1)</script>\"'&"
FLOW = """
tasks:
  build:
    agent: dev
    description: "A <b>bold</b> task"
    outputs: [out.md]
    overlays:
      policy_gate:
        {enabled: true, risk_tier: T2, evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}}
      confidence_loop:
        enabled: true
        threshold: 0.8
        max_iterations: 2
        metrics: [{type: checklist_completion, source: list.md}]
"""
SCRIPT = {
    "dev": [
        {"summary": EVIL, "files": {"out.md": "same\nold line\n", "list.md": "- [ ] a"}},
        {"summary": "two", "files": {"out.md": f"same\n{EVIL}\n", "list.md": "- [x] a"}},
    ]
}
ITEM = "/item/run-1-build-1"


@contextlib.contextmanager
def served(folder: Path) -> Generator[tuple[Bench, LocalServer]]:
    run = bench(folder, FLOW, SCRIPT)
    assert run.run().status == "WAITING"
    with serve(run.store, reviewer="ana") as server:
        yield run, server


def ask(
    server: LocalServer, path: str, form: dict[str, str] | None = None, **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    sent = {"Cookie": f"{server.cookie}={server.key}", **headers}
    if form is not None:
        sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
    body = None if form is None else urlencode(form)
    connection.request("GET" if form is None else "POST", path, body, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def token(server: LocalServer) -> str:
    found = re.search(r'name="token" value="([^"]+)"', ask(server, ITEM)[1])
    assert found is not None
    return found[1]


def decision(server: LocalServer, move: str, **more: str) -> dict[str, str]:
    return {"token": token(server), "move": move, "by": "ana", "notes": "fine", **more}


class Outline(HTMLParser):
    """The tags of a page, their attributes, and labels."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.labels: set[str | None] = set()
        self.fields: set[str | None] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        named = dict(attrs)
        if tag == "label":
            self.labels.add(named.get("for"))
        if tag in {"input", "textarea"} and named.get("type") != "hidden":
            self.fields.add(named.get("id"))


def test_the_queue_lists_what_waits(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        status, page, _ = ask(server, "/")
    assert status == 200
    assert "One decision is waiting" in page
    assert f'href="{ITEM}"' in page


def test_an_item_shows_gate_history_and_what_changed(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        page = ask(server, ITEM)[1]
    assert "sign-off of a T2 gate" in page
    assert re.search(r'asked at <time datetime="[^"]+Z">\d{4}-\d\d-\d\d \d\d:\d\d UTC</time>', page)
    assert "Confidence 1: confidence threshold met (advisory only)" in page
    assert '<span class="del">-old line</span>' in page
    assert "confidence_loop: continue" in page
    assert "2 of 2</td>" in page


def test_an_item_shows_what_a_gate_objects_to_beyond_its_evidence(tmp_path: Path) -> None:
    with served(tmp_path) as (run, _):
        item = run.store.item("run-1-build-1")
        (report,) = item.context["gate_reports"]
        changed = {**report, "verdict": "FAIL", "reasons": ["locked output `out.md` was changed after its review"]}
        shown = msgspec.structs.replace(item, context={**item.context, "gate_reports": [changed]})
        page = item_page(shown, (), problem="", notes="", reviewer="", token="", signed=False)
    assert "<p>Objection: locked output `out.md` was changed after its review</p>" in page


def test_a_terminal_shows_what_changed_too(tmp_path: Path) -> None:
    with served(tmp_path) as (run, _):
        text = describe(run.store.item("run-1-build-1"), run.store.outputs("run-1", "build"))
    assert "output out.md, iteration 2\n" in text
    assert "  -old line\n" in text
    assert f"  +{EVIL}\n" in text


@pytest.mark.parametrize(
    ("contents", "text", "lines"),
    [
        ([b"a"], "a", 0),
        ([b"a", b"a"], "a", 0),
        ([b"a", b"b", b"b"], "b", 5),
        ([b"a", b"\xff"], None, 0),
        ([b"\0", b"b"], "b", 0),
        ([None, b"b"], "b", 0),
        ([b"a", None], None, 0),
    ],
)
def test_versions_are_compared_where_they_can_be_read(
    contents: list[bytes | None], text: str | None, lines: int
) -> None:
    (change,) = changes([OutputVersion(n, "f", str(content), content) for n, content in enumerate(contents, 1)])
    assert (change.text, len(change.lines), change.iteration) == (text, lines, len(contents))


def test_nothing_that_a_run_says_becomes_markup(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        page = ask(server, ITEM)[1]
        ask(server, ITEM, decision(server, "resolve", by=EVIL, notes=EVIL))
        page += ask(server, ITEM)[1] + ask(server, "/")[1] + ask(server, f"/{EVIL}".replace(" ", ""))[1]
        assert run.store.item("run-1-build-1").resolved_by == EVIL
    outline = Outline(page)
    assert {"b", "img"} & set(outline.tags) == set()
    assert not any(name.startswith("on") for name, _ in outline.attributes)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "A &lt;b&gt;bold&lt;/b&gt; task" in page


def test_the_page_is_sober_and_accessible(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        _, page, headers = ask(server, ITEM)
        style = ask(server, "/style.css")
    outline = Outline(page)
    assert '<html lang="en">' in page
    assert outline.tags.count("h1") == outline.tags.count("main") == outline.tags.count("title") == 1
    assert outline.fields == outline.labels == {"by", "notes"}
    links = [value or "" for name, value in outline.attributes if name in {"href", "src", "action"}]
    assert all(link.startswith(("/", "#")) for link in links)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert style[0] == 200
    assert "url(" not in style[1]


def test_the_enter_key_decides_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        page = ask(server, ITEM)[1]
    form = page[page.index("<form") :]
    assert re.findall(r"<button[^>]*>", form)[0] == "<button disabled hidden>"


def test_a_decision_is_taken_and_shown(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        status, _, _ = ask(server, ITEM, decision(server, "ack"))
        assert (status, run.store.item("run-1-build-1").status) == (303, "ACKED")
        status, _, headers = ask(server, ITEM, decision(server, "resolve", notes="well done"))
        assert (status, headers["Location"]) == (303, ITEM)
        page = ask(server, ITEM)[1]
    assert "RESOLVED by ana" in page
    assert "well done" in page
    assert "<form" not in page
    assert run.run(resume=True).status == "COMPLETED"


def test_a_second_decision_is_refused(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        first, second = decision(server, "resolve"), decision(server, "reject", notes="no", by="ben")
        assert ask(server, ITEM, first)[0] == 303
        status, page, _ = ask(server, ITEM, second)
        assert status == 409
        assert "RESOLVED already: ana decided" in page
        assert len(run.events("hil.resolved")) == 1
        assert run.events("hil.rejected") == []


def test_a_page_and_a_text_say_that_an_approval_does_not_overrule_the_gate(tmp_path: Path) -> None:
    run = bench(tmp_path, FLOW, SCRIPT, {**EVIDENCE, "junit.xml": BROKEN})
    assert run.run().status == "WAITING"
    told = "An approval does not overrule the gate"
    assert told in describe(run.store.item("run-1-build-1"))
    with serve(run.store) as server:
        assert told in ask(server, ITEM)[1]
    (tmp_path / "passed").mkdir()
    with served(tmp_path / "passed") as (_, server):
        assert told not in ask(server, ITEM)[1]


def test_of_many_at_once_one_decides(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        form = decision(server, "resolve")
        answers: list[int] = []
        each = [
            threading.Thread(target=lambda n=n: answers.append(ask(server, ITEM, {**form, "by": f"p{n}"})[0]))
            for n in range(8)
        ]
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
        assert sorted(answers) == [303] + [409] * 7
        assert len(run.events("hil.resolved")) == 1


def test_a_decision_needs_a_reason_and_a_name(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        for move in ("reject", "resolve"):
            status, page, _ = ask(server, ITEM, decision(server, move, notes=" "))
            assert status == 422
            assert '<p role="alert">a decision needs a reason</p>' in page
        assert ask(server, ITEM, decision(server, "resolve", by="  "))[0] == 422
        assert run.store.item("run-1-build-1").status == "PENDING"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Content-Type": "text/plain"},
    ],
)
def test_forms_from_elsewhere_are_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    with served(tmp_path) as (run, server):
        assert ask(server, ITEM, decision(server, "resolve"), **headers)[0] in {400, 403}
        assert run.store.item("run-1-build-1").status == "PENDING"


@pytest.mark.parametrize("wrong", ["", "x", "é"])
def test_forms_without_our_token_are_refused(tmp_path: Path, wrong: str) -> None:
    with served(tmp_path) as (run, server):
        assert ask(server, ITEM, {**decision(server, "resolve"), "token": wrong})[0] == 403
        assert run.store.item("run-1-build-1").status == "PENDING"


def test_our_own_origin_is_welcome(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        port = server.server_address[1]
        assert ask(server, ITEM, decision(server, "resolve"), Origin=f"http://127.0.0.1:{port}")[0] == 303


def test_other_requests_are_refused(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        assert server.server_address[0] == "127.0.0.1"
        assert ask(server, "/nowhere")[0] == 404
        assert ask(server, "/item/run-9-x-1")[0] == 404
        assert ask(server, "/", {})[0] == 403
        assert ask(server, "/", {"token": token(server)})[0] == 404
        assert ask(server, ITEM, decision(server, "approve"))[0] == 400
        assert ask(server, ITEM, {"notes": "x" * MAX_FORM})[0] == 413
        assert ask(server, "/", Host="rebound.example")[0] == 403


def test_nothing_is_shown_without_the_key(tmp_path: Path) -> None:
    with served(tmp_path) as (_, server):
        for wrong in ("", f"{server.cookie}=x", f"other={server.key}"):
            status, page, _ = ask(server, ITEM, Cookie=wrong)
            assert (status, "out.md" in page) == (403, False)
        assert ask(server, f"{ITEM}?key=x", Cookie="")[0] == 403
        status, _, headers = ask(server, f"/{ITEM}?key={server.key}", Cookie="")
        assert (status, headers["Location"]) == (303, ITEM)
        assert headers["Set-Cookie"] == f"{server.cookie}={server.key}; HttpOnly; SameSite=Strict; Path=/"


POST = "POST /item/run-1-build-1 HTTP/1.1\r\nHost: HERE\r\nContent-Type: application/x-www-form-urlencoded\r\n"
ABSURD = {
    "a line without end": f"GET /{'a' * 70_000} HTTP/1.1\r\n\r\n",
    "a header without end": f"GET / HTTP/1.1\r\nX: {'a' * 70_000}\r\n\r\n",
    "too many headers": "GET / HTTP/1.1\r\n" + "".join(f"X-{n}: 1\r\n" for n in range(500)) + "\r\n",
    "letters beyond ASCII": "GET /é HTTP/1.1\r\nHost: é\r\nOrigin: é\r\nContent-Length: ²\r\n\r\n",
    "bytes that are not text": "GET /\x00\xff\xfe HTTP/1.1\r\nHost: \xff\r\n\r\n",
    "a negative length": f"{POST}Content-Length: -1\r\n\r\ntoken=",
    "a length of many digits": f"{POST}Content-Length: {'9' * 5000}\r\n\r\n",
    "a length in other digits": f"{POST}Content-Length: ²\r\n\r\n",
    "two lengths": f"{POST}Content-Length: 1\r\nContent-Length: 900\r\n\r\nx",
    "a length and chunks": f"{POST}Transfer-Encoding: chunked\r\n\r\n5\r\nmove=\r\n0\r\n\r\n",
    "no version": "GET /\r\n\r\n",
    "a version of its own": "GET / HTTP/9.9\r\n\r\n",
    "a method of its own": "\x00\x01\x02 / HTTP/1.1\r\n\r\n",
    "an escaped surrogate": "GET /item/%ed%a0%80%00 HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "an address of another host": "GET http://[::1/ HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "nothing": "\r\n\r\n",
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_requests_are_answered_or_dropped_and_the_page_stays(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(tmp_path) as (run, server):
        port = server.server_address[1]
        connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        with connection, contextlib.suppress(OSError):  # it may be refused before all of it was sent
            connection.sendall(ABSURD[name].replace("HERE", f"127.0.0.1:{port}").encode("latin-1"))
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(100)
            assert not answer.startswith(b"HTTP/1.1 200") or b"GET / " in ABSURD[name].encode("latin-1")
        assert ask(server, "/")[0] == 200
        assert run.store.item("run-1-build-1").status == "PENDING"
    assert capfd.readouterr().err == ""


def test_a_form_that_ends_early_decides_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        port = server.server_address[1]
        body = f"token={server.token}&move=resolve&by=Ana&notes=fine%2C+but+first"
        head = POST.replace("HERE", f"127.0.0.1:{port}") + f"Cookie: {server.cookie}={server.key}\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(f"{head}Content-Length: {len(body) + 40}\r\n\r\n{body}".encode())
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100).startswith(b"HTTP/1.1 400")
        assert run.store.item("run-1-build-1").status == "PENDING"


SENDER = """
import http.client, sys
from urllib.parse import urlencode
port, token = int(sys.argv[1]), sys.argv[2]
input()
connection = http.client.HTTPConnection("127.0.0.1", port)
form = urlencode({"token": token, "move": "resolve", "by": "Ana (QA)", "notes": "fine"})
headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": sys.argv[3]}
connection.request("POST", "/item/run-1-build-1", form, headers)
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


@pytest.mark.parametrize(("started", "status"), [(True, "422"), (False, "303")])
def test_a_form_from_what_a_run_started_is_refused(tmp_path: Path, started: bool, status: str) -> None:
    if not Path("/proc/net/tcp").exists():
        pytest.skip("this system does not tell who stands at the other end of a connection")
    with served(tmp_path) as (run, server):
        cookie = f"{server.cookie}={server.key}"
        argv = [sys.executable, "-c", SENDER, str(server.server_address[1]), token(server), cookie]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sender:
            if started:
                run.store.add_process("command", sender.pid)
            said, _ = sender.communicate("\n", timeout=60)
        assert said.startswith(status)
        assert ("was started by a run" in said) == started
        assert run.store.item("run-1-build-1").status == ("PENDING" if started else "RESOLVED")
        if not started:
            ((_, origin),) = run.store.decisions("run-1-build-1")
            assert (origin.via, origin.processes[0].pid) == ("page", sender.pid)


def test_a_form_of_another_user_of_the_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path) as (run, server):
        form = decision(server, "resolve")
        monkeypatch.setattr("rulewright.web.server.client", lambda _: Client(4711, ()))
        status, page, _ = ask(server, ITEM, form)
        assert (status, run.store.item("run-1-build-1").status) == (422, "PENDING")
        assert "the user of the system who serves this page" in page
        monkeypatch.setattr("rulewright.web.server.client", lambda _: Client(os.getuid(), ()))
        with run.store.run_lock():
            assert "the sender can&#39;t be traced" in ask(server, ITEM, form)[1]
        assert ask(server, ITEM, form)[0] == 303


def test_where_decisions_are_signed_the_page_shows_the_command_that_does(tmp_path: Path) -> None:
    with served(tmp_path) as (run, server):
        form = decision(server, "resolve")
        run.store.deciders = Deciders(signers={"ana": "ssh-ed25519 AAAA"})
        page = ask(server, ITEM)[1]
        assert "rulewright hil resolve run-1-build-1 --why TEXT --key FILE" in page
        assert "<form" not in page
        assert "not signed" in ask(server, ITEM, form)[1] or ask(server, ITEM, form)[0] == 422
        assert run.store.item("run-1-build-1").status == "PENDING"
