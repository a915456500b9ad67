"""The local app: what it shows, whom it refuses, and what decisions and labels leave on the disk."""

import contextlib
import csv
import html
import http.client
import json
import re
import shutil
import socket
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.compiler.reporting.test_page import Document
from tests.compiler.reporting.test_page import finished as finished
from tests.compiler.workflow.test_signoff import FLOW, SCRIPT
from tests.folders import write
from tests.runtime.workflow.running import bench

from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.serving import runs_app
from rulewright.serving.open_runs import OpenRuns
from rulewright.serving.queue_app import QueueApp
from rulewright.serving.runs_app import Labels, RunsApp
from rulewright.web.server import LocalServer, sender
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.processes.ancestry import Origin

ABOUT = r'name="(number|seen)" value="(\w+)"'
WAITING = "/run/1/t/12"  # model-b__night_shift_alone, where RW-A1 has no majority


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "run"
    main(["demo", "--out", str(folder)])
    return folder


@pytest.fixture
def runs(demo: Path, tmp_path: Path) -> Path:
    """A folder with two runs that a test may change."""
    for name in ("before", "now"):
        shutil.copytree(demo, tmp_path / "runs" / name)
    return tmp_path / "runs"


@contextlib.contextmanager
def served(*folders: Path) -> Generator[LocalServer]:
    with LocalServer({"": RunsApp(OpenRuns([str(each) for each in folders]), "ana")}) as server:
        yield server


