"""The report in Chromium: no accessibility violation in any look, nothing wider than a phone, the keyboard is enough,
and the page is whole without its script."""

import json
from pathlib import Path

import pytest
from tests.browser import Browser, violations
from tests.compiler.serving.test_serve import WAITING, served
from tests.compiler.serving.test_serve import demo as demo
from tests.compiler.serving.test_serve import runs as runs
from tests.compiler.small_project import check, write
from tests.compiler.workflow.test_signoff import ITEM
from tests.compiler.workflow.test_signoff import served as signing
from tests.folders import write_turns

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.shipped import PROJECT_FILE, shipped_root
from rulewright_runtime.runs.store import run

TAB, ENTER = "\ue004", "\ue007"
HOSTILE = f"{'W' * 2000} <script>document.title = 'owned'</script> \u202e\u05d0\u05d1"


@pytest.fixture(scope="module")
def page(demo: Path, browser: Browser) -> str:
    """The address of the shipped benchmark's report."""
    replies = shipped_root() / PROJECT_FILE.parent / "judge_replies" / "replies.json"
    assert main(["report", str(demo), "--replies", str(replies)]) == 1
    return (demo / "report.html").as_uri()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> str:
    """The address of a report in which everybody says the worst, of models with long names."""
    folder = tmp_path_factory.mktemp("hostile")
    name = f"{'m' * 120}__night"
    for each in (name, f"other-{name}"):
        write_turns(folder / "said" / f"{each}.jsonl", HOSTILE, HOSTILE)
    reply = {"verdict": "FAIL", "evidence": [{"role": "assistant", "turn": 1, "quote": HOSTILE}]}
    (folder / "replies.json").write_text(
        json.dumps({name: {"W-1": [[json.dumps({**reply, "rationale_code": HOSTILE})]] * 3}})
    )
    plan = compile_project(write(folder / "project", {"checks/W-1.yaml": check()}))
    run(plan, [folder / "said"], folder / "run", judge=f"replay:{folder / 'replies.json'}")
    assert main(["report", str(folder / "run"), "--replies", str(folder / "replies.json")]) == 1
    return (folder / "run" / "report.html").as_uri()


