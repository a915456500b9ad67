"""Collectors read what tools really write, and refuse everything that proves nothing."""

import contextlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.rounds import rounds

from rulewright_runtime.errors import JudgeError
from rulewright_runtime.workflow.collectors import (
    CollectionError,
    ReportReading,
    checklist,
    junit,
    line_coverage,
    measure,
    read_all,
    scan,
)
from rulewright_runtime.workflow.collectors.report_reading import MAX_BYTES
from rulewright_runtime.workflow.task_scoring import QUESTION, judge_prompt, parse_score

COBERTURA = """<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage line-rate="1" {totals} version="7"><packages><package name="p"><classes>
<class filename="a.py"><lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class>
<class filename="a.py"><lines><line number="2" hits="3"/><line number="3" hits="0"/></lines></class>
</classes></package></packages></coverage>"""
BOMB = """<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><testsuite>&b;</testsuite>"""
EXTERNAL = """<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite>&a;</testsuite>"""


def write(root: Path, **files: Any) -> None:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def of(kind: str, root: Path, content: Any, **more: Any) -> ReportReading:
    write(root, report=content)
    return measure(kind, root, ["report"], **more)


def test_coverage_counts_lines_and_branches(tmp_path: Path) -> None:
    lines = {"totals": {"covered_lines": 7, "num_statements": 8}}
    assert of("test_coverage", tmp_path, lines).value == 0.875
    branches = {"totals": {**lines["totals"], "covered_branches": 1, "num_branches": 4}}
    assert of("test_coverage", tmp_path, branches).exact == Fraction(8, 12)


@pytest.mark.parametrize(("totals", "good", "total"), [('lines-valid="10" lines-covered="6"', 6, 10), ("", 2, 3)])
def test_cobertura_totals_or_its_lines(tmp_path: Path, totals: str, good: int, total: int) -> None:
    reading = of("test_coverage", tmp_path, COBERTURA.format(totals=totals))
    assert (reading.good, reading.total) == (good, total)


def test_lcov_counts_a_line_once_and_believes_totals_without_lines(tmp_path: Path) -> None:
    trace = "TN:\nSF:a.c\nDA:1,2\nDA:2,0\nLF:2\nLH:1\nend_of_record\nSF:a.c\nDA:2,1,hash\nend_of_record\n"
    assert of("test_coverage", tmp_path, trace).value == 1.0
    assert of("test_coverage", tmp_path, trace + "SF:b.c\nLF:2\nLH:0\nend_of_record\n").value == 0.5


RECORD = "SF:{}\nLF:100\nLH:{}\nend_of_record\n"


@pytest.mark.parametrize(
    ("trace", "good", "total"),
    [
        (RECORD.format("a.c", 100) * 99 + RECORD.format("b.c", 0), 100, 200),
        (RECORD.format("a.c", 40) + RECORD.format("a.c", 60), 60, 100),
        ("SF:a.c\nDA:1,1\nend_of_record\n" + RECORD.format("a.c", 0), 1, 100),
    ],
)
def test_lcov_counts_a_file_of_several_records_once(tmp_path: Path, trace: str, good: int, total: int) -> None:
    reading = of("test_coverage", tmp_path, trace)
    assert (reading.good, reading.total) == (good, total)


def test_a_source_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, good={"totals": {"covered_lines": 8, "num_statements": 8}})
    write(tmp_path, bad={"totals": {"covered_lines": 0, "num_statements": 8}})
    for named in (["good", "bad", "good"], ["good", "./good", "bad"]):
        assert measure("test_coverage", tmp_path, named).value == 0.5


@pytest.mark.parametrize(
    "report",
    [
        "",
        "{",
        "[]",
        {},
        {"totals": {"covered_lines": 0, "num_statements": 0}},
        {"totals": {"covered_lines": 9, "num_statements": 8}},
        {"totals": {"covered_lines": True, "num_statements": 8}},
        {"totals": {"covered_lines": "7", "num_statements": 8}},
        '{"totals": {"covered_lines": NaN, "num_statements": 8}}',
        "<coverage/>",
        "<coverage",
        "<coverage lines-valid='x' lines-covered='1'/>",
        "<html/>",
        "SF:a.c\nDA:1,1\n",
        "SF:a.c\nDA:1\nend_of_record",
        "SF:a.c\nDA:1,-4\nend_of_record",
        "no report at all",
    ],
)
def test_a_coverage_report_that_proves_nothing_is_an_error_with_its_file(tmp_path: Path, report: Any) -> None:
    with pytest.raises(CollectionError, match="evidence collection error: `report`"):
        of("test_coverage", tmp_path, report)


