"""A run in the formats of build servers: nothing that has not passed looks as if it had, and nothing breaks out."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from tests.compiler.small_project import check, write
from tests.folders import read_lines, reseal, write_lines, write_turns

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.reporting.formats import because, run_as
from rulewright.reporting.run_reader import plan_of
from rulewright.reporting.stored_run import open_run
from rulewright_runtime.report.accumulators import gate_line
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import status_at
from rulewright_runtime.report.text import code
from rulewright_runtime.runs.store import run

HOSTILE = "you must </details><script>alert(1)</script>\n::error::forged ]]> & | `x`"


def lexicon_check(name: str, severity: str, scope: str = "trigger") -> str:
    text = check(
        bucket="F",
        severity=severity,
        scope=scope,
        route="lexicon_only",
        routing="deterministic_precheck: words\nrepetitions: 1",
    )
    return text.replace("W-1", name).replace("says_no", f"says_no_{name[-1]}")


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of three inputs: one fails, one lacks its reply, one is refused."""
    monkeypatch.chdir(tmp_path)
    words = {"lexicons/words.yaml": "patterns:\n  - regex: 'you must(.|\\n)*'\n"}
    plan = compile_project(write(tmp_path / "project", {"checks/W-1.yaml": lexicon_check("W-1", "S3"), **words}))
    said = Path("said")
    write_turns(said / "bad__night.jsonl", "Hello", HOSTILE)
    write_turns(said / "cut__night.jsonl", "Hello")
    (said / "odd__night.jsonl").write_text("{\n", encoding="utf-8")
    run(plan, [said], "run")
    return Path("run")


def test_a_run_is_read_transcript_by_transcript_with_its_places(finished: Path) -> None:
    judged = list(open_run(finished).judged())
    assert [(each.id, each.path, each.line, each.engine["outcome"]) for each in judged] == [
        ("bad__night", "said/bad__night.jsonl", 1, "failed"),
        ("cut__night", "said/cut__night.jsonl", 1, "undecided"),
    ]
    assert [[verdict["verdict"] for verdict in each.verdicts] for each in judged] == [["FAIL"], ["UNCLEAR"]]


def test_junit_has_a_case_for_each_transcript_and_check_and_none_passes_that_did_not(finished: Path) -> None:
    root = ET.fromstring(run_as("junit", open_run(finished)))
    assert root.attrib == {"name": "rulewright", "tests": "3", "failures": "1", "errors": "2", "skipped": "0"}
    found = {case.get("classname"): [part.tag for part in case] for case in root.iter("testcase")}
    assert found == {"bad__night": ["failure"], "cut__night": ["error"], "refused inputs": ["error"]}
    assert [case.get("name") for case in root.iter("testcase")][:2] == ["W-1 says_no_1"] * 2
    assert "you must </details>" in str(next(root.iter("failure")).get("message"))


def test_an_undecided_transcript_is_an_error_although_no_check_of_it_is_open(finished: Path) -> None:
    verdicts, scores = finished / "verdicts.jsonl", finished / "scores.jsonl"
    verdicts.write_text(verdicts.read_text("utf-8").replace('"UNCLEAR"', '"NOT_APPLICABLE"'), encoding="utf-8")
    reseal(finished)
    cases = ET.fromstring(run_as("junit", open_run(finished))).findall("testsuite[@name='cut__night']/testcase")
    assert [[part.tag for part in case] for case in cases] == [["skipped"], ["error"]]
    assert [case.get("name") for case in cases][1] == "outcome"
    assert cases[1][0].get("message") == "undecided: the transcript is incomplete"
    rows = read_lines(scores)
    write_lines(scores, ({**row, "missing": []} for row in rows))
    reseal(finished)
    assert outcome_of(finished).startswith("undecided: the coverage is ")
    idle = {"safety": {"state": "not_run", "reasons": []}}
    rows = [{**row, "missing": [], "engine": {**row["engine"], "gates": idle}} for row in rows]
    write_lines(scores, rows)
    reseal(finished)
    assert outcome_of(finished) == "undecided: safety did not run"
    assert "`cut__night` is undecided: safety did not run" in run_as("github", open_run(finished))


def test_a_run_in_which_no_check_applied_is_an_error_and_no_empty_list(finished: Path) -> None:
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}]
    Path("chat.jsonl").write_text(json.dumps({"messages": said}), encoding="utf-8")
    run(plan_of(finished), ["chat.jsonl"], "idle")
    reason = "no check applied to any transcript, so nothing was judged"
    root = ET.fromstring(run_as("junit", open_run(Path("idle"))))
    assert root.attrib == {"name": "rulewright", "tests": "2", "failures": "0", "errors": "1", "skipped": "1"}
    assert [error.get("message") for error in root.iter("error")] == [f"undecided: {reason}"]
    for form in ("github", "sarif"):
        assert reason in run_as(form, open_run(Path("idle")))


