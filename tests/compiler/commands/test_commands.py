"""The command line as people and scripts meet it: output, exit codes, wrong input."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rulewright.cli import COMMANDS, main
from rulewright.commands import explain, running
from rulewright.commands.running import refusals
from rulewright.shipped import shipped_root
from rulewright_grammar import schema
from rulewright_runtime.runs import store

ROOT = Path(__file__).resolve().parents[3]
BENCHMARK = shipped_root() / "benchmark"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote to both streams."""
    return main(words), *capsys.readouterr()


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init")[0] == 0
    return tmp_path


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_explains_itself_and_its_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert "exit codes" in out
    assert max(map(len, out.splitlines())) <= 120


def test_an_unknown_command_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "lnt")
    assert (code, out) == (3, "")
    assert err == "error: unknown command `lnt`\nhelp: did you mean `lint`?\n"


def test_the_overview_fits_a_terminal_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_without_a_command_the_overview_is_shown_and_nothing_is_called_success(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys)
    assert code == 3
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        ("1 + 2 * 3", "7", 7),
        ("mean([0.9, 0.8, 0.7])", "optional.of(0.8)", "optional.of(0.8)"),
        ("timestamp('2024-01-01T00:00:00Z') + duration('1h')", "timestamp('2024-01-01T01:00:00Z')", None),
        ("b'a\\xff'", r"b'a\xff'", None),
        ("-1e308 * 10.0", "double('-Infinity')", "double('-Infinity')"),
        ("{'a': [1u, null]}", "{'a': [1u, null]}", {"a": [1, None]}),
    ],
)
def test_a_value_is_printed_as_the_expression_for_it(
    expression: str, text: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "eval", expression)[:2] == (0, text + "\n")
    code, out, _ = run(capsys, "eval", expression, "--format", "json")
    assert code == 0
    assert json.loads(out) == {"value": text if value is None else value, "text": text}


@pytest.mark.parametrize(
    ("place", "code", "said"), [("permitting", 1, "not met"), ("exempting", 1, "not met"), ("guarding", 0, "met")]
)
def test_an_absent_value_is_decided_by_the_place(
    place: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    got, out, _ = run(capsys, "eval", "review.decision == GO", "--as", place)
    assert got == code
    assert out.startswith(f"{said} (could not be decided: ")


def test_a_page_is_wrapped_to_the_terminal_and_its_code_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explain, "width_for", lambda _: 40)
    shown = run(capsys, "explain", "contains_any")[1].splitlines()
    assert "    contains_any(string, list(string)) -> bool" in shown
    assert max(len(line) for line in shown if not line.startswith("    ")) <= 40
    assert max(map(len, run(capsys, "explain", "unknown-key")[1].splitlines())) <= 40


def test_a_mistake_in_an_expression_points_to_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "eval", "review.decision = GO")
    assert code == 3
    assert err == "error: 1:17: `=` isn't an operator\nhelp: did you mean `==`?\n"


def test_a_context_that_is_not_a_mapping_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "context.json"
    file.write_text("[1, 2]")
    code, _, err = run(capsys, "eval", "a", "--context", str(file))
    assert code == 3
    assert "must be a mapping" in err