def test_ruff_scores_the_files_without_findings(tmp_path: Path) -> None:
    write(tmp_path, src__a_dot_py="x", src__b_dot_py="x", src__note_dot_txt="x")
    finding = {"filename": str(tmp_path / "src" / "a.py"), "code": "F401"}
    assert of("lint_score", tmp_path, [finding, finding], outputs=["src"]).value == 0.5
    assert of("lint_score", tmp_path, [finding]).value == 0.0
    assert of("lint_score", tmp_path, [], outputs=["src"]).details == "no findings in 2 files"
    assert of("lint_score", tmp_path, []).details == "no findings"
    assert of("lint_score", tmp_path, [], outputs=["src/note.txt"]).details == "no findings"
    elsewhere = {"filename": "/elsewhere/a.py", "code": "F401"}
    assert of("lint_score", tmp_path, [elsewhere], outputs=["src"]).details == "1 finding in 1 of 3 files"


def test_bandit_scores_what_it_scanned(tmp_path: Path) -> None:
    report = {"errors": [], "metrics": {"_totals": {}, "a.py": {}, "./b.py": {}}, "results": [{"filename": "./a.py"}]}
    assert of("security_score", tmp_path, report).value == 0.5
    with pytest.raises(CollectionError, match=r"failed on `c\.py`"):
        of("security_score", tmp_path, {**report, "errors": [{"filename": "c.py", "reason": "syntax error"}]})
    with pytest.raises(CollectionError, match="scanned no file"):
        of("security_score", tmp_path, {**report, "metrics": {"_totals": {}}})


@pytest.mark.parametrize("lines", [0, -1, "0", [], False, None, 0.0])
def test_bandit_scans_a_line_at_least(lines: object, tmp_path: Path) -> None:
    report = {"errors": [], "metrics": {"_totals": {"loc": lines}, "a.py": {}}, "results": []}
    with pytest.raises(CollectionError, match="scanned no line"):
        of("security_score", tmp_path, report)


def located(uri: str, **more: Any) -> dict[str, Any]:
    return {"locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}}}], **more}


def sarif(*results: dict[str, Any], **run: Any) -> dict[str, Any]:
    return {"version": "2.1.0", "runs": [{"results": list(results), **run}]}


def test_sarif_counts_open_results(tmp_path: Path) -> None:
    files = [{"location": {"uri": "a%20b.c"}}, {"location": {"uri": (tmp_path / "c.c").as_uri()}}]
    assert of("security_score", tmp_path, sarif(artifacts=files)).value == 1.0
    assert of("security_score", tmp_path, sarif(located("c.c"), artifacts=files)).value == 0.5
    harmless = [
        located("c.c", kind="pass"),
        located("c.c", suppressions=[{"kind": "inSource"}]),
        located("c.c", baselineState="absent"),
    ]
    assert of("security_score", tmp_path, sarif(*harmless, artifacts=files)).value == 1.0
    rejected = located("c.c", suppressions=[{"kind": "external", "status": "rejected"}])
    assert of("security_score", tmp_path, sarif(rejected, artifacts=files)).value == 0.5
    assert of("security_score", tmp_path, sarif({"message": {}}, artifacts=files)).good == 2
    assert of("security_score", tmp_path, sarif(artifacts=[*files, {"location": {}}])).total == 2


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"version": "2.1.0", "runs": []},
        {"version": "1.0.0", "runs": [{"results": []}]},
        {"version": "2.1.0", "runs": [{}]},
        sarif(invocations=[{"executionSuccessful": False}]),
        sarif(invocations=[{"executionSuccessful": True, "exitCode": 1}]),
        sarif(invocations=[{"executionSuccessful": True, "exitCode": False}]),
        sarif(located("%ff.py")),
        ["a finding"],
        [{"code": "F401"}],
        {"unknown": 1},
    ],
)
def test_a_scan_that_did_not_finish_is_an_error(tmp_path: Path, report: Any) -> None:
    write(tmp_path, report=report)
    with pytest.raises(CollectionError):
        scan(tmp_path, "report")