def ask(server: LocalServer, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    sent = {"Cookie": f"{server.cookie}={server.key}", **headers}
    if form is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request("GET" if form is None else "POST", path, None if form is None else urlencode(form), sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers["Location"] or ""


def decision(server: LocalServer, **more: str) -> dict[str, str]:
    shown = re.search(
        r'name="check" value="(t12-c\d+)"><input type="hidden" name="seen" value="(\w+)"', ask(server, WAITING)[1]
    )
    assert shown is not None
    form = {
        "token": server.token,
        "check": shown[1],
        "seen": shown[2],
        "verdict": "FAIL",
        "by": "Ana",
        "why": "nobody asked her",
    }
    return {**form, **more}


def test_every_link_of_the_site_leads_somewhere(runs: Path) -> None:
    with served(runs) as server:
        pages: dict[str, Document] = {}
        waiting, anchors = ["/", "/diff/1/2"], []
        while waiting:
            path = waiting.pop()
            status, text, _ = ask(server, path)
            assert status == 200, path
            assert 'rel="stylesheet" href="/style.css"' in text
            pages[path] = Document(text.replace('<script src="/page.js" defer></script>', "").replace("action=", "at="))
            for link in pages[path].links:
                target, _, anchor = link.partition("#")
                anchors.append((target or path, anchor))
                if target and target not in {*pages, *waiting} and not target.endswith(".css"):
                    waiting.append(target)
        assert {"/run/1", "/run/2", "/run/1/t/16", "/run/2/label/0"} <= pages.keys()
        assert [(page, anchor) for page, anchor in anchors if anchor and anchor not in pages[page].ids] == []


def test_any_two_runs_can_be_compared_in_either_direction(runs: Path) -> None:
    with served(runs) as server:
        form = {"token": server.token, "before": "2", "after": "1"}
        status, _, location = ask(server, "/", form)
        assert (status, location) == (303, "/diff/2/1")
        page = ask(server, location)[1]
        assert f"{runs / 'before'}, compared with {runs / 'now'}" in page
        assert ask(server, "/", {**form, "before": "../run/1"})[0] == 400
        assert ask(server, "/", {**form, "token": "forged"})[0] == 403


def test_other_pages_are_not_found(runs: Path) -> None:
    checks = len(json.loads((runs / "now" / "plan.json").read_bytes())["checks"])
    paths = (
        "/run/0", "/run/3", "/run/1/t/0", "/run/1/t/17", f"/run/1/label/{checks}", "/diff/1/9", "/nowhere",
        "/run/1/t/1/x", "/run/1/../../plan.json", "/run/1/%2e%2e/%2e%2e/plan.json", "/..%2f..%2fetc/passwd",
        "//etc/passwd", "/plan.json", "/run/1/plan.json", "/queue/", "/run/%C2%B2",
    )  # fmt: skip
    with served(runs) as server:
        assert {path for path in paths if ask(server, path)[0] != 404} == set()


def test_a_decision_writes_the_recomputed_run_next_to_the_original(runs: Path) -> None:
    before = (runs / "before" / "verdicts.jsonl").read_bytes()
    with served(runs) as server:
        assert "2 verdicts wait for a person" in ask(server, "/run/1")[1]
        status, _, location = ask(server, WAITING, decision(server))
        assert (status, location) == (303, WAITING)
        assert "1 verdict waits for a person" in ask(server, "/run/1")[1]
        assert "by Ana at" in ask(server, WAITING)[1]
        assert "2 verdicts wait for a person" in ask(server, "/run/2")[1]
    (line,) = (runs / "before" / "adjudicated" / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    taken = json.loads(line)
    assert [taken[key] for key in ("check_id", "verdict", "by", "why")] == ["RW-A1", "FAIL", "Ana", "nobody asked her"]
    assert "by page" in taken["via"]
    assert (runs / "before" / "verdicts.jsonl").read_bytes() == before
    summary = json.loads((runs / "before" / "adjudicated" / "summary.json").read_bytes())
    assert summary["failed"]["count"] == 3
    shown = runs / "diff.html"
    folders = [str(runs / "before"), str(runs / "before" / "adjudicated")]
    assert main(["diff", *folders, "--format", "html", "--out", str(shown)]) == 1
    page = Document(shown.read_text(encoding="utf-8"))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert "1 verdict flips" in shown.read_text(encoding="utf-8")


def test_a_person_who_decides_sees_what_the_judge_is_asked(runs: Path) -> None:
    plan = str(json.loads((runs / "now" / "plan.json").read_bytes()))
    with served(runs) as server:
        page = html.unescape(ask(server, WAITING)[1])
        shown = re.search(
            r"What the judge is asked</summary><blockquote[^>]*>(.+?)</blockquote>.*Your verdict on", page, re.DOTALL
        )
    assert shown is not None
    assert shown[1].split("\n")[0] in str(plan)
    assert len(shown[1]) > 100


def test_a_comparison_counts_decisions_and_leads_to_the_conversations(runs: Path) -> None:
    with served(runs) as server:
        assert "in the conversation" not in ask(server, "/diff/2/1")[1], "the runs are the same"
        ask(server, WAITING, decision(server))
        page = ask(server, "/diff/2/1")[1]
        (href,) = re.findall(r'href="(/run/1/t/12#t12-c\d+)" aria-label="RW-A1 in the conversation', page)
        assert f'id="{href.partition("#")[2]}"' in ask(server, href.partition("#")[0])[1]
        assert '<a href="/run/1/t/12">' in page


def test_each_transcript_leads_to_the_next_that_waits(runs: Path) -> None:
    with served(runs) as server:
        first = re.search(r'href="(/run/1/t/\d+)#(t\d+-c\d+)">Next waiting', ask(server, "/run/1/t/1")[1])
        assert first is not None
        assert first[1] == WAITING, "the gravest"
        second = re.search(r'href="(/run/1/t/\d+)#t\d+-c\d+">Next waiting', ask(server, WAITING)[1])
        assert second is not None
        assert second[1] not in (WAITING, "/run/1/t/1")
        assert f'href="{WAITING}#{first[2]}">Next waiting' in ask(server, second[1])[1]
        ask(server, WAITING, decision(server))
        assert "Next waiting" not in ask(server, second[1])[1]


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"by": " model b (FICTIONAL)"}, 422, "a model of this run; a person decides"),
        ({"by": ""}, 422, "names no person"),
        ({"why": " "}, 422, "names no reason"),
        ({"why": "\u200b"}, 422, "names no reason"),
        ({"verdict": "UNCLEAR"}, 400, "a decision is"),
        ({"check": "t12-c999"}, 400, "verdict not found"),
        ({"check": "t12-c5"}, 422, "the run has changed since this page was shown"),
        ({"seen": ""}, 422, "the run has changed since this page was shown"),
        ({"token": "x"}, 403, "stale or not ours"),
    ],
)
def test_a_decision_needs_a_person_a_reason_and_our_page(
    runs: Path, change: dict[str, str], status: int, said: str
) -> None:
    with served(runs) as server:
        found, text, _ = ask(server, WAITING, decision(server, **change))
        assert found == status
        assert said in text
    assert not (runs / "before" / "adjudicated" / "decisions.jsonl").exists()


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"},
     {"Cookie": ""}, {"Cookie": "rulewright=x"}],
)  # fmt: skip
def test_forms_from_elsewhere_decide_nothing(runs: Path, headers: dict[str, str]) -> None:
    with served(runs) as server:
        assert ask(server, WAITING, decision(server), **headers)[0] == 403
    assert not (runs / "before" / "adjudicated").exists()


