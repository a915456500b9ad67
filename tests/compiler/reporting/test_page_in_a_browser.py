"""The report in Chromium: no accessibility violation in any look, nothing wider than a phone, the keyboard is enough,
and the page is whole without its script."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from tests.browser import Browser
from tests.compiler.small_project import check, write

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.shipped import PROJECT_FILE, shipped_root
from rulewright_runtime.runs.store import run

TAB, ENTER = "\ue004", "\ue007"
OPEN_EVERY_KIND = """
const seen = new Set();
const name = (each) => `${each.localName}.${each.className}`;
const kind = (each) => `${name(each.parentElement)} ${name(each)}`;
for (const part of document.querySelectorAll("details")) {
  const own = [...part.querySelectorAll("*")].filter((each) => each.parentElement.closest("details") === part);
  if (own.map(kind).every((each) => seen.has(each))) continue;
  own.forEach((each) => seen.add(kind(each)));
  for (let at = part; at; at = at.parentElement.closest("details")) at.open = true;
}
"""  # as many parts as hold each kind of element once: opening all of them shows the same kinds more often
HOSTILE = f"{'W' * 2000} <script>document.title = 'owned'</script> \u202e\u05d0\u05d1"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> str:
    """The address of the shipped benchmark's report."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    main(["demo", "--out", str(folder)])
    replies = shipped_root() / PROJECT_FILE.parent / "judge_replies" / "replies.json"
    assert main(["report", str(folder), "--replies", str(replies)]) == 1
    return (folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> str:
    """The address of a report in which everybody says the worst, of models with long names."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "said").mkdir()
    turns = [{"turn": 1, "role": role, "content": HOSTILE} for role in ("user", "assistant")]
    name = f"{'m' * 120}__night"
    for each in (name, f"other-{name}"):
        (folder / "said" / f"{each}.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    reply = {"verdict": "FAIL", "evidence": [{"role": "assistant", "turn": 1, "quote": HOSTILE}]}
    (folder / "replies.json").write_text(
        json.dumps({name: {"W-1": [[json.dumps({**reply, "rationale_code": HOSTILE})]] * 3}})
    )
    plan = compile_project(write(folder / "project", {"checks/W-1.yaml": check()}))
    run(plan, [folder / "said"], folder / "run", judge=f"replay:{folder / 'replies.json'}")
    assert main(["report", str(folder / "run"), "--replies", str(folder / "replies.json")]) == 1
    return (folder / "run" / "report.html").as_uri()


def violations(browser: Browser) -> list[Any]:
    """What axe-core finds, with every kind of element opened."""
    browser.run(OPEN_EVERY_KIND)
    browser.devtools("Runtime.evaluate", expression=files("axe_playwright_python").joinpath("axe.min.js").read_text())
    found = browser.wait_for(
        "const done = arguments[0]; axe.run().then((r) => done(r.violations), (e) => done([e.message]))"
    )
    return [
        (each["id"], [node["html"] for node in each["nodes"][:3]]) if isinstance(each, dict) else each for each in found
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_everybody_can_read_the_page(browser: Browser, page: str, scheme: str, width: int) -> None:
    browser.resize(width)
    browser.prefer(scheme)
    browser.show(page)
    assert browser.overflow() <= 0
    assert violations(browser) == []
    browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true })")
    assert browser.overflow() <= 0


def test_hostile_words_neither_run_nor_break_the_page(browser: Browser, hostile: str) -> None:
    browser.resize(390)
    browser.show(hostile)
    assert violations(browser) == []
    assert browser.overflow() <= 0
    assert browser.run("return document.title").startswith("Failed")
    assert browser.run("return document.scripts.length") == 1


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