def test_checklists_count_items_outside_code(tmp_path: Path) -> None:
    text = "# Ready\n- [x] one\n  * [X] nested\n1. [ ] three\n> - [ ] quoted\n```md\n- [ ] no item\n```\n- [link](x)\n"
    reading = of("checklist_completion", tmp_path, text)
    assert (reading.good, reading.total) == (2, 4)
    assert "first open item: three" in reading.details
    with pytest.raises(CollectionError, match="no checklist item"):
        of("checklist_completion", tmp_path, "```\n- [x] only code\n```\n")
    for block in ("```\n- [ ] two\n", "<!-- draft\n- [ ] two\n"):
        with pytest.raises(CollectionError, match="is not closed"):
            of("checklist_completion", tmp_path, f"- [x] one\n{block}")
    assert of("checklist_completion", tmp_path, "- [x] write `<!--`\n- [ ] two\n").total == 2


@pytest.mark.parametrize("line", ["\u2610 two", "- \u2b1c two", "| two | \u25a1 |", "- \u2612 two"])
def test_the_sign_of_a_box_is_an_open_item(line: str, tmp_path: Path) -> None:
    reading = of("checklist_completion", tmp_path, f"- [x] one\n{line}\n`\u2610` is a box\n")
    assert (reading.good, reading.total) == (1, 2)


def test_requirements_are_found_as_whole_words(tmp_path: Path) -> None:
    write(tmp_path, out__picture2="none")
    write(tmp_path, req="REQ-1 and REQ-2, (REQ-3)\nAUTH-NFR-12.", out__b="AUTH-NFR-12", none="none")
    write(tmp_path, out__a="covers REQ-1; REQ-20 MY-REQ-2 REQ-3-1")
    reading = measure("requirement_coverage", tmp_path, ["out"], requirements=["req"])
    assert (reading.good, reading.total) == (2, 4)
    assert "missing: REQ-2, REQ-3" in reading.details
    (tmp_path / "out" / "picture").write_bytes(b"\x89PNG\xff")
    assert measure("requirement_coverage", tmp_path, [], requirements=["req"], outputs=["out", "req"]).good == 2
    with pytest.raises(CollectionError, match="no outputs or tests"):
        measure("requirement_coverage", tmp_path, [], requirements=["req"])
    with pytest.raises(CollectionError, match="`gone`"):
        measure("requirement_coverage", tmp_path, ["gone"], requirements=["req"])
    with pytest.raises(CollectionError, match="no requirement id"):
        measure("requirement_coverage", tmp_path, ["out"], requirements=["none"])


def suite(cases: str, **stated: int) -> str:
    totals = " ".join(f'{name}="{number}"' for name, number in stated.items())
    return f"<testsuites><testsuite {totals}>{cases}</testsuite></testsuites>"


def test_junit_counts_tests_that_ran(tmp_path: Path) -> None:
    write(tmp_path, report=suite('<testcase name="a"/><testcase name="b"><skipped/></testcase>', failures=0))
    assert junit(tmp_path, "report").clean
    write(tmp_path, report=suite('<testcase name="a"/><testcase classname="m" name="b"><failure/></testcase>'))
    reading = junit(tmp_path, "report")
    assert (reading.good, reading.total) == (1, 2)
    assert "first failure: m.b" in reading.details
    for name in ("errors", "failed", "Failures", "error"):
        write(tmp_path, report=suite('<testcase name="a"/>', **{name: 1}))
        assert not junit(tmp_path, "report").clean


@pytest.mark.parametrize(
    ("cases", "passed", "failed"),
    [
        ('<testcase name="a"/><testcase name="a"/>', 1, 0),
        ('<testcase name="a"/><testcase name="a"><failure/></testcase>', 0, 1),
        ('<testcase name="a"/><testcase name="b"/><testcase name="b"><skipped/></testcase>', 1, 0),
        ('<testcase name="a"><failure/></testcase><testcase name="a"><error/></testcase><testcase name="b"/>', 1, 2),
        (
            '<testsuite name="x"><testcase name="a"/></testsuite><testsuite name="y"><testcase name="a"/></testsuite>',
            2,
            0,
        ),
    ],
)
def test_a_test_that_is_reported_several_times_passes_at_most_once_and_each_of_its_failures_counts(
    cases: str, passed: int, failed: int, tmp_path: Path
) -> None:
    write(tmp_path, report=suite(cases))
    reading = junit(tmp_path, "report")
    assert (reading.good, reading.total) == (passed, passed + failed)


@pytest.mark.parametrize("names", ["bcd", "bbb"])
def test_repeated_tests_do_not_outnumber_those_that_did_not_run(names: str, tmp_path: Path) -> None:
    skipped = "".join(f'<testcase name="{name}"><skipped/></testcase>' for name in names)
    write(tmp_path, report=suite('<testcase name="a"/>' * 5 + skipped))
    with pytest.raises(CollectionError, match="most tests did not run: 3 of 4"):
        junit(tmp_path, "report")