@pytest.mark.parametrize("value", [".nan", "-.inf"])
def test_a_context_holds_no_number_that_documents_refuse(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "context.yaml"
    file.write_text(f"a:\n- {value}\n")
    code, _, err = run(capsys, "eval", "a[0] > 1", "--context", str(file))
    assert code == 3
    assert f"error[wrong-type]: a value must be a finite number, not `{value}`\n --> {file}:2:3" in err


def test_init_overwrites_nothing(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in started.rglob("*") if path.is_file()}
    code, _, err = run(capsys, "init")
    assert code == 3
    assert "never overwrites a file" in err
    assert {path: path.read_bytes() for path in started.rglob("*") if path.is_file()} == before


def test_a_project_in_a_subfolder_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chats.jsonl").write_text("{}", encoding="utf-8")
    assert "create a project with `init`" in run(capsys, "scan", "chats.jsonl")[2]
    assert "set `workflow.file` in the project file" in run(capsys, "workflow", "check")[2]
    assert run(capsys, "init", "rules")[0] == 0
    assert "in a parent folder; did you mean `--project rules`?" in run(capsys, "scan", "chats.jsonl")[2]
    assert (
        "the working folder contains no `workflow.yaml`; did you mean `rules`?" in run(capsys, "workflow", "check")[2]
    )


def test_a_plan_says_in_which_transcripts_nothing_can_pass(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(iter(sorted(Path("transcripts").glob("*.jsonl"))))
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:1]), encoding="utf-8")
    code, _, err = run(capsys, "plan", "transcripts", "--out", "planned")
    assert (code, err) == (0, f"warning: nothing can pass in `{path.stem}`: turn 1 has no reply\n")
    for number in range(12):
        (path.parent / f"m{number}__{path.stem.partition('__')[2]}.jsonl").write_bytes(path.read_bytes())
    *first, last = run(capsys, "plan", "transcripts", "--out", "planned")[2].splitlines()
    assert (len(first), last) == (10, "warning: nothing can pass in 3 further chats")


def test_a_started_project_is_clean_and_scans(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "lint", "--no-cache")[0] == 0
    code, out, _ = run(capsys, "scan", "transcripts", "--out", "runs/first")
    assert code == 1  # one of the two answers fails, and no gate looks
    assert "1 PASS, 1 FAIL" in out
    *_, hint, report = out.splitlines()
    assert hint == "what failed or is undecided: rulewright why runs/first"
    assert report == "report: runs/first/summary.md; as a page: rulewright report runs/first"


