"""The page of a run as a document: what it holds of every transcript, that its links lead somewhere, and that nothing a
transcript, a name or a judge says becomes markup."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.compiler.small_project import check, write
from tests.folders import json_lines, write_turns
from tests.folders import write as write_files
from tests.shared_data import ROOT

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.reporting import report_files
from rulewright.reporting.chat_page import Mark, find, pieces
from rulewright.reporting.formats import run_as
from rulewright.reporting.page_data import page_data
from rulewright.reporting.report_files import attention
from rulewright.reporting.stored_run import open_run
from rulewright.web.rendering import FILTERS, PageFrame
from rulewright_runtime.runs.store import run

EVIL = "</p><script>alert(1)</script><img src=x onerror=alert(1)> \u202e\u2066\u0007{{ 7*7 }} <!--"
LONG = "W" * 3000
VOID = ("meta", "br", "wbr", "link", "input", "img")


class Document(HTMLParser):
    """The tags of a page, its ids, the places it links to, and the text of its scripts; tags must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in ("src", "style", "action", "formaction"), name
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def reply(verdict: str, quote: str, reason: str = "because", turn: int = 1) -> str:
    evidence = [{"role": "assistant", "turn": turn, "quote": quote}]
    return json.dumps({"verdict": verdict, "evidence": evidence, "rationale_code": reason, "rationale": reason})


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A run whose judge fails `model__night` with a quote that differs in case and one that nobody said, is divided
    about `other__night`, and whose third transcript is hostile."""
    plan = compile_project(write(tmp_path / "project", {"checks/W-1.yaml": check()}))
    folder = tmp_path / "said"
    folder.mkdir()
    write_turns(folder / "model__night.jsonl", "Hello", "I fear you MUST\n go now.", "Why?", "Because.")
    write_turns(folder / "other__night.jsonl", "Hello", "As you like.")
    write_turns(folder / "evil<b>__night.jsonl", EVIL, f"{EVIL} {LONG}")
    two = json.loads(reply("FAIL", "you must go now"))
    two["evidence"].append({"role": "assistant", "turn": 2, "quote": "never said <b>this</b> at all"})
    replies: dict[str, Any] = {
        "model__night": {"W-1": [[json.dumps(two)]] * 3},
        "other__night": {"W-1": [[reply("FAIL", "As you like.")], [reply("PASS", "")], [reply("UNCLEAR", "")]]},
        "evil<b>__night": {"W-1": [[reply("FAIL", EVIL, EVIL)]] * 3},
    }
    (tmp_path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
    run(plan, [folder], tmp_path / "run", judge=f"replay:{tmp_path / 'replies.json'}")
    return tmp_path / "run"


def report(folder: Path, *more: str) -> str:
    main(["report", str(folder), "--replies", str(folder.parent / "replies.json"), *more])
    return (folder / "report.html").read_text(encoding="utf-8")


def test_a_failure_opens_to_its_conversation_with_the_quote_marked(finished: Path) -> None:
    text = report(finished)
    chat = text[text.index('id="t2"') : text.index('id="t3"')]
    assert '<mark class="FAIL">you MUST\n go now</mark><a href="#t2-c0"' in chat
    assert "Rejected quotes" in chat
    assert "never said &lt;b&gt;this&lt;/b&gt; at all" in chat
    assert "2 of 3 planned for the verdict; cast: FAIL, FAIL; 1 not asked" in chat
    assert "no majority of 3 planned; cast: FAIL, PASS, UNCLEAR" in text[text.index('id="t3"') :]
    assert "The judge's replies (2)" in chat


def test_who_reads_only_the_page_learns_what_was_asked_and_why_it_failed(finished: Path) -> None:
    text = report(finished)
    failures = text[text.index('id="failures"') : text.index('id="scores"')]
    assert "What the judge is asked" in failures
    assert "<p>because</p>" not in failures
    asked, first = failures.index("What the judge is asked"), failures.index('href="#t2-c0"')
    assert asked < first < failures.index("because", first) < failures.index("you must go now")
    chat = text[text.index('id="t2"') : text.index('id="t3"')]
    assert "<p>because</p>" in chat


def test_a_tie_of_votes_is_said_and_not_the_quote_of_one_of_them(finished: Path) -> None:
    (line,) = [each for each in run_as("github", open_run(finished)).splitlines() if "`other__night`" in each]
    assert line.endswith("says_no: UNCLEAR in `other__night`, the votes of the judge have no majority")


def test_verdicts_that_wait_for_a_person_come_before_failures(finished: Path) -> None:
    text = report(finished)
    assert f"<code>rulewright adjudicate {finished}</code> lists all and takes decisions" in text
    assert 0 < text.index('id="waiting"') < text.index('id="failures"') < text.index('id="transcripts"')
    waiting = text[text.index('id="waiting"') : text.index('id="failures"')]
    assert 'href="#t3-c0">other_<wbr>_<wbr>night</a>' in waiting
    assert "no majority" in waiting


def test_the_most_severe_verdict_that_waits_comes_first_and_says_what_makes_it_unproven(tmp_path: Path) -> None:
    checks = {
        "checks/W-1.yaml": check(bucket="C", severity="S2"),
        "checks/W-2.yaml": check().replace("W-1", "W-2").replace("says_no", "gate"),
    }
    plan = compile_project(write(tmp_path / "project", checks))
    (tmp_path / "said").mkdir()
    write_turns(tmp_path / "said" / "model__night.jsonl", "Hello", "As you like.")
    replies = {"model__night": {"W-1": [["?"]] * 3, "W-2": [[reply("FAIL", "never said this")]] * 3}}
    (tmp_path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
    run(plan, [tmp_path / "said"], tmp_path / "run", judge=f"replay:{tmp_path / 'replies.json'}")
    shown = page_data(open_run(tmp_path / "run"))["waiting"]["shown"]
    assert [(each["check_id"], each["severity"], each["verdict"]) for each in shown] == [
        ("W-2", "S5", "FAIL"),
        ("W-1", "S2", "UNCLEAR"),
    ]
    text = report(tmp_path / "run")
    assert '<td class="reason">because (unproven: quotes that do not occur)</td>' in text
    assert '<td class="reason">the judge gave no usable reply</td>' in text


def test_many_verdicts_that_wait_do_not_push_the_failures_down(tmp_path: Path) -> None:
    plan = compile_project(write(tmp_path / "project", {"checks/W-1.yaml": "id: W-1\nfail: usage.cost > 1.0\n"}))
    said = [{"role": role, "content": "Yes."} for role in ("user", "assistant")]
    (tmp_path / "chats.jsonl").write_text((json.dumps({"messages": said}) + "\n") * 28, encoding="utf-8")
    run(plan, [tmp_path / "chats.jsonl"], tmp_path / "run")
    main(["report", str(tmp_path / "run")])
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<dt>undecided</dt><dd>no_such_key: no such key: <code>cost</code></dd>" in text
    before, after = text.split("<summary>3 more verdicts</summary>")
    assert ('href="#t25-c0"' in before, 'href="#t26-c0"' in before, 'href="#t28-c0"' in after) == (True, False, True)


def test_a_condition_is_reported_once_and_a_check_needs_no_severity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text(
        "project: shop\nvocabulary: {severities: [low, high]}\n", encoding="utf-8"
    )
    said = [{"role": role, "content": "I promise."} for role in ("user", "assistant") * 2]
    (tmp_path / "chat.jsonl").write_text(json.dumps({"messages": said}), encoding="utf-8")
    for name, word in (("no-promises", "promise"), ("no-refunds", "refund")):
        text = f"id: {name}\neach: reply\nfail: turn.content.matches('{word}')\n"
        (tmp_path / "checks" / f"{name}.yaml").write_text(text, encoding="utf-8")
    assert main(["scan", "chat.jsonl", "--out", "run"]) == 1
    assert main(["report", "run"]) == 1
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('<p class="soft">confidence 1.00') == 2
    assert "its condition <code>fail</code> does not hold" in page
    failed = page[page.index('<details class="chat"') : page.index("passed or not applicable")]
    assert failed.count("promise&#39;)") + failed.count("promise&#34;)") == 1


def test_what_is_open_is_listed_before_what_failed_and_what_passed() -> None:
    rows = [("passed", 0), ("failed", 0), ("passed", 1), ("undecided", 0), ("failed", 2)]
    found = [{"waiting": waiting, "outcome": outcome} for outcome, waiting in rows]
    assert sorted(found, key=attention) == [found[4], found[2], found[3], found[1], found[0]]


def test_a_mean_near_one_is_not_shown_as_a_failure() -> None:
    assert [FILTERS["heat"](share, 0.1) for share in (0.0, 0.03, 0.1, 0.3, 1.0)] == ["", "", "", "h2", "h4"]
    assert [FILTERS["heat"](share) for share in (0.0, 0.03, 1.0)] == ["", "h1", "h4"]


def test_nothing_that_anybody_says_becomes_markup(finished: Path) -> None:
    text = report(finished)
    document = Document(text)
    assert {"script", "img", "b", "iframe"} & document.tags <= {"script", "b"}
    assert len(document.scripts) == 1
    assert "&lt;script&gt;alert(1)" in text
    assert "{{ 7*7 }}" in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u0007]", text)


def test_a_page_may_use_its_own_style_and_script_and_nothing_else(finished: Path) -> None:
    text = report(finished)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.replace("&#39;", "'").split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert rules == {
        f"{kind}-src": f"'sha256-{_digest(body)}'" for kind, body in (("script", script), ("style", style))
    }
    assert not re.search(r"https?://|url\(|@import|innerHTML|fetch\(", text.replace(PageFrame().script, script))


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def test_many_transcripts_make_a_folder_of_pages_whose_links_all_lead_somewhere(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Document(report(finished))
    assert {link for link in one.links if link[1:] not in one.ids} == set()
    assert len(one.ids) == len(set(one.ids))
    monkeypatch.setattr(report_files, "IN_ONE_FILE", 2)
    monkeypatch.setattr(report_files, "A_PAGE", 2)
    report(finished)
    assert capsys.readouterr().out.endswith(f"wrote {finished / 'report.html'} and {finished / 'report-pages'}/\n")
    pages = {path: Document(path.read_text(encoding="utf-8")) for path in finished.rglob("*.html")}
    assert {path.name for path in pages} == {"report.html", "chats-0001.html", "chats-0002.html", "transcripts.html"}
    for path, page in pages.items():
        for link in page.links:
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert anchor == "" or anchor in pages[target].ids, (path.name, link)
    report(finished, "--one-file")
    assert not (finished / "report-pages").exists()


def test_a_conversation_that_was_changed_since_is_not_shown(finished: Path) -> None:
    place = finished.parent / "said" / "model__night.jsonl"
    place.rename(finished.parent / "moved.jsonl")
    write_turns(finished.parent / "said" / "model__night.jsonl", "Hello", "Something else.")
    text = report(finished)
    assert "Something else." not in text
    assert "its file was moved or changed since the run" in text
    folder = finished.parent / "elsewhere"
    folder.mkdir()
    (finished.parent / "moved.jsonl").rename(folder / "model__night.jsonl")
    assert "its file was moved or changed since the run" not in report(finished, "--transcripts", str(folder))


def test_conversations_are_found_from_every_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, reply in (("here", "Always."), ("there", "Never.")):
        said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": reply}]
        brief = "id: brief\nfail: size(answer) > 99\n"
        chats = json_lines([{"messages": said}])
        write_files(
            tmp_path / name, {"rulewright.yaml": "project: p\n", "checks/brief.yaml": brief, "chats.jsonl": chats}
        )
    monkeypatch.chdir(tmp_path / "here")
    assert main(["scan", "chats.jsonl", "--out", "runs/one"]) == 0
    monkeypatch.chdir(tmp_path / "there")
    run = tmp_path / "here" / "runs" / "one"
    assert main(["report", str(run)]) == 0
    assert "Always." in (run / "report.html").read_text(encoding="utf-8")


def test_a_report_says_how_many_conversations_it_does_not_show(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report(finished)
    assert "not shown" not in capsys.readouterr().err
    (finished.parent / "said" / "model__night.jsonl").rename(finished.parent / "moved.jsonl")
    (finished / "report.html").unlink()
    report(finished)
    assert "note: 1 conversation not shown: moved or changed since the run; `--transcripts PATH` gives" in (
        capsys.readouterr().err
    )
    report(finished, "--no-conversations")
    assert "not shown" not in capsys.readouterr().err


def test_a_page_is_not_replaced_by_one_that_shows_fewer_conversations(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = report(finished)
    folder = finished.parent / "elsewhere"
    (finished.parent / "said").rename(folder)
    assert main(["report", str(finished)]) == 3
    assert "shows conversations that were moved or changed since the run" in capsys.readouterr().err
    assert (finished / "report.html").read_text(encoding="utf-8") == page
    assert main(["report", str(finished), "--out", str(finished / "other.html")]) == 1
    assert main(["report", str(finished), "--transcripts", str(folder)]) == 1


def test_a_page_without_the_moved_conversations_is_replaced(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (finished.parent / "said").rename(finished.parent / "elsewhere")
    for most in (200, 0):  # the conversations in the page, and in a folder
        monkeypatch.setattr("rulewright.reporting.report_files.IN_ONE_FILE", most)
        assert main(["report", str(finished)]) == 1
        assert main(["report", str(finished)]) == 1


def test_a_folder_of_pages_is_not_replaced_by_one_that_shows_fewer_conversations(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rulewright.reporting.report_files.IN_ONE_FILE", 0)
    report(finished)
    (finished.parent / "said").rename(finished.parent / "elsewhere")
    assert main(["report", str(finished)]) == 3


def test_a_moved_conversation_is_found_next_to_a_record_that_cannot_be_read(finished: Path) -> None:
    moved = finished.parent / "elsewhere"
    (finished.parent / "said").rename(moved)
    (moved / "broken.jsonl").write_text('{"turn": 1, "role"')
    assert "its file was moved or changed since the run" not in report(finished, "--transcripts", str(moved))
    assert main(["report", str(finished), "--transcripts", str(moved / "broken.jsonl")]) == 3


def test_conversations_are_left_out_on_demand(finished: Path) -> None:
    text = report(finished, "--no-conversations")
    assert "go now" in text  # the quote that proves the failure
    assert "I fear" not in text
    assert {link for link in Document(text).links if link[1:] not in Document(text).ids} == set()


def test_the_same_run_gives_the_same_bytes(finished: Path) -> None:
    assert report(finished) == report(finished)


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5))
def test_marks_never_change_the_text(text: str, ends: list[tuple[int, int]]) -> None:
    inside = [(min(a, b, len(text)), min(max(a, b), len(text))) for a, b in ends]
    marks = [Mark(start, end, "FAIL", f"c{n}", f"c{n}") for n, (start, end) in enumerate(inside) if start < end]
    found = pieces(text, marks)
    assert "".join(piece.text for piece in found) == text
    assert sorted(mark.label for piece in found for mark in piece.ends) == sorted(mark.label for mark in marks)
    assert sum(len(piece.text) for piece in found if piece.verdict) == len(
        {at for mark in marks for at in range(mark.start, mark.end)}
    )


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("can count on me", ["can count on me"]),
        ("CAN count, on me!", ["can count on me"]),
        ("You can … day and night", ["You can", "day and\nnight"]),
        ("you never", []),
        ("", []),
        ("...", []),
    ],
)
def test_a_quote_is_found_as_judges_write_it(quote: str, found: list[str]) -> None:
    text = "You can count on me, day and\nnight."
    assert [text[start:end] for start, end in find(quote, text)] == found


def test_gates_name_missing_answers_only_where_answers_are_missing(finished: Path, tmp_path: Path) -> None:
    gates = [re.findall('<h2 id="gates">.*?</table>', report(finished), re.DOTALL)]
    plan = compile_project(write(tmp_path / "project", {"checks/W-1.yaml": check()}))
    replies = {"other__night": {"W-1": [[reply("FAIL", "As you like.")]] * 3}}
    (tmp_path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
    run(
        plan,
        [tmp_path / "said" / "other__night.jsonl"],
        tmp_path / "complete",
        judge=f"replay:{tmp_path / 'replies.json'}",
    )
    gates.append(re.findall('<h2 id="gates">.*?</table>', report(tmp_path / "complete"), re.DOTALL))
    assert [[("With all answers" in table) for table in found] for found in gates] == [[True], [False]]


def test_a_wide_table_scrolls_in_a_box_of_its_own() -> None:
    for template in sorted((ROOT / "compiler" / "rulewright").glob("*/templates/*.html")):
        for before in template.read_text(encoding="utf-8").split("<table")[:-1]:
            assert re.search(r'<div class="scroll" role="region" aria-label="[^"]+" tabindex="0">$', before), template