def outcome_of(finished: Path) -> str:
    whole = ET.fromstring(run_as("junit", open_run(finished))).find(
        "testsuite[@name='cut__night']/testcase[@name='outcome']/"
    )
    assert whole is not None
    return str(whole.get("message"))


@pytest.mark.parametrize(
    ("states", "result", "tag"),
    [
        (["passed"], "passed", []),
        (["failed"], "failed", ["failure"]),
        (["failed", "passed"], "inconclusive", ["error"]),
        (["undecided"], "inconclusive", ["error"]),
    ],
)
def test_a_gate_that_is_not_settled_is_inconclusive_everywhere(
    finished: Path, states: list[str], result: str, tag: list[str]
) -> None:
    summary = json.loads((finished / "summary.json").read_text(encoding="utf-8"))
    summary["gates"] = {"safety": {"passed": 1, "failed": 0, "undecided": 0, "not_run": 1}}
    summary["unresolved"]["gates"] = {"safety": {"states": states, "answers": []}}
    (finished / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    reseal(finished)
    case = ET.fromstring(run_as("junit", open_run(finished))).find("testsuite[@name='gates']/testcase")
    assert case is not None
    assert [part.tag for part in case] == tag
    assert all(part.get("type") == result.upper() for part in case)
    assert {part.get("message") for part in case} <= {gate_line("safety", summary["unresolved"]["gates"]["safety"])}
    assert f"| safety | {result} | 1 | 0 | 0 | 1 |" in run_as("markdown", open_run(finished))
    assert f"| safety | {result} | 1 | 0 | 0 | 1 |" in markdown(summary)


def test_sarif_points_at_the_transcript(finished: Path) -> None:
    (log,) = json.loads(run_as("sarif", open_run(finished)))["runs"]
    levels = Counter(result["level"] for result in log["results"])
    assert levels == {"error": 2, "warning": 1}
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["results"]}
    assert places == {"said/bad__night.jsonl", "said/cut__night.jsonl", "said/odd__night.jsonl"}
    rules = {rule["id"]: rule.get("shortDescription", {}).get("text") for rule in log["tool"]["driver"]["rules"]}
    assert rules["W-1"] == "says_no_1"


def test_annotations_are_one_line_each(finished: Path) -> None:
    lines = run_as("github", open_run(finished)).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning"]
    assert [line for line in lines if "::forged" in line] == [lines[1]]  # inside another's text


