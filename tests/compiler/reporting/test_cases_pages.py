"""Writing reports: a case is written before the next ones are read, however many there are."""

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.safe_cases import case, safe, settings, write

from rulewright.reporting.cases import cases_overview, html_page, junit, markdown
from rulewright.reporting.cases_console import console
from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import report_head, score_batches

MOST_AHEAD = 201  # the console looks at the first cases for the width of its columns


@pytest.mark.parametrize("form", ["console", "html", "junit", "markdown"])
def test_no_form_holds_all_cases(form: str, tmp_path: Any) -> None:
    path = write(tmp_path / "b.json", [case(f"T{n}") for n in range(500)])
    done = score_batches(settings(), CaseReader(safe().plan), [Batch("b", str(path))])
    head = report_head(done, batch_id="b", concern_id="I25", generated_at="2025-01-15T10:30:00Z", about={})
    read = 0

    def cases() -> Iterator[dict[str, Any]]:
        nonlocal read
        for result in done.spool.results():
            read += 1
            yield result

    if form == "console":
        lines = console(head, "title", [], cases(), ["Pass", "Review", "Fail"])
    else:
        pages: dict[str, Any] = {"html": html_page, "junit": junit, "markdown": markdown}
        about = (done.plan.exits, 0) if form == "junit" else ((), cases_overview(head, 0, done.plan.exits))
        lines = pages[form](head, "title", cases(), ["CR", "AH", "AC"], *about)
    for line in lines:
        if "T0" in line:
            break
    assert 0 < read <= MOST_AHEAD
    assert sum("T49" in line for line in lines) == 11


def test_a_refused_input_is_in_every_format(tmp_path: Any) -> None:
    """A build that reads only JUnit was green where half of the cases could not be read."""
    path = tmp_path / "b.jsonl"
    path.write_text(json.dumps(case("T1")) + "\n" + json.dumps(case("T2"))[:-3] + "\n", encoding="utf-8")
    done = score_batches(settings(), CaseReader(safe().plan), [Batch("b", str(path))])
    head = report_head(done, batch_id="b", concern_id="I25", generated_at="2025-01-15T10:30:00Z", about={})
    suites = ElementTree.fromstring("".join(junit(head, "title", done.spool.results(), ["CR"], done.plan.exits, 3)))
    assert suites.attrib == {"name": "title", "tests": "2", "errors": "1", "failures": "0", "skipped": "0"}
    (error,) = suites.iter("error")
    assert error.get("message") == "the JSON ends too early"
    shown = "\n".join(console(head, "title", [], done.spool.results(), ["Pass", "Review", "Fail"]))
    assert "Refused inputs: 1" in shown


def test_the_time_and_the_level_of_intervals_are_shown_as_in_other_reports(tmp_path: Any) -> None:
    path = write(tmp_path / "b.json", [case("T1")])
    done = score_batches(settings(), CaseReader(safe().plan), [Batch("b", str(path))])
    head = report_head(done, batch_id="b", concern_id="I25", generated_at="2025-01-15T10:30:00Z", about={})
    about = cases_overview(head, 0, done.plan.exits)
    text = "\n".join(markdown(head, "title", done.spool.results(), ["CR"], (), about))
    assert "Batch b, 2025-01-15 10:30 UTC." in text
    assert "| metric | mean | 95% interval | pass rate |" in text
    page = "\n".join(html_page(head, "title", done.spool.results(), ["CR"], (), about))
    assert '<time datetime="2025-01-15T10:30:00Z">2025-01-15 10:30 UTC</time>' in page
    assert '<th scope="col" class="n">CR</th>' in page


def test_the_content_of_a_page_is_text_and_not_markup(tmp_path: Any) -> None:
    evil = "<b>\"'&\u202e\ufffe\uffff"
    path = write(tmp_path / "b.json", [case(evil), case("T2", archetype=evil)])
    done = score_batches(settings(), CaseReader(safe().plan), [Batch(evil, str(path))])
    head = report_head(done, batch_id=evil, concern_id="I25", generated_at="2025-01-15T10:30:00Z", about={})
    about = cases_overview(head, 0, done.plan.exits)
    page = "\n".join(html_page(head, evil, done.spool.results(), ["CR", "AH", "AC"], (), about))
    assert page.startswith("<!doctype html>\n<html lang=")
    assert page.endswith("</body>\n</html>")
    assert "<b>" not in page
    assert "\u202e" not in page
    suites = ElementTree.fromstring(
        "".join(junit(head, evil, done.spool.results(), ["CR", "AH", "AC"], done.plan.exits, 0))
    )
    assert [case.get("name") for case in suites.iter("testcase")] == ["<b>\"'&\\u202e\\ufffe\\uffff", "T2"]


def test_the_exit_codes_of_labels_say_what_fails_in_junit() -> None:
    labels = {"Good": 0, "Bad": 1, "Odd": 2, "Broken": 3}
    results = [
        {"test_id": name, "batch_id": "b", "archetype": "A", "label": name, "scores": {}, "details": {}}
        for name in labels
    ]
    summary = {"total_cases": 5, "errors": 1, **{name.lower(): 1 for name in labels}}
    report = {"summary": summary, "batch_id": "b", "generated_at": "2025-01-15T10:30:00Z", "errors": []}
    suites = ElementTree.fromstring("".join(junit(report, "title", results, [], [*labels.items()], 3)))
    assert suites.attrib == {"name": "title", "tests": "5", "errors": "2", "failures": "1", "skipped": "1"}
    told = {each.get("name"): [part.tag for part in each] for each in suites.iter("testcase")}
    assert told == {"Good": [], "Bad": ["failure"], "Odd": ["skipped"], "Broken": ["error"]}
