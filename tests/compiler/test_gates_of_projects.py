"""A gate that could not stop a failure: lint and the compiler refuse it, and reports name one that judged nothing."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.folders import json_lines, write

import rulewright
from rulewright.cli import main
from rulewright.errors import DocumentError
from rulewright.reporting.formats import run_as
from rulewright.reporting.stored_run import open_run

CARD = """\
scorecard: card
gates:
  safe:
    of: v.severity == blocking
    stops: v.verdict == FAIL
    undecided: v.verdict == UNCLEAR
    empty: {not_eligible: passed, not_run: undecided}
    left_out: open
output: {safe: gates.safe}
"""
PROJECT = """\
project: shop
checks: checks
scorecards: scorecards
vocabulary: {severities: [minor, blocking]}
"""
SEEN = 'id: seen\nseverity: blocking\nfail: answer == "no"\n'


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ('id: unseen\nfail: answer == "yes"\n', "selecting-key-missing"),
        (
            "id: never\nseverity: blocking\nfail: answer == 'yes'\nscope: trigger\n"
            "eligibility: {when: size(scenario.tags) > 2 and size(scenario.tags) < 2}\n",
            "gate-check-never-applies",
        ),
    ],
)
def test_a_check_that_a_gate_misses_is_refused(check: str, code: str, tmp_path: Path) -> None:
    files = {"rulewright.yaml": PROJECT, "scorecards/card.yaml": CARD, "checks/seen.yaml": SEEN, "checks/x.yaml": check}
    name = check.split()[1]
    write(tmp_path, {path.replace("x.yaml", f"{name}.yaml"): text for path, text in files.items()})
    assert code in {each.code for each in rulewright.lint([tmp_path]).diagnostics}
    with pytest.raises(DocumentError, match=name):
        rulewright.compile_project(tmp_path)


def test_tags_that_are_not_a_list_are_one_finding(tmp_path: Path) -> None:
    card = CARD.replace("v.severity == blocking", "'grave' in v.secondary_tags")
    tags = SEEN + "secondary_tags: 7\n"
    write(tmp_path, {"rulewright.yaml": PROJECT, "scorecards/card.yaml": card, "checks/seen.yaml": tags})
    assert "wrong-type" in {each.code for each in rulewright.lint([tmp_path]).diagnostics}


def test_hard_fail_is_not_compared_with_gates_that_only_the_scorecard_names(tmp_path: Path) -> None:
    files = {"rulewright.yaml": PROJECT, "scorecards/card.yaml": CARD, "checks/seen.yaml": SEEN + "hard_fail: true\n"}
    write(tmp_path, files)
    assert not rulewright.lint([tmp_path]).diagnostics


@pytest.mark.parametrize(
    "selecting", ["v.check_id in ['seen', 'seeing']", "v.check_id in ['seen'] or v.mode_id == 'seeing'"]
)
def test_a_scorecard_that_names_an_unknown_check_is_refused(selecting: str, tmp_path: Path) -> None:
    card = CARD.replace("v.severity == blocking", f'"{selecting}"')
    write(tmp_path, {"rulewright.yaml": PROJECT, "scorecards/card.yaml": card, "checks/seen.yaml": SEEN})
    (found,) = rulewright.lint([tmp_path]).diagnostics
    assert (found.code, found.message) == ("unknown-check", "unknown check `seeing`")
    with pytest.raises(DocumentError, match="unknown check `seeing`"):
        rulewright.compile_project(tmp_path)
    accept = "accept: [{rule: unknown-check, path: scorecards/card.yaml, reason: not written yet}]\n"
    write(tmp_path, {"rulewright.yaml": PROJECT + accept})
    rulewright.compile_project(tmp_path)


@pytest.mark.parametrize("key", ["include_modes: [seen, seeing]", "exclude_modes: [seeing]"])
def test_a_profile_that_names_an_unknown_check_is_refused(key: str, tmp_path: Path) -> None:
    project = "project: shop\nchecks: checks\nprofiles: profiles.yaml\n"
    write(tmp_path, {"rulewright.yaml": project, "checks/seen.yaml": 'id: seen\nfail: answer == "no"\n'})
    write(tmp_path, {"profiles.yaml": f"smoke:\n  {key}\nother: {{include_modes: [seen]}}\n"})
    with pytest.raises(DocumentError, match="unknown check `seeing`"):
        rulewright.compile_project(tmp_path, profile="smoke")
    rulewright.compile_project(tmp_path, profile="other")
    allow = "# rulewright: allow unknown-check because it is written tomorrow"
    write(tmp_path, {"profiles.yaml": f"smoke:\n  {allow}\n  {key}\n  include_all: true\n"})
    assert "unknown-check" not in {each.code for each in rulewright.lint([tmp_path]).diagnostics}
    rulewright.compile_project(tmp_path, profile="smoke")


@pytest.mark.parametrize(("channel", "is_idle"), [("Web", True), ("web", False)])
def test_a_gate_that_passed_without_a_verdict_is_named(
    channel: str, is_idle: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "yes"}]
    chats = json_lines([{"id": "a", "channel": "web", "messages": said}, {"id": "b", "messages": said}])
    seen = f'{SEEN}applies: has(transcript.metadata.channel) and transcript.metadata.channel == "{channel}"\n'
    files = {"rulewright.yaml": PROJECT, "scorecards/card.yaml": CARD, "checks/seen.yaml": seen, "chats.jsonl": chats}
    write(tmp_path, {**files, "checks/other.yaml": 'id: other\nseverity: minor\nfail: answer == "no"\n'})
    run = str(tmp_path / "run")
    assert main(["scan", str(tmp_path / "chats.jsonl"), "--project", str(tmp_path), "--out", run]) == 0
    assert main(["report", run, "--format", "markdown"]) == 0
    words = "gate safe passed without a verdict: none of its checks applied to any transcript (seen)"
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(words) == 2 * is_idle
    assert (words in (tmp_path / "run" / "summary.md").read_text("utf-8")) == is_idle
    cure = f"{words}; scan transcripts to which one applies"
    assert [tag for tag, said in about_gate(run, "safe").items() if said == [cure]] == [*FORMATS] * is_idle
    rescored = str(tmp_path / "rescored")
    main(["rescore", run, "--project", str(tmp_path), "--out", rescored])
    assert ("idle_gates" in (tmp_path / "rescored" / "summary.json").read_text("utf-8")) == is_idle


def test_every_format_of_a_run_names_the_cure_for_a_gate_without_checks(tmp_path: Path) -> None:
    run, said = str(tmp_path / "run"), [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "yes"}]
    write(
        tmp_path, {"rulewright.yaml": "project: p\nchecks: checks\n", "chats.jsonl": json_lines([{"messages": said}])}
    )
    write(tmp_path, {"checks/A1.yaml": "id: A1\nprimary_bucket: A\nseverity: S5\nfail: size(answer) > 80\n"})
    options = ["--project", str(tmp_path), "--out", run, "--scorecard", "two-tier"]
    assert main(["scan", str(tmp_path / "chats.jsonl"), *options]) == 2
    cure = (
        "gate compliance did not run, so no transcript can pass: no check that ran belongs to it; add a check to it, "
        "choose a profile that runs one, or write a scorecard without this gate"
    )
    assert about_gate(run, "compliance") == {form: [cure] for form in FORMATS}
    assert f"- {cure}\n" in run_as("markdown", open_run(Path(run)))
    main(["report", run])
    page = (Path(run) / "report.html").read_text(encoding="utf-8")
    assert '<p class="lead">0 of 1 transcript failed (0%); 1 undecided.</p>' in page
    assert f'<p class="open">G{cure[1:]}.</p>' in page


FORMATS = ("github", "sarif", "junit")


def about_gate(folder: str, gate: str) -> dict[str, list[str]]:
    """What each format says about an idle gate of a run."""
    run = open_run(Path(folder))
    annotations, found, suites = (run_as(form, run) for form in FORMATS)
    results = [each for each in json.loads(found)["runs"][0]["results"] if each["ruleId"] == "idle-gate"]
    skipped = ET.fromstring(suites).findall(f"testsuite[@name='gates']/testcase[@name='{gate}']/skipped")
    return {
        "github": re.findall("^::warning .*title=idle-gate::(.*)$", annotations, re.MULTILINE),
        "sarif": [each["message"]["text"] for each in results],
        "junit": [str(each.get("message")) for each in skipped],
    }