def test_a_comment_says_what_is_unresolved_and_names_read_as_they_are(tmp_path: Path) -> None:
    checks = {f"checks/W-{n}.yaml": check(**about).replace("W-1", f"W-{n}").replace("says_no", f"says_no_{n}")
              for n, about in ((1, {"bucket": "C", "severity": "S2"}), (2, {}))}  # fmt: skip
    plan = compile_project(write(tmp_path / "project", checks))
    write_turns(tmp_path / "said" / "a_model__night.jsonl", "Hello", "Hello")
    replies = {"a_model__night": {"W-1": [[failing("Hello")]] * 3, "W-2": [[failing("never said")]] * 3}}
    (tmp_path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
    run(plan, [tmp_path / "said"], tmp_path / "run", judge=f"replay:{tmp_path / 'replies.json'}")
    text = run_as("markdown", open_run(tmp_path / "run"))
    assert (
        "- 1 answer missing in 1 transcript: overall 0.00 whatever they say\n- gate compliance: not run whatever"
        in text
    )
    heads = re.findall(r"<summary><b>(\S+)</b> (\S+) (\S+): 1 failure</summary>", text)
    assert heads == [("W-2", "says_no_2", "S5"), ("W-1", "says_no_1", "S2")], "the gravest comes first, without escapes"
    assert "- `a_model__night`: because (unproven: quotes that do not occur)\n" in text


def failing(quote: str) -> str:
    return json.dumps(
        {
            "verdict": "FAIL",
            "evidence": [{"role": "assistant", "turn": 1, "quote": quote}],
            "rationale_code": "because",
            "rationale": "so",
        }
    )


@pytest.mark.parametrize(
    ("text", "shown"), [("a_b*c", "`a_b*c`"), ("a`b", "``a`b``"), ("`a``", "``` `a`` ```"), ("a\nb", "`a b`"), ("", "")]
)
def test_code_in_markdown_is_read_as_it_is(text: str, shown: str) -> None:
    assert code(text) == shown


def test_a_comment_holds_hostile_quotes_as_text(finished: Path) -> None:
    text = run_as("markdown", open_run(finished))
    assert text.startswith("## Rulewright: input refused\n")
    assert "<script>" not in text
    assert "</details>" in text.splitlines()  # ours
    assert text.count("</details>") == text.count("<details>")


def test_a_condition_is_said_once_for_all_its_quotes() -> None:
    evidence = [
        {"turn": turn, "role": "assistant", "quote": quote, "rationale": why}
        for turn, quote, why in ((1, "refund", "c"), (1, "promise", "c"), (2, "refund", "c"), (2, "x", ""))
    ]
    expected = "turn 1, assistant: “refund”, “promise”; turn 2, assistant: “refund” (c); turn 2, assistant: “x”"
    assert because({"verdict": "FAIL", "evidence": evidence}, None) == expected


@pytest.mark.parametrize("form", ["junit", "sarif", "github", "markdown"])
def test_scan_and_report_print_the_same(form: str, finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--project", "project", "--out", "second", "--format", form]
    status = main(["scan", "said", *words])
    printed = capsys.readouterr().out
    assert (main(["report", "second", "--format", form]), capsys.readouterr().out) == (status, printed)
    assert printed


@pytest.mark.parametrize(("fail_on", "status"), [(None, 1), ("never", 0), ("S5", 2), ("S4", 2), ("S3", 1), ("S1", 1)])
def test_fail_on_chooses_what_fails(fail_on: str | None, status: int, finished: Path) -> None:
    """The check that failed has severity S3; of graver checks there is none, so nothing of that kind was looked at."""
    (Path("said") / "odd__night.jsonl").unlink()
    assert main(["scan", "said", "--project", "project", "--out", "b"]) == 1
    words = [] if fail_on is None else ["--fail-on", fail_on]
    assert main(["report", "b", *words]) == status
    assert main(["scan", "said", "--project", "project", "--out", "b", "--overwrite", *words]) == status


@pytest.mark.parametrize(
    ("fail_on", "heading"),
    [
        (None, "failed"),
        ("never", "failed"),
        ("S3", "failed"),
        ("S5", "failed; undecided under --fail-on S5"),
    ],
)
def test_the_heading_says_what_the_run_found_whatever_the_exit_code(
    fail_on: str | None, heading: str, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path("said") / "odd__night.jsonl").unlink()
    words = [] if fail_on is None else ["--fail-on", fail_on]
    main(["scan", "said", "--project", "project", "--out", "b", "--format", "markdown", *words])
    assert capsys.readouterr().out.startswith(f"## Rulewright: {heading}\n")
    main(["report", "b", *words])
    page = (Path("b") / "report.html").read_text(encoding="utf-8")
    assert f'<h1 class="verdict bad">{heading.capitalize()[:6]}{heading[6:]}</h1>' in page


def test_an_undecided_run_is_headed_so_and_names_the_next_step_although_nothing_fails_it(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--project", "project", "--fail-on", "never"]
    assert main(["scan", "said/cut__night.jsonl", *options, "--out", "b", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("## Rulewright: undecided\n")
    assert main(["scan", "said/cut__night.jsonl", *options, "--out", "c"]) == 0
    assert "what failed or is undecided: rulewright why c" in capsys.readouterr().out


def test_refused_input_stays_refused_whatever_fails(finished: Path) -> None:
    opened = open_run(finished)
    assert [status_at(opened.summary, opened.plan, word) for word in (None, "never", "S1")] == [3, 3, 3]


def test_an_unknown_severity_is_refused_before_anything_runs(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scan", "said", "--project", "project", "--out", "c", "--fail-on", "s3"]) == 3
    assert "unknown severity `s3`; expected `S1`" in capsys.readouterr().err
    assert not Path("c").exists()


def test_an_interrupted_scan_names_the_command_that_continues_it(
    finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    words = ["scan", "said", "--project", "project", "--out", "run", "--overwrite"]
    monkeypatch.setattr("sys.argv", ["rulewright", *words])
    monkeypatch.setattr("rulewright.commands.running.run", interrupt)
    assert main(words) == 130
    told = capsys.readouterr().err
    assert told.splitlines()[-1] == ("help: continue with `rulewright scan said --project project --out run --resume`")


def test_a_second_scan_replaces_nothing_without_the_option(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in finished.iterdir()}
    words = ["scan", "said", "--project", "project", "--out", "run"]
    assert main(words) == 3
    assert "`run` contains a finished run; replace it with `--overwrite`" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in finished.iterdir()} == before
    (Path("said") / "odd__night.jsonl").unlink()
    assert main([*words, "--overwrite"]) == 1
    assert json.loads((finished / "summary.json").read_bytes())["refused"]["count"] == 0
    assert main([*words, "--overwrite", "--resume"]) == 3


def test_a_folder_of_runs_names_the_runs_in_it(tmp_path: Path) -> None:
    for name in ("second", "first"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").touch()
    with pytest.raises(UsageError, match=r"`plan\.json` is missing; it contains the runs `first`, `second`$"):
        plan_of(tmp_path)