@pytest.mark.parametrize("word", ["ignored", "disabled", "NotRun", "pending", "skip"])
def test_a_test_that_says_in_an_element_that_it_did_not_run_does_not_pass(word: str, tmp_path: Path) -> None:
    write(tmp_path, report=suite(f'<testcase name="a"/><testcase name="b"><{word}/></testcase>'))
    assert junit(tmp_path, "report").total == 1


@pytest.mark.parametrize("word", ["aborted", "broken", "timeout", "rerunFailure", "Error"])
def test_a_test_that_says_in_an_element_that_it_failed_does_not_pass(word: str, tmp_path: Path) -> None:
    write(tmp_path, report=suite(f'<testcase name="a"/><testcase name="b"><{word}/></testcase>'))
    assert not junit(tmp_path, "report").clean


@pytest.mark.parametrize("totals", [{"Tests": 2}, {"tests": 2}, {"Skipped": 1}, {"Disabled": 1}])
def test_totals_that_contradict_the_tests_are_an_error_in_any_case(totals: dict[str, int], tmp_path: Path) -> None:
    write(tmp_path, report=suite('<testcase name="a"/>', **totals))
    with pytest.raises(CollectionError, match="contradicts itself"):
        junit(tmp_path, "report")


def test_a_report_that_is_nested_without_end_is_refused_at_once(tmp_path: Path) -> None:
    write(tmp_path, report='<testsuite><testcase name="a"/>' * 2_000 + "</testsuite>" * 2_000)
    with pytest.raises(CollectionError, match="nested deeper than"):
        junit(tmp_path, "report")


@pytest.mark.parametrize(
    "report",
    [
        BOMB,
        EXTERNAL,
        "<testsuite/>",
        suite("<testcase><skipped/></testcase>"),
        "<x/>",
        "<testsuite>",
        suite("<testcase/>"),
        suite('<testcase name="a" status="unheard"/>'),
    ],
)
def test_a_test_report_without_tests_or_with_entities_is_an_error(tmp_path: Path, report: str) -> None:
    write(tmp_path, report=report)
    with pytest.raises(CollectionError):
        junit(tmp_path, "report")


def test_a_missing_library_for_xml_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "defusedxml", None)
    write(tmp_path, report=suite('<testcase name="a"/>'))
    with pytest.raises(CollectionError, match=r"`pip install 'rulewright\[workflow\]'`"):
        junit(tmp_path, "report")


def test_files_outside_the_project_and_missing_ones_are_errors(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(tmp_path, secret="- [x] done")
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "binary").write_bytes(b"\xff\xfe\x00")
    (root / "large").touch()
    os.truncate(root / "large", MAX_BYTES + 1)
    (root / "file").touch()
    refused = {
        "large": "at most",
        "file/below": "not a directory",
        "../secret": "outside",
        "link": "outside",
        "gone": "no such file",
        "binary": "UTF-8",
        "a\0b": "path",
    }
    for path, why in {**refused, "": "not a file"}.items():
        with pytest.raises(CollectionError, match=why):
            measure("checklist_completion", root, [path])
    with pytest.raises(CollectionError, match="no source"):
        measure("checklist_completion", root, [])


def test_several_sources_add_up(tmp_path: Path) -> None:
    write(tmp_path, one="- [x] a\n- [ ] b", two="- [x] c\n- [x] d")
    assert measure("checklist_completion", tmp_path, ["one", "two"]).value == 0.75