def test_a_person_who_labels_does_not_see_the_verdict_of_the_check(runs: Path) -> None:
    with served(runs) as server:
        place = next(int(n) for n in re.findall(r"/run/1/label/(\d+)", ask(server, "/run/1/label")[1]))
        at, seen, forms = f"/run/1/label/{place}", [], []
        while "Save and continue" in (text := ask(server, at)[1]):
            assert not re.search("<mark|FAIL</span>|judge's replies|no majority", text)
            form = {"token": server.token, "target": "FAIL", "by": "ana", **dict(re.findall(ABOUT, text))}
            seen.append(form["number"])
            forms.append(form)
            assert ask(server, at, form)[0] == 303
        assert len(seen) == len(set(seen)) == 2
        assert "You have labelled every transcript" in text
        run = runs / "before"
        assert f"rulewright calibrate {run} --gold {run / 'labels' / 'RW-A1.csv'}</code>" in text
        again = {**forms[0], "target": "PASS"}
        assert ask(server, at, again)[0] == 303
        assert ask(server, at, {**again, "by": "Model B (fictional)"})[0] == 422
        assert ask(server, at, {**again, "number": "999"})[0] == 400
        stale = ask(server, at, {**again, "number": seen[1]})
        assert (stale[0], "the run has changed since this page was shown" in stale[1]) == (422, True)
    with (runs / "before" / "labels" / "RW-A1.csv").open(encoding="utf-8") as stream:
        labels = list(csv.DictReader(stream))
    assert sorted((row["target"], row["annotator"]) for row in labels) == [("FAIL", "ana"), ("PASS", "ana")]
    assert {row["split"] for row in labels} <= {"tune", "report"}
    assert list(labels[0]) == ["id", "target", "annotator", "split", "conversation"]
    assert all(len(row["conversation"]) == 32 for row in labels)
    assert main(["calibrate", str(runs / "before"), "--gold", str(runs / "before/labels/RW-A1.csv")]) == 0


def test_a_person_who_labels_sees_the_description_and_the_condition_of_a_check(tmp_path: Path) -> None:
    brief = "id: brief\ndescription: Is it < a page?\nfail_rule: It is long.\nfail: size(answer) > 80\n"
    write(tmp_path / "p", {"rulewright.yaml": "project: p", "checks/brief.yaml": brief})
    write(tmp_path, {"chats.jsonl": '{"messages": [{"role": "user", "content": "Hi"}]}\n'})
    main(["scan", str(tmp_path / "chats.jsonl"), "--project", str(tmp_path / "p"), "--out", str(tmp_path / "run")])
    with served(tmp_path / "run") as server:
        page = ask(server, "/run/1/label/0")[1]
    assert "FAIL if <code>size(answer) &gt; 80</code>" in page
    assert "Is it &lt; a page?\nFAIL: It is long." in page