def test_a_scan_without_a_folder_goes_to_the_next_number_and_resumes_the_last(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scan = ("scan", "transcripts")
    assert "`runs` contains no numbered run" in run(capsys, *scan, "--resume")[2]
    (started / "runs" / "007").mkdir(parents=True)
    (started / "runs" / "first").mkdir()
    for number in (1, 2):
        code, out, _ = run(capsys, *scan)
        assert (code, out.splitlines()[-1].split()[1]) == (1, f"runs/{number}/summary.md;")
    files = {path: path.read_bytes() for path in (started / "runs").rglob("*.json*")}
    code, _, err = run(capsys, *scan, "--overwrite")
    assert (code, "`--overwrite` needs `--out`" in err) == (3, True)
    code, out, _ = run(capsys, *scan, "--resume")
    assert (code, out.splitlines()[-1].split()[1]) == (1, "runs/2/summary.md;")
    assert {path: path.read_bytes() for path in (started / "runs").rglob("*.json*")} == files


def test_a_scan_fits_a_narrow_terminal(
    started: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = run(capsys, "scan", "transcripts")[1].partition("\n\nwhat failed")[0]
    assert max(map(len, shown.splitlines())) == 40


def test_two_scans_that_start_together_write_two_runs(
    started: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def judged(*words: Any, **settings: Any) -> Any:
        monkeypatch.undo()
        monkeypatch.chdir(started)
        assert run(capsys, "scan", "transcripts")[0] == 1
        return store.run(*words, **settings)

    monkeypatch.setattr(running, "run", judged)
    code, out, _ = run(capsys, "scan", "transcripts")
    assert (code, out.splitlines()[-1].split()[1]) == (1, "runs/1/summary.md;")
    assert run(capsys, "scan", "missing")[0] == 3
    assert sorted(each.name for each in (started / "runs").iterdir()) == ["1", "2"]


def test_lint_points_into_the_file_and_fails(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = started / "checks" / "promises-availability.yaml"
    check.write_text(check.read_text().replace("severity: S3", "severty: S3"))
    code, out, _ = run(capsys, "lint", "--no-cache", "--format", "json")
    assert code == 1
    found = json.loads(out)
    assert any(each["code"] == "unknown-key" for each in found["diagnostics"])


def test_a_scan_of_a_broken_project_is_refused_with_its_findings(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = started / "checks" / "promises-availability.yaml"
    check.write_text(check.read_text().replace("severity: S3", "severty: S3"))
    code, _, err = run(capsys, "scan", "transcripts", "--out", "runs/first")
    assert code == 3
    assert "error[unknown-key]" in err
    assert not (started / "runs").exists()


@pytest.mark.parametrize(
    "words", ["harness scenarios --model scripted:x --out played", "scan transcripts", "prove card.yaml"]
)
def test_a_misspelt_key_is_one_error_of_every_command(
    words: str, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = started / "scenarios" / "late_evening.json"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace("user_message", "user_mesage"), encoding="utf-8")
    card = (BENCHMARK / "configs" / "scorecards" / "safe-v0.yaml").read_text(encoding="utf-8")
    (started / "card.yaml").write_text(card.replace("\naccepted:", "\nacepted:"), encoding="utf-8")
    code, _, err = run(capsys, *words.split())
    assert (code, err.count("error[")) == (3, 1)


def test_an_unknown_profile_is_guessed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["scan", str(BENCHMARK / "transcripts"), "--project", str(BENCHMARK), "--out", str(tmp_path / "run")]
    code, _, err = run(capsys, *words, "--profile", "smok")
    assert code == 3
    assert "did you mean `smoke`?" in err


def test_a_scan_that_leaves_a_gate_open_does_not_exit_as_passed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = [
        "scan",
        str(BENCHMARK / "transcripts" / "model-a__night_shift_alone.jsonl"),
        "--project",
        str(BENCHMARK),
        "--out",
        str(tmp_path / "run"),
    ]
    code, out, _ = run(capsys, *words, "--profile", "smoke")
    assert code == 2
    assert "undecided because the profile leaves out" in out


def test_a_refused_row_is_counted_and_the_rest_is_judged(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = started / "transcripts" / "model-c__late_evening.jsonl"
    broken.write_text('{"turn": 1, "role": "user", "content": "Hello"}\n{"turn": 1, "role": "assis')
    code, out, _ = run(capsys, "scan", "transcripts", "--out", "run")
    assert code == 3
    assert "1 refused" in out
    summary = json.loads((started / "run" / "summary.json").read_text())
    assert summary["transcripts"] == 2
    assert [(each["path"], each["line"]) for each in summary["refused"]["inputs"]] == [
        ("transcripts/model-c__late_evening.jsonl", 2)
    ]


def test_each_refused_input_is_a_whole_line_of_its_own(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{'long' * 30}__late_evening.jsonl"
    (started / "transcripts" / name).write_text('{"turn": 1, "role": "system", "content": "Hello"}\n')
    code, _, err = run(capsys, "scan", "transcripts", "--out", "run")
    assert code == 3
    assert err == f"error: transcripts/{name}:1: the role is `system`; expected `user` or `assistant`\n"


def with_an_unknown_check(started: Path) -> None:
    """Let the scenario of both transcripts list a check that does not exist, and add a sound one with a transcript."""
    path = started / "scenarios" / "late_evening.json"
    scenario = json.loads(path.read_text())
    sound = started / "transcripts" / "model-a__noon.jsonl"
    sound.write_bytes((started / "transcripts" / "model-a__late_evening.jsonl").read_bytes())
    (started / "scenarios" / "noon.json").write_text(json.dumps({**scenario, "scenario_id": "noon"}, indent=1))
    path.write_text(json.dumps({**scenario, "eligible_modes": ["promises-avilability"]}, indent=1))


@pytest.mark.parametrize("semantics", ["seed", "reference"])
def test_transcripts_whose_scenario_lists_an_unknown_check_are_refused_and_the_rest_is_judged(
    started: Path, capsys: pytest.CaptureFixture[str], semantics: str
) -> None:
    with_an_unknown_check(started)
    project = started / "rulewright.yaml"
    project.write_text(project.read_text().replace("semantics: seed", f"semantics: {semantics}"))
    code, _, err = run(capsys, "scan", "transcripts", "--out", "run")
    assert code == 3
    assert [line.partition(" its ")[0] for line in err.splitlines()] == [
        "error: transcripts/model-a__late_evening.jsonl:1:",
        "error: transcripts/model-b__late_evening.jsonl:1:",
    ]
    assert "lists the unknown check `promises-avilability` in `eligible_modes`" in err
    summary = json.loads((started / "run" / "summary.json").read_text())
    assert (summary["transcripts"], summary["refused"]["count"]) == (1, 2)
    code, _, err = run(capsys, "plan", "transcripts", "--out", "planned")
    assert (code, err.count("lists the unknown check `promises-avilability`")) == (3, 2)
    assert json.loads((started / "planned" / "scan_plan.json").read_text())["transcript_count"] == 1
    (started / "profiles.yaml").write_text("one: {include_all: true}\ntwo: {include_all: true}\n")
    project.write_text(project.read_text() + "profiles: profiles.yaml\nprofile: one\n")
    code, _, err = run(capsys, "plan", "transcripts", "--compare", "one", "two", "--out", "planned")
    assert (code, err.count("lists the unknown check `promises-avilability`")) == (3, 2)
    assert json.loads((started / "planned" / "comparison.json").read_text())["transcript_count"] == 1


def test_an_unknown_check_that_the_project_accepts_refuses_nothing(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_an_unknown_check(started)
    project = started / "rulewright.yaml"
    entry = "accept:\n- {rule: unknown-check, path: scenarios/**, reason: it comes next week}\n"
    project.write_text(project.read_text() + entry)
    assert run(capsys, "scan", "transcripts", "--out", "run")[0] == 1


def test_a_root_that_is_not_there_is_named_before_the_profile_that_it_would_hold(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = started / "rulewright.yaml"
    project.write_text(project.read_text() + "root: elsewhere\nprofiles: profiles.yaml\nprofile: publish\n")
    code, _, err = run(capsys, "scan", "transcripts", "--out", "run")
    assert code == 3
    assert "error[missing-path]" in err
    assert "unknown profile" not in err


def test_a_report_does_not_fail_where_the_locale_lacks_its_characters(started: Path) -> None:
    words = [sys.executable, "-m", "rulewright", "scan", "transcripts", "--out", "run"]
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(words, cwd=started, env={**os.environ, **plain}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert "█" in done.stdout.decode("utf-8")


def test_a_plan_is_not_written_to_a_terminal(
    started: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, err = run(capsys, "compile")
    assert (code, out) == (3, "")
    assert "name a file with `-o`, or pipe it" in err


def test_a_dash_is_standard_output_for_every_command_that_prints_without_a_file(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "scan", "transcripts", "--out", "ran")[0] == 1
    for words in (["compile"], ["diff", "ran", "ran"], ["gold", "ran"]):
        printed = run(capsys, *words)
        assert printed[1]
        assert run(capsys, *words, "-o", "-") == printed
    assert not (started / "-").exists()


def test_a_compiled_plan_runs_to_the_same_bytes_as_a_scan(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "scan", "transcripts", "--out", "scanned")[0] == 1
    assert run(capsys, "compile", "-o", "plan.json")[0] == 0
    assert run(capsys, "run", "plan.json", "transcripts", "--out", "ran")[0] == 1
    for name in ("plan.json", "verdicts.jsonl", "scores.jsonl", "summary.json", "summary.md"):
        assert (started / "scanned" / name).read_bytes() == (started / "ran" / name).read_bytes()


def test_settings_of_cases_are_refused_for_a_project(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "compile", "--config", "missing.json", "-o", "plan.json")
    assert (code, (started / "plan.json").exists()) == (3, False)
    assert "`--config` names the settings of a scorecard over cases" in err


def test_a_plan_that_was_changed_is_refused(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "compile", "-o", "plan.json")[0] == 0
    plan = started / "plan.json"
    plan.write_bytes(plan.read_bytes().replace(b'"S3"', b'"S2"'))
    code, _, err = run(capsys, "run", "plan.json", "transcripts", "--out", "ran")
    assert code == 3
    assert "hash" in err


def test_why_explains_a_verdict(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "scan", "transcripts", "--out", "run")
    code, out, _ = run(capsys, "why", "run", "model-b__late_evening", "promises-availability")
    assert code == 0
    assert "FAIL" in out
    assert "“I'm always here for you”" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("transcript", "check", "guess"),
    [
        ("model-b__late_evenin", "promises-availability", "did you mean `model-b__late_evening`?"),
        ("model-b__late_evening", "promises-availabilty", "did you mean `promises-availability`?"),
    ],
)
def test_why_guesses_what_was_meant(
    transcript: str, check: str, guess: str, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "scan", "transcripts", "--out", "run")
    code, _, err = run(capsys, "why", "run", transcript, check)
    assert code == 3
    assert guess in err


def test_explain_prints_a_page_and_guesses_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", "unknown-key")
    assert code == 0
    assert "Why it matters:" in out
    code, _, err = run(capsys, "explain", "unknwn-key")
    assert code == 3
    assert "did you mean `unknown-key`?" in err


def test_lists_of_explain_fit_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(capsys, "explain", "gates")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()).count("with `passed: null` while it is undecided") == 1


def test_explain_shows_what_a_key_means_in_each_kind_of_document(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", "exit_conditions")
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    at = lines.index("tasks.NAME.loop.exit_conditions (workflows)")  # too long for the first column
    assert lines[at + 1] == "expressions that end the loop"
    code, out, _ = run(capsys, "explain", "project")
    assert (code, out.splitlines()[0].split("  ")[0]) == (0, "project (the project file)")
    code, out, _ = run(capsys, "explain", "lint.severity", "--format", "json")
    assert list(json.loads(out)) == ["lint.severity (the project file)"]
    code, out, _ = run(capsys, "explain", "check.severity", "--format", "json")
    assert list(json.loads(out)) == ["severity (checks)"]
    code, out, _ = run(capsys, "explain", "scenario", "--format", "json")
    listed = json.loads(out)
    assert {f"{key} (scenarios)" for key in schema("scenario")["properties"]} <= set(listed)
    assert listed["turns[].user_message (scenarios)"] == "what the user says"
    code, out, _ = run(capsys, "explain", "each", "--format", "json")
    assert json.loads(out)["each (checks)"].endswith("; allowed: `message`, `reply`, `tool_call`, `turn`")
    code, out, _ = run(capsys, "explain", "primary_bucket", "--format", "json")
    assert "or those of" not in json.loads(out)["primary_bucket (checks)"]  # its description names the shipped ones
    code, out, _ = run(capsys, "explain", "category", "--format", "json")
    assert json.loads(out)["category (scenarios)"].endswith("`safety`, or those of `vocabulary.categories`")
    code, out, _ = run(capsys, "explain", "gates.NAME.empty.not_run", "--format", "json")
    assert list(json.loads(out)) == ["gates.NAME.empty.not_run (scorecards)"]
    code, _, err = run(capsys, "explain", "lint.severities")
    assert code == 3
    assert "unknown rule, function, key or term `lint.severities`" in err


def test_explain_lists_the_keys_below_a_key_once(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(run(capsys, "explain", "agentic_review", "--format", "json")[1])
    assert "workflow.overlays.agentic_review.reviewer_agent (the project file)" in listed
    assert sum("reviewer_agent" in key for key in listed) == 1  # a workflow has the same key
    assert "gates.NAME.stops (scorecards)" in json.loads(run(capsys, "explain", "gates", "--format", "json")[1])
    listed = json.loads(run(capsys, "explain", "check.examples", "--format", "json")[1])
    assert {"examples (checks)", "examples[].judge (checks)"} <= listed.keys()
    assert "dimensions.NAME.rate.hit (scorecards)" in run(capsys, "explain", "rate")[1]  # a function too


def test_explain_lists_the_functions_of_expressions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", "functions")
    assert code == 0
    listed = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert {"contains_any", "word_count", "exists"} <= listed.keys()


def test_a_plan_takes_the_judge_that_the_scan_will_ask(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, model in (
        (["--judge", "openai:m@http://127.0.0.1:1/v1"], "m"),
        (["--judge", "replay:replies.json"], "none"),
        (["--judge", "openai:m@http://127.0.0.1:1/v1", "--price-of", "n"], "n"),
    ):
        capsys.readouterr()
        assert main(["plan", "transcripts", *options]) == 0
        assert f"judge model    {model}\n" in capsys.readouterr().out


def test_a_plan_of_a_scan_calls_nothing_and_states_both_bounds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["plan", str(BENCHMARK / "transcripts"), "--project", str(BENCHMARK), "--out", str(tmp_path)]
    code, out, _ = run(capsys, *words, "--format", "json")
    assert code == 0
    planned = json.loads(out)
    assert planned == json.loads((tmp_path / "scan_plan.json").read_text())
    assert planned["llm_calls"]["lower"] <= planned["planned_llm_calls"] <= planned["llm_calls"]["upper"]
    assert json.loads((tmp_path / "cost_report.json").read_text())["profile"] == planned["profile"]


def test_a_closed_output_pipe_is_not_a_success() -> None:
    command = [sys.executable, "-c", "import sys; from rulewright.cli import main; sys.exit(main(['explain']))"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        complaint = process.stderr.read()
    assert b"Traceback" not in complaint
    assert process.returncode == 141


def test_an_internal_error_does_not_exit_as_a_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> int:
        raise KeyError("what nobody expected")

    monkeypatch.setattr("rulewright.commands.explain.run", fail)
    code, _, err = run(capsys, "explain", "unknown-key")
    assert code == 3
    assert "KeyError: 'what nobody expected'" in err
    assert err.splitlines()[-1].startswith("error: this is a bug in Rulewright")


def test_a_file_that_cannot_be_written_is_said_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "plan.json"
    code, _, err = run(capsys, "compile", "--project", str(BENCHMARK / "rulewright.yaml"), "--out", str(out))
    assert (code, err) == (3, f"error: can't write `{out}`: no such file or directory\n")


def test_a_full_disk_is_said_alike_by_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "runs/first/plan.json")

    monkeypatch.setattr("rulewright.commands.explain.run", fail)
    code, _, err = run(capsys, "explain", "unknown-key")
    assert (code, err) == (3, "error: can't write `runs/first/plan.json`: no space left on device\n")


@pytest.mark.parametrize("command", ["plan", "scan"])
def test_of_many_refused_inputs_the_first_three_are_shown_with_their_reasons(
    command: str, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = next((started / "transcripts").glob("*.jsonl")).read_text()
    for number in range(5):
        (started / "transcripts" / f"model-z__nowhere_{number}.jsonl").write_text(text)
    code, _, errors = run(capsys, command, str(started / "transcripts"), "--out", str(started / "run"))
    told = [line for line in errors.splitlines() if line.startswith("error: ")]
    assert (code, len(told)) == (3, 4)
    assert all("unknown scenario `nowhere_" in line for line in told[:3])
    assert told[3] == "error: 2 further inputs refused, 5 in all"


def test_a_single_further_refusal_is_shown_in_place_of_its_count() -> None:
    assert list(refusals(["a", "b", "c", "d"])) == ["error: a", "error: b", "error: c", "error: d"]
    assert list(refusals(["a", "b", "c"], 4))[3] == "error: 1 further input refused, 4 in all"


def test_a_plan_writes_nothing_unless_it_is_asked_to(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(started.iterdir())
    code, out, _ = run(capsys, "plan", "transcripts")
    assert (code, "written" in out) == (0, False)
    assert sorted(started.iterdir()) == before
    assert (
        "written        planned/scan_plan.json, planned/cost_report.json\n"
        in run(capsys, "plan", "transcripts", "--out", "planned")[1]
    )


def test_eval_says_where_the_value_of_an_unknown_name_comes_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "help: give its value in a file: `--context FILE`" in run(capsys, "eval", "reveiw == 1")[2]
    file = tmp_path / "context.json"
    file.write_text('{"review": 1}', encoding="utf-8")
    assert "help: the context has `review`" in run(capsys, "eval", "reveiw == 1", "--context", str(file))[2]


def test_explain_guesses_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean `severity`?" in run(capsys, "explain", "severty")[2]