@pytest.fixture(scope="module")
def hebrew(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report on a conversation in Hebrew."""
    folder = tmp_path_factory.mktemp("hebrew")
    promise = "\u05d4\u05d7\u05d6\u05e8 \u05de\u05dc\u05d0 \u05ea\u05d5\u05da 14 \u05d9\u05d5\u05dd."
    write_turns(folder / "said" / "m__night.jsonl", promise, promise)
    reply = {"verdict": "FAIL", "rationale": promise, "evidence": [{"role": "assistant", "turn": 1, "quote": promise}]}
    (folder / "replies.json").write_text(json.dumps({"m__night": {"W-1": [[json.dumps(reply)]] * 3}}))
    plan = compile_project(write(folder / "project", {"checks/W-1.yaml": check()}))
    run(plan, [folder / "said"], folder / "run", judge=f"replay:{folder / 'replies.json'}")
    assert main(["report", str(folder / "run"), "--replies", str(folder / "replies.json")]) == 1
    return (folder / "run" / "report.html").as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_everybody_can_read_the_page(browser: Browser, page: str, scheme: str, width: int) -> None:
    browser.resize(width)
    browser.prefer(scheme)
    browser.show(page)
    assert browser.overflow() <= 0
    assert violations(browser) == []
    browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true })")
    assert browser.overflow() <= 0


def test_hostile_texts_do_not_run_or_break_the_page(browser: Browser, hostile: str) -> None:
    browser.resize(390)
    browser.show(hostile)
    assert violations(browser) == []
    assert browser.overflow() <= 0
    assert browser.run("return document.title").startswith("Failed")
    assert browser.run("return document.scripts.length") == 1


def test_texts_that_are_read_from_right_to_left_start_at_the_right(browser: Browser, hebrew: str) -> None:
    browser.resize(1280)
    browser.show(hebrew)
    shown = """return [...document.querySelectorAll("blockquote, .judged p, li bdi, .said .text")]
        .filter((each) => /^\\p{Script=Hebrew}/u.test(each.textContent))
        .map((each) => [each.localName, getComputedStyle(each).direction])"""
    found = browser.run(shown)
    assert {name for name, _ in found} == {"blockquote", "p", "bdi"}
    assert {direction for _, direction in found} == {"rtl"}


def test_the_policy_of_the_page_stops_whatever_is_injected(browser: Browser, page: str) -> None:
    browser.show(page)
    script = """
    document.body.append(Object.assign(document.createElement("script"), {textContent: "window.owned = 1"}));
    const styled = '<p id="styled" style="color: rgb(1, 2, 3)" onclick="window.owned = 1">';
    document.body.insertAdjacentHTML("beforeend", styled);
    document.getElementById("styled").click();
    return [window.owned ?? null, getComputedStyle(document.getElementById("styled")).color === "rgb(1, 2, 3)"]
    """
    assert browser.run(script) == [None, False]


def test_the_keyboard_is_enough(browser: Browser, page: str) -> None:
    browser.resize(1280)
    browser.show(page)
    browser.press(TAB)
    assert browser.run("return document.activeElement.textContent") == "Skip to the content"
    browser.press(ENTER)
    assert browser.run("return location.hash") == "#content"
    browser.run("document.querySelector('#failures ~ details:not([open]) summary').focus()")
    browser.press(ENTER)
    assert browser.run("return document.activeElement.parentElement.open") is True
    browser.run("document.querySelectorAll('table[data-list] th button')[5].focus()")
    browser.press(ENTER)
    heads = browser.run(
        "return [...document.querySelectorAll('th[aria-sort]')].map((h) => [h.textContent, h.ariaSort])"
    )
    assert heads == [["Overall", "ascending"]]
    first = browser.run("return document.querySelector('table[data-list] tbody tr').textContent")
    assert "failed" in first


def test_search_and_filters_leave_what_fits_and_say_how_much(browser: Browser, page: str) -> None:
    browser.show(page)
    browser.run("document.querySelector('input[type=search]').focus()")
    browser.press(*"model-b chest")
    shown = "return [...document.querySelectorAll('table[data-list] tbody tr')].filter((row) => !row.hidden).length"
    assert browser.run(shown) == 1
    assert browser.run("return document.querySelector('output').textContent") == "1 of 16 rows"
    browser.run(
        "const filter = document.querySelectorAll('.controls select')[1]; filter.value = '=passed';"
        "filter.dispatchEvent(new Event('change'))"
    )
    assert browser.run("return document.querySelector('output').textContent") == "0 of 16 rows"


def test_what_a_screen_reader_says(browser: Browser, page: str) -> None:
    browser.show(page)
    browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true })")
    assert browser.name("nav") == ("navigation", "Parts of this page")
    assert browser.name("input[type=search]") == ("searchbox", "Search")
    assert browser.name("#checks ~ .scroll") == ("region", "Checks by model")
    role, label = browser.name("mark + a")
    assert (role, label.split(" ")[:2]) == ("link", ["quoted", "by"])
    assert browser.name("h1") == ("heading", "Failed")


def test_a_link_opens_the_conversation_without_the_script(browser: Browser, page: str) -> None:
    browser.show(page)
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.show(page)
        element = browser.find("#waiting ~ .scroll a")
        browser.ask("POST", f"/element/{element}/click")
        assert browser.ask("GET", f"/element/{browser.find('.judged:target h4')}/text").startswith("UNCLEAR RW-A1")
        shown = browser.ask("GET", f"/element/{browser.find('details.chat[open] .said li')}/displayed")
        assert shown is True
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_the_names_of_runs_in_long_folders_fit_into_a_narrow_window(runs: Path, browser: Browser) -> None:
    (runs / "now").rename(runs / ("now" * 70))
    with served(runs) as server:
        browser.show(server.url)
        browser.resize(390)
        browser.show(f"http://127.0.0.1:{server.server_address[1]}/")
        assert browser.overflow() <= 0


def test_a_person_decides_in_a_browser_with_the_keyboard(runs: Path, browser: Browser) -> None:
    tab, enter, space = "\ue004", "\ue007", " "
    with served(runs) as server:
        browser.show(server.url)
        base = f"http://127.0.0.1:{server.server_address[1]}"
        for path, width, scheme in (("/", 1280, "light"), ("/run/1/label/0", 390, "dark"), ("/diff/1/2", 390, "light")):
            browser.resize(width)
            browser.prefer(scheme)
            browser.show(base + path)
            assert violations(browser) == []
            assert browser.overflow() <= 0
        browser.show(base + WAITING)
        assert violations(browser) == []
        browser.run("document.querySelector('form input[type=radio]').focus()")
        browser.press(space, tab, *"she is safe", tab, tab, enter)
        browser.wait_until("return document.body.textContent.includes('was UNCLEAR: she is safe')")
        assert browser.run("return location.pathname") == WAITING


def test_a_real_browser_shows_the_item_and_everybody_can_read_it(browser: Browser, tmp_path: Path) -> None:
    with signing(tmp_path) as (_, server):
        for width, scheme in ((1280, "light"), (390, "dark")):
            browser.resize(width)
            browser.prefer(scheme)
            browser.show(server.address(ITEM))
            assert "Your decision" in browser.run("return document.body.textContent")
            deleted = browser.run("return [...document.querySelectorAll('.del')].map((line) => line.textContent)")
            assert "-old line" in deleted
            assert violations(browser) == []
            assert browser.overflow() <= 0