def test_where_nothing_was_judged_nothing_is_labelled(tmp_path: Path) -> None:
    write(
        tmp_path / "p", {"rulewright.yaml": "project: p", "checks/brief.yaml": "id: brief\nfail: size(answer) > 80\n"}
    )
    write(tmp_path, {"chats.jsonl": '{"question": 1}\n'})
    main(["scan", str(tmp_path / "chats.jsonl"), "--project", str(tmp_path / "p"), "--out", str(tmp_path / "run")])
    with served(tmp_path / "run") as server:
        assert "No check applied to a transcript of this run." in ask(server, "/run/1/label")[1]
        page = ask(server, "/run/1/label/0")[1]
    assert "This check applied to no transcript." in page
    assert "You have labelled" not in page


def test_a_conversation_that_is_gone_can_not_be_labelled(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path / "p")]) == 0
    chats = tmp_path / "p" / "transcripts"
    assert main(["scan", str(chats), "--project", str(tmp_path / "p"), "--out", str(tmp_path / "run")]) == 1
    with served(tmp_path / "run") as server:
        text = ask(server, "/run/1/label/0")[1]
        form = {"token": server.token, "target": "PASS", "by": "ana", **dict(re.findall(ABOUT, text))}
        shutil.rmtree(chats)
        page = ask(server, "/run/1/label/0")[1]
        assert "The conversation is not shown" in page
        assert "Save and continue" not in page
        status, page, _ = ask(server, "/run/1/label/0", form)
        assert (status, "a conversation that is not shown can&#39;t be labelled" in page) == (422, True)
    assert not (tmp_path / "run" / "labels").exists()


def test_people_who_decide_at_once_wait_for_each_other_and_the_first_decision_counts(runs: Path) -> None:
    with served(runs) as server, ThreadPoolExecutor(8) as people:
        form = decision(server)
        forms = [{**form, "by": f"Ann {number}", "verdict": ("FAIL", "PASS")[number % 2]} for number in range(8)]
        answers = [*people.map(lambda each: ask(server, WAITING, each), forms)]
        assert sorted(status for status, _, _ in answers) == [303] + 7 * [422]
        assert all("was decided by Ann" in text for status, text, _ in answers if status == 422)
        (at,) = re.findall(r"/run/1/label/(\d+)", ask(server, "/run/1/label")[1])[:1]
        label = {
            "token": server.token,
            "target": "FAIL",
            **dict(re.findall(ABOUT, ask(server, f"/run/1/label/{at}")[1])),
        }
        answers = [*people.map(lambda by: ask(server, f"/run/1/label/{at}", {**label, "by": f"ann {by}"}), range(8))]
        assert [status for status, _, _ in answers] == 8 * [303]
    assert len((runs / "before" / "adjudicated" / "decisions.jsonl").read_text("utf-8").splitlines()) == 1
    (labels,) = (runs / "before" / "labels").glob("*.csv")
    assert len(labels.read_text("utf-8").splitlines()) == 9