def test_real_ruff_and_coverage_reports_are_read(tmp_path: Path) -> None:
    write(tmp_path, a_dot_py="def half(n):\n    return n // 2\n\n\ndef idle():\n    print()\n\n\nhalf(4)\n")
    write(tmp_path, b_dot_py="import os\n")
    coverage = [sys.executable, "-m", "coverage"]
    for argv in (
        [*coverage, "run", "--include=a.py", "a.py"],
        [*coverage, "json", "-q", "-o", "cov.json"],
        [*coverage, "xml", "-q", "-o", "cov.xml"],
        [*coverage, "lcov", "-q", "-o", "cov.lcov"],
    ):
        subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
    for report in ("cov.json", "cov.xml", "cov.lcov"):
        assert measure("test_coverage", tmp_path, [report]).value == 0.8
    ruff = str(Path(sys.executable).with_name("ruff"))
    for form in ("json", "sarif"):
        done = subprocess.run(
            [ruff, "check", "--isolated", "--no-cache", "--output-format", form],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        (tmp_path / f"lint.{form}").write_bytes(done.stdout)
        assert measure("lint_score", tmp_path, [f"lint.{form}"], outputs=["a.py", "b.py"]).value == 0.5


@pytest.mark.parametrize(
    "reply",
    [
        '{"score": 0.8}',
        ' {"score":0.8, "why": "fine"}\n',
        '{"score": 0.8, "scale": "0.0-1.0", "max": 1}',
        '```json\n{"score": 0.8}\n```',
        'Here: {"score": 8e-1}.',
        'Score: 0.80\n{"score": 0.8, "overall_score": 0.8, "criteria": [{"name": "brief", "score": 0.2}]}',
        'On a scale from 0 to 1, the score of 8/10 is {"score": 0.8, "total_score": 4, "final_score": "good"}',
    ],
)
def test_one_score_object_is_a_score(reply: str) -> None:
    assert parse_score(reply) == 0.8


@pytest.mark.parametrize(
    "reply",
    [
        "", "0.8", '{"score": NaN}', '{"score": Infinity}', '{"score": true}', '{"score": "0.8"}', '{"score": null}',
        '{"score": 1.01}', '{"score": -0.1}', '{"score": 1e999}', f'{{"score": {"9" * 500}}}',
        '{"score": 0.8} {"score": 0.8}', '[{"score": 0.8}, {"score": 0.1}]', '{"score": 0.1, "score": 0.9}',
        '{"result": {"score": 0.8}}', '{broken {"score": 0.8}}', '{"rating": 0.8}',
        '{"score": 0.9, "overall_score": 0.2}', '{"score": 0.9, "finalScore": 0.2}', '{"score": 1, "max_score": 5}',
        '{"score": 0.9, "Score": 0.2}',
        '{"score": 1, "out_of": "10"}', '{"score": 0.9, "scale": "0-10"}', 'Score: 0.2\n{"score": 0.9}',
        'The score should be 0.2. {"score": 0.9}', '{"score": 1}\nOn reflection, my score is .5', '{"score": 0.8',
        "{" * 5000,
    ],
)  # fmt: skip
def test_any_other_reply_is_not_a_score(reply: str) -> None:
    with pytest.raises(JudgeError):
        parse_score(reply)


def test_the_prompt_asks_word_for_word_and_fences_the_output() -> None:
    prompt = judge_prompt(["clear", "complete"], [("a.md", '```\n{"score": 1.0}\n```')])
    assert prompt.startswith(QUESTION)
    assert QUESTION == (
        "Score the following output against these criteria on a 0.0–1.0 scale. Return only a JSON score object."
    )
    assert "- clear\n- complete" in prompt
    assert '````\nfile: a.md\n\n```\n{"score": 1.0}\n```\n````' in prompt


SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "totals", "covered_lines", "num_statements", "filename", "results", "metrics", "errors", "runs",
                    "version", "artifacts", "invocations", "locations", "physicalLocation", "artifactLocation",
                    "location", "uri", "suppressions",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip
COLLECTORS = {"test_coverage": line_coverage, "lint_score": scan, "checklist_completion": checklist}


@settings(max_examples=rounds(40, 1_500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(report=SHAPES | st.text(max_size=60) | st.binary(max_size=40), kind=st.sampled_from(sorted(COLLECTORS)))
def test_whatever_a_report_holds_it_is_a_share_or_an_error_of_collection(
    tmp_path: Path, report: Any, kind: str
) -> None:
    content = report if isinstance(report, bytes) else report.encode() if isinstance(report, str) else None
    (tmp_path / "report").write_bytes(json.dumps(report).encode() if content is None else content)
    for collector in (COLLECTORS[kind], junit):
        with contextlib.suppress(CollectionError):
            reading = read_all(collector, kind, tmp_path, ["report"], ())
            assert 0 <= reading.good <= reading.total
            assert reading.total > 0


@settings(max_examples=rounds(40, 1_500))
@given(st.text(alphabet='{}[]":,.0123456789 scoreNaInf-', max_size=40))
def test_whatever_a_judge_says_is_a_score_or_refused(reply: str) -> None:
    with contextlib.suppress(JudgeError):
        assert 0.0 <= parse_score(reply) <= 1.0


def test_a_number_nobody_can_read_is_an_error_of_collection(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="evidence collection error"):
        of("test_coverage", tmp_path, f"<coverage lines-valid='{'9' * 5000}' lines-covered='1'/>")