def test_of_two_servers_of_a_run_the_first_decision_counts(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(runs) as first, served(runs) as second:
        forms = [decision(server, by=by) for server, by in ((first, "Ana"), (second, "Bo"))]
        statuses = []

        def overtaken(connection: socket.socket) -> Origin:
            """Let the other server decide after this one has read the run."""
            monkeypatch.undo()
            statuses.append(ask(first, WAITING, forms[0])[0])
            return sender(connection)

        monkeypatch.setattr(runs_app, "sender", overtaken)
        status, text, _ = ask(second, WAITING, {**forms[1], "verdict": "PASS"})
        assert (statuses, status, "was decided by Ana" in text) == ([303], 422, True)
    assert len((runs / "before" / "adjudicated" / "decisions.jsonl").read_text("utf-8").splitlines()) == 1


def test_a_decision_whose_run_was_not_written_counts_and_is_written(runs: Path) -> None:
    with served(runs) as server:
        form = decision(server)
        assert ask(server, WAITING, form)[0] == 303
        (runs / "before" / "adjudicated" / "summary.json").unlink()  # as after a kill
        status, text, _ = ask(server, WAITING, {**form, "by": "Bo", "verdict": "PASS"})
        assert (status, "was decided by Ana" in text, "by Ana at" in ask(server, WAITING)[1]) == (422, True, True)


def test_two_people_who_label_at_once_keep_their_own_names_and_items(runs: Path) -> None:
    with served(runs) as server:
        shown = dict.fromkeys(("Bo", "Cem"), "/run/1/label/0")
        for by in ("Bo", "Cem"):
            hidden = dict(re.findall(ABOUT, ask(server, shown[by])[1]))
            form = {"token": server.token, "target": "FAIL", "by": by, **hidden}
            status, _, shown[by] = ask(server, shown[by], form)
            assert status == 303
        for by, other in (("Bo", "Cem"), ("Cem", "Bo")):
            text = ask(server, shown[by])[1]
            assert (f'value="{by}"' in text or f"labelled by {by}" in text, other in text) == (True, False)
        assert 'value="Cem"' not in ask(server, WAITING)[1]


def test_a_form_is_shown_again_while_another_process_decides(runs: Path) -> None:
    with served(runs) as server, lock_folder(runs / "before" / "adjudicated"), lock_folder(runs / "before" / "labels"):
        status, text, _ = ask(server, WAITING, decision(server, why="typed once"))
        assert (status, "is in use" in text, "typed once" in text) == (422, True, True)
        (at,) = re.findall(r"/run/1/label/(\d+)", ask(server, "/run/1/label")[1])[:1]
        hidden = dict(re.findall(ABOUT, ask(server, f"/run/1/label/{at}")[1]))
        label = {"token": server.token, "target": "FAIL", "by": "ann", **hidden}
        status, text, _ = ask(server, f"/run/1/label/{at}", label)
        assert (status, "is in use" in text) == (422, True)


def test_what_hostile_transcripts_say_stays_text_on_every_page(finished: Path) -> None:
    with served(finished) as server:
        for path in ("/", "/run/1", "/run/1/t/1", "/run/1/label/0"):
            text = ask(server, path)[1].replace('<script src="/page.js" defer></script>', "").replace("action=", "at=")
            assert "script" not in Document(text).tags
            assert not re.search("[\u202a-\u202e\u2066-\u2069\u0007]", text)


def test_the_queue_of_a_workflow_is_on_the_same_site(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "flow").mkdir()
    flow = bench(tmp_path / "flow", FLOW, SCRIPT)
    assert flow.run().status == "WAITING"
    app = RunsApp(OpenRuns([str(runs)]), "ana", "/queue")
    with LocalServer({"": app, "/queue": QueueApp(flow.store, "ana", "/queue")}) as server:
        assert 'href="/queue/"' in ask(server, "/")[1]
        (item,) = re.findall(r'href="(/queue/item/[^"]+)"', ask(server, "/queue/")[1])
        form = {"token": server.token, "move": "resolve", "by": "ana", "notes": "fine"}
        assert ask(server, item, form)[::2] == (303, item)
        assert "RESOLVED by ana" in ask(server, item)[1]


def test_a_port_in_use_is_refused_with_the_option_for_another(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(runs) as server:
        assert main(["serve", str(runs), "--port", str(server.server_address[1])]) == 3
    assert "address already in use; choose another one with `--port`" in capsys.readouterr().err


def test_a_run_of_an_earlier_version_hides_no_other_and_is_named(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = json.loads((runs / "before" / "summary.json").read_text("utf-8"))
    (runs / "before" / "summary.json").write_text(json.dumps({**summary, "version": 3}), "utf-8")
    with served(runs) as server:
        page = ask(server, "/")[1]
        assert ("expected 4; scan again" in page, 'href="/run/2"' in page) == (True, True)
        port = str(server.server_address[1])
        assert main(["serve", str(runs), "--port", port]) == 3  # it starts, except that its port is in use
        note, error = capsys.readouterr().err.splitlines()
        assert note == f"note: {runs / 'before' / 'summary.json'}: the `version` is `3`, expected 4; scan again"
        assert "address already in use" in error
        assert main(["serve", str(runs / "before"), "--port", port]) == 3
        assert capsys.readouterr().err == note.replace("note", "error") + "\n"


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no finished run"):
        OpenRuns([str(tmp_path)])


@pytest.mark.parametrize("name", ["verdicts.jsonl", "scores.jsonl"])
def test_a_run_that_is_edited_while_it_is_served_is_not_shown(name: str, runs: Path) -> None:
    with served(runs) as server:
        assert [ask(server, path)[0] for path in ("/", "/run/1", WAITING)] == [200, 200, 200]
        file = runs / "before" / name
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace('"FAIL"', '"PASS"').replace("0.", "1.", 1), encoding="utf-8")
        for path, expected in (("/", 200), ("/run/1", 500), (WAITING, 500)):
            status, page, _ = ask(server, path)
            said = html.unescape(page)
            assert (status, f"{name}` is not the file that `manifest.json` names" in said) == (expected, True)
        assert 'href="/run/1"' not in ask(server, "/")[1]
        file.write_text(text, encoding="utf-8")
        assert ask(server, WAITING)[0] == 200


def test_runs_that_come_and_go_are_listed_and_keep_their_numbers(demo: Path, runs: Path) -> None:
    with served(runs) as server:
        shutil.copytree(demo, runs / "before this")  # in the order of names it would be the second
        page = ask(server, "/")[1]
        assert re.findall(r'href="/run/(\d)">[^<]*/([^</]+)</a>', page) == [
            ("1", "before"),
            ("2", "now"),
            ("3", "before this"),
        ]
        assert ask(server, "/run/3")[0] == 200
        shutil.rmtree(runs / "now")
        page = ask(server, "/")[1]
        assert re.findall(r'href="/run/(\d)"', page) == re.findall(r'<option value="(\d)"', page)[:2] == ["1", "3"]
        assert "no longer contains a finished run" in page
        assert ask(server, "/run/4")[0] == 404


def test_a_request_that_names_two_hosts_is_refused(runs: Path) -> None:
    with served(runs) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        connection.putrequest("GET", "/")
        connection.putheader("Host", "elsewhere.example")
        connection.putheader("Cookie", f"{server.cookie}={server.key}")
        connection.endheaders()
        assert connection.getresponse().status == 403
        connection.close()


def test_copies_of_one_text_are_in_one_split(tmp_path: Path) -> None:
    labels = Labels(tmp_path, "A-1")
    for number in range(20):
        labels.add(f"m{number}", "PASS", "Ana", f"fingerprint {number}", "one text")
    assert len({each.split for each in labels.read()}) == 1


def test_checks_whose_labels_a_file_system_keeps_in_one_file_are_labelled_separately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Labels, "path", property(lambda labels: labels.run / "labels" / f"{labels.check.lower()}.csv"))
    upper, lower = Labels(tmp_path, "A-1"), Labels(tmp_path, "a-1")
    upper.add("monday", "PASS", "Ana", "")
    assert upper.done("Ana") == ["monday"]
    assert lower.next(["monday"], "Ana") == "monday"
    lower.add("monday", "FAIL", "Ana", "")
    assert [len(each.own()) for each in (upper, lower)] == [1, 1]
