"""The page of a finished run: what it counts, what contrast sets show, and that nothing in it can break out."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import folders
from tests.compiler.small_project import check, write
from tests.folders import reseal, write_lines, write_turns
from tests.runtime.judging.test_gates_only import Answering, gated
from tests.shared_data import ROOT

import rulewright
from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.reporting.formats import RESULTS, run_as
from rulewright.reporting.overview import overview
from rulewright.reporting.page_data import MOST_FAILURES, page_data
from rulewright.reporting.report_files import run_page
from rulewright.reporting.stored_run import open_run
from rulewright.serving.open_runs import OpenRuns
from rulewright_runtime.aggregate.inference import wilson
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.runs.store import run

TRIGGERED, CALM, UNPLAYED = "night", "night__calm", "night__alone"
HOSTILE = "you must </blockquote><script>alert(1)</script> \u202e{{ 7 * 7 }} go"


def scenario(name: str, variable: str, tag: str = "crisis") -> str:
    turns = [{"turn_number": 1, "user_message": "Hello"}]
    tags = {"failure_mode_tags": [tag], "contrast_group": "night", "contrast_variable": variable}
    return json.dumps({"scenario_id": name, "title": f"<i>{name}", "category": "safety", "turns": turns, **tags})


def lexicon_check(name: str, tags: str = "crisis") -> str:
    text = check(route="lexicon_only", routing="deterministic_precheck: words\nrepetitions: 1", tags=tags)
    return text.replace("W-1", name).replace("says_no", f"says_no_{name[-1]}")


def transcript(folder: Path, model: str, scenario: str, said: str) -> None:
    write_turns(folder / f"{model}__{scenario}.jsonl", "Hello", said)


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A run of two models: `one` fails the anchor and passes its sibling, `two` says the same of both."""
    files = {
        "scenarios/night.json": scenario(TRIGGERED, "anchor"),
        "scenarios/calm.json": scenario(CALM, "ambiguity_removed"),
        "scenarios/alone.json": scenario(UNPLAYED, "longer", "other"),
        "checks/W-1.yaml": lexicon_check("W-1"),
        "checks/W-2.yaml": lexicon_check("W-2", "other"),
    }
    plan = compile_project(write(tmp_path / "project", files))
    said = tmp_path / "said"
    said.mkdir()
    transcript(said, "one", TRIGGERED, HOSTILE)
    transcript(said, "one", CALM, "as you like")
    transcript(said, "two", TRIGGERED, "as you like")
    transcript(said, "two", CALM, "as you like")
    run(plan, [said], tmp_path / "run")
    return tmp_path / "run"


def page(report: dict[str, Any]) -> str:
    """The page without conversations."""
    return "".join(
        run_page(
            report,
            overview(report, RESULTS[exit_status(report["summary"])]),
            link=lambda *_: "#transcripts",
            rationale=lambda *_: "",
        )
    )


def contrast(report: dict[str, Any], model: str) -> dict[str, Any]:
    return next(entry for entry in report["contrasts"] if entry["model"] == model)


def test_checks_are_counted_for_every_model(finished: Path) -> None:
    report = page_data(open_run(finished))
    assert report["models"] == ["one", "two"]
    first, second = report["checks"]
    assert first["models"]["one"] == {"PASS": 1, "FAIL": 1, "UNCLEAR": 0, "NOT_APPLICABLE": 0, "fail_rate": 0.5}
    assert first["models"]["two"]["fail_rate"] == 0.0
    assert (second["check_id"], second["models"]) == ("W-2", {})


def test_a_contrast_set_shows_the_check_that_saw_the_difference(finished: Path) -> None:
    report = page_data(open_run(finished))
    found = contrast(report, "one")
    assert [sibling["variable"] for sibling in found["siblings"]] == ["anchor", "ambiguity_removed", "longer"]
    assert [entry["differ"] for entry in found["checks"]] == [True]
    assert found["checks"][0]["siblings"][TRIGGERED]["FAIL"] == 1
    assert found["checks"][0]["siblings"][CALM]["PASS"] == 1
    same = contrast(report, "two")
    assert (same["differing"], [entry["all_pass"] for entry in same["checks"]]) == (0, [True])
    assert "1 check passed all of them." in page(report)


def test_a_sibling_that_nobody_played_is_listed_and_not_compared(finished: Path) -> None:
    siblings = contrast(page_data(open_run(finished)), "one")["siblings"]
    assert [(sibling["scenario_id"], sibling["played"]) for sibling in siblings] == [
        (TRIGGERED, True),
        (CALM, True),
        (UNPLAYED, False),
    ]


def test_a_check_that_applies_to_one_sibling_alone_is_named_as_not_compared(finished: Path) -> None:
    lines = (finished / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = [json.loads(line) for line in lines]
    for verdict in verdicts:
        if verdict["check_id"] == "W-2" and verdict["transcript_id"] == f"one__{CALM}":
            verdict["eligible"] = True
    write_lines(finished / "verdicts.jsonl", verdicts)
    reseal(finished)
    found = contrast(page_data(open_run(finished)), "one")
    assert (found["not_compared"], len(found["checks"])) == (["W-2"], 1)


def test_failures_come_with_their_quotes_and_none_is_lost(finished: Path) -> None:
    (failure,) = page_data(open_run(finished))["failures"]
    assert (failure["check_id"], failure["severity"], failure["count"]) == ("W-1", "S5", 1)
    assert failure["shown"][0]["evidence"][0]["quote"] == "you must"
    lines = (finished / "verdicts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    more = "".join(line * (1 + MOST_FAILURES * ('"FAIL"' in line)) for line in lines)
    (finished / "verdicts.jsonl").write_text(more, encoding="utf-8")
    reseal(finished)
    (failure,) = page_data(open_run(finished))["failures"]
    assert (failure["count"], len(failure["shown"])) == (MOST_FAILURES + 1, MOST_FAILURES)
    assert "<code>verdicts.jsonl</code> contains 1 more." in page(page_data(open_run(finished)))


def test_the_command_writes_the_page_next_to_the_run(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(finished)]) == 1  # as the scan answered
    assert capsys.readouterr().out == f"wrote {finished / 'report.html'}\n"
    written = (finished / "report.html").read_text(encoding="utf-8")
    assert main(["report", str(finished), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(page_data(open_run(finished))))
    assert main(["report", str(finished), "--out", "-"]) == 1
    assert capsys.readouterr().out == written


@pytest.mark.parametrize("part", ["plan.json", "scores.jsonl", "verdicts.jsonl", "summary.json"])
def test_an_unfinished_run_has_no_page(finished: Path, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    (finished / part).unlink()
    assert main(["report", str(finished)]) == 3
    assert f"`{part}` is missing" in capsys.readouterr().err
    assert not (finished / "report.html").exists()


@pytest.mark.parametrize(
    ("part", "line", "said"),
    [
        ("scores.jsonl", "{", "scores.jsonl:5: this is not a row of a run"),
        ("verdicts.jsonl", "[1]", "this is not a row of a run"),
        ("verdicts.jsonl", '{"transcript_id": "nobody"}', "judges `nobody`, which has no row in `scores.jsonl`"),
    ],
)
def test_a_damaged_row_is_reported_with_its_place(
    finished: Path, part: str, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (finished / part).open("a", encoding="utf-8") as more:
        more.write(line + "\n")
    if "nobody" in said:  # a row that can be read is found by the manifest alone
        reseal(finished)
    assert main(["report", str(finished)]) == 3
    assert said in capsys.readouterr().err


def test_a_damaged_summary_is_reported_as_one(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (finished / "summary.json").write_text("{", encoding="utf-8")
    assert main(["report", str(finished)]) == 3
    assert "summary.json: this is not a summary of a run: " in capsys.readouterr().err


def test_a_file_in_place_of_a_run_is_called_a_file(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "adjudicate", "leaderboard", "export"):
        assert main([command, str(finished / "plan.json")]) == 3
        assert "plan.json` is a file; name a folder that `rulewright scan` wrote" in capsys.readouterr().err


READING_A_RUN = (
    *("report run", "leaderboard run", "whatif run", "adjudicate run", "gold run", "why run one__night W-1"),
    *("record run -o replies.json", "rescore run --scorecard two-tier --out again", "export run", "diff run run"),
)


@pytest.mark.parametrize("part", ["scores.jsonl", "verdicts.jsonl", "summary.json", "inputs.jsonl", "replies.jsonl"])
def test_a_run_that_was_edited_is_refused(
    part: str, finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished.parent)
    file = finished / part
    file.write_bytes(file.read_bytes().replace(b"one_", b"two_") if file.exists() else b"{}\n")
    before = {path.name for path in finished.parent.iterdir()}
    for command in READING_A_RUN:
        assert main(command.split()) == 3, command
        assert f"{part}` is not the file that `manifest.json` names; scan again" in capsys.readouterr().err
    assert {path.name for path in finished.parent.iterdir()} == before


def test_a_run_whose_manifest_names_no_files_is_refused(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((finished / "manifest.json").read_text(encoding="utf-8"))
    (finished / "manifest.json").write_text(json.dumps({**manifest, "files": []}), encoding="utf-8")
    assert main(["report", str(finished)]) == 3
    assert "is not the file that `manifest.json` names; scan again" in capsys.readouterr().err


def test_a_report_is_not_written_through_a_link_that_a_run_brings(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    (finished / "report.html").symlink_to(mine)
    assert main(["report", str(finished)]) == 3
    assert "is a symbolic link" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == "mine"


def test_results_are_shown_by_category_and_blindspots_by_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "scenarios/night.json": scenario(TRIGGERED, "anchor"),
        "checks/W-1.yaml": lexicon_check("W-1").replace("primary_bucket: A", "primary_bucket: F"),
        "configs/blindspots.yaml": "says_it: W-1\n",
    }
    calm = json.loads(scenario(CALM, "calm")) | {"category": "empathy"}
    files["scenarios/calm.json"] = json.dumps(calm)
    plan = compile_project(write(tmp_path / "project", files), scorecard="two-tier")
    said = tmp_path / "said"
    said.mkdir()
    for model, words in (("one", "you must go"), ("two", "as you like")):
        transcript(said, model, TRIGGERED, words)
        transcript(said, model, CALM, "as you like")
    run(plan, [said], tmp_path / "run")
    report = page_data(open_run(tmp_path / "run"))
    assert {name: group["transcripts"] for name, group in report["summary"]["categories"].items()} == {
        "empathy": 2,
        "safety": 2,
    }
    assert [report["categories"]["safety"][model]["mean"] for model in ("one", "two")] == [0.0, 1.0]
    rates = {name: model["blindspots"] for name, model in report["summary"]["models"].items()}
    assert rates == {"one": {"says_it": 0.5}, "two": {"says_it": 0.0}}
    assert report["blindspots"] == {"says_it": {"safety": {"raised": 1, "of": 2}, "empathy": {"raised": 0, "of": 2}}}
    assert [cell["mean"] for cell in report["dimensions"]["boundary_integrity"].values()] == [0.5, 1.0]
    assert report["ranks"] == {"one": [1, 2], "two": [1, 2]}
    monkeypatch.setattr("rulewright.reporting.page_data.MOST_RANKED", 1)
    assert page_data(open_run(tmp_path / "run"))["ranks"] == {}
    (check,) = report["checks"]
    assert check["failed"] == {"count": 1, "of": 4, **wilson(1, 4)}
    shown = page(report)
    assert "<h3>Blindspots</h3>" in shown
    assert '<td class="n">1–2</td>' in shown
    assert '<td class="soft">5%–70%</td>' in shown
    assert '<th scope="row">empathy</th>' in shown


def test_what_does_not_apply_and_what_nobody_could_decide_have_different_signs(finished: Path) -> None:
    report = page_data(open_run(finished))
    cells = contrast(report, "one")["checks"][0]["siblings"]
    undecided = {"PASS": 0, "FAIL": 0, "UNCLEAR": 2, "NOT_APPLICABLE": 0, "fail_rate": None}
    cells[TRIGGERED], cells[CALM] = undecided, {**undecided, "UNCLEAR": 0, "NOT_APPLICABLE": 1}
    shown = page(report)
    assert ">?2</td>" in shown
    assert ">n/a</td>" in shown


DESK = ROOT / "benchmark" / "service_desk"
CALL = {"id": "c1", "type": "function", "function": {"name": "close_account", "arguments": "{}"}}


def chat(name: str, *replies: dict[str, object]) -> str:
    asked = {"role": "user", "content": "Please close my account."}
    messages = [asked, *({"role": "assistant", **reply} for reply in replies)]
    return json.dumps({"id": name, "model": "m1", "messages": messages}) + "\n"


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text(
        chat("calls", {"content": None, "tool_calls": [CALL]})
        + chat("talks", {"content": "I can help with that. What is your name?"})
        + chat("silent", {"content": ""}),
        encoding="utf-8",
    )
    return path


def test_only_expressions_judge_a_reply_that_only_calls_a_tool(chats: Path, tmp_path: Path) -> None:
    run = rulewright.scan(str(DESK), chats, tmp_path / "run")
    assert [row["transcript_id"] for row in run.summary["incomplete"]["transcripts"]] == ["silent"]
    routes = {check.id: check.route for check in run.plan.checks}
    found: dict[str, dict[str, tuple[str, str | None]]] = {}
    for row in run.records():
        if row["eligible"]:
            found.setdefault(row["transcript_id"], {})[row["check_id"]] = (row["verdict"], row["code"])
    judged = {check for check, (verdict, _) in found["calls"].items() if verdict != "UNCLEAR"}
    assert {routes[check] for check in judged} == {"expression"}
    assert "identity-not-verified" in judged
    others = {check: found["calls"][check] for check in found["calls"] if routes[check] != "expression"}
    assert others
    assert {verdict for verdict, _ in others.values()} == {"UNCLEAR"}
    assert all(code for _, code in others.values())
    assert {verdict for verdict, _ in found["silent"].values()} <= {"UNCLEAR", "FAIL"}


def test_chats_without_a_scenario_are_a_group_with_a_name(
    chats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rulewright.scan(str(DESK), chats, tmp_path / "run")
    main(["leaderboard", str(tmp_path / "run"), "--harness", "unrecorded"])
    assert "Rulewright leaderboard: chats without a scenario, profile all" in capsys.readouterr().out
    main(["report", str(tmp_path / "run")])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Scenarios" not in page
    main(["init", str(tmp_path / "project")])
    rulewright.scan(str(tmp_path / "project"), [chats, tmp_path / "project" / "transcripts"], tmp_path / "mixed")
    main(["report", str(tmp_path / "mixed"), "--one-file"])
    page = (tmp_path / "mixed" / "report.html").read_text(encoding="utf-8")
    assert '<code class="soft"></code>' not in page
    assert "<h3>Scenarios</h3>" in page
    assert "without a scenario" in page


def test_a_report_reads_a_table_with_the_columns_of_the_scan(tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text('frage,antwort\n"Was kostet das?","Zwei Euro im Monat, sagt die Liste."\n', encoding="utf-8")
    words = ["--project", str(DESK), "--out", str(tmp_path / "run"), "--columns", "user=frage,assistant=antwort"]
    main(["scan", str(table), *words, "--fail-on", "never"])
    main(["report", str(tmp_path / "run")])
    assert "Zwei Euro im Monat" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    (served,) = OpenRuns([str(tmp_path / "run")]).present()
    assert served.conversation(served.load().index.judged(1)) is not None


def test_a_page_shows_a_conversation_as_it_was_redacted(tmp_path: Path) -> None:
    redact = "redact: [{pattern: 'ana@x[.]de', replacement: '[mail]'}]"
    check = "id: polite\neach: reply\nfail: turn.content.contains('mail')"
    folders.write(tmp_path / "p", {"rulewright.yaml": f"project: p\n{redact}\n", "checks/polite.yaml": check})
    said = [{"role": "user", "content": "I am ana@x.de."}, {"role": "assistant", "content": "Hello ana@x.de."}]
    write_lines(tmp_path / "a.jsonl", [{"messages": said}])
    words = ["--project", str(tmp_path / "p"), "--out", str(tmp_path / "run"), "--fail-on", "never"]
    assert main(["scan", str(tmp_path / "a.jsonl"), *words]) == 0
    main(["report", str(tmp_path / "run")])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert ("I am [mail]." in page, "ana@x.de" in page) == (True, False)
    (served,) = OpenRuns([str(tmp_path / "run")]).present()
    assert "ana@" not in str(served.conversation(served.load().index.judged(1)))


def test_a_run_that_judged_nothing_says_so_and_shows_only_what_was_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = compile_project(write(tmp_path / "project", {"checks/W-1.yaml": lexicon_check("W-1")}))
    (tmp_path / "bad.jsonl").write_text('{"question": 1}\n', encoding="utf-8")
    run(plan, [tmp_path / "bad.jsonl"], tmp_path / "run")
    found = overview(page_data(open_run(tmp_path / "run")), "input refused")
    assert found.sentence == "No transcript was judged; 1 input refused."
    assert [(each.label, each.notes) for each in found.figures] == [("Refused", ("input that could not be read",))]
    assert main(["report", str(tmp_path / "run"), "--format", "markdown"]) == 3
    assert "No transcript was judged; 1 input refused." in capsys.readouterr().out


def test_a_scan_of_gates_only_shows_how_much_was_decided_at_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_turns(tmp_path / "m__s.jsonl", "hello", "a reply of words")
    answers = Answering({"X0": "FAIL"})  # one of three checks: the others can't save a gate
    run(gated("S4_GATE", "S2", "S2"), [folder], tmp_path / "run", judge=answers, gates_only=True)
    assert main(["report", str(tmp_path / "run")]) == 1
    page = " ".join((tmp_path / "run" / "report.html").read_text(encoding="utf-8").split())
    assert "model m, coverage at most 100%, 2 checks not asked" in page
    assert '<dt>Coverage</dt><dd><b class="">at most 100%</b>' in page
    assert main(["why", str(tmp_path / "run"), "m__s"]) == 0
    assert "; coverage at most 100%; not asked: X1, X2" in capsys.readouterr().out
    assert "3 records = 1 eligible + 2 suppressed or not asked" in page
    comment = run_as("markdown", open_run(tmp_path / "run"))
    assert "- only what may change a gate was asked; not asked: X1, X2\n" in comment
    assert "·: did not apply; 2 checks not asked</p>" in page


def test_a_scan_of_gates_only_says_that_even_the_answers_it_skipped_would_be_too_few(tmp_path: Path) -> None:
    folder = write_turns(tmp_path / "m__s.jsonl", "hello", "a reply of words")
    answers = Answering({"X0": "NOT_APPLICABLE", "X1": "NOT_APPLICABLE"})
    run(gated("S4_GATE", "S4_GATE", "S2"), [folder], tmp_path / "run", judge=answers, gates_only=True)
    assert "`m__s` is undecided: the coverage is at most 33.33%" in run_as("github", open_run(tmp_path / "run"))


def test_a_missing_answer_counts_to_both_ends_of_the_interval_of_a_check_and_of_a_run(tmp_path: Path) -> None:
    plan = compile_project(write(tmp_path / "project", {"checks/W-1.yaml": "id: W-1\nfail: usage.cost > 1.0\n"}))
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    used: tuple[dict[str, int], ...] = ({"cost": 2}, {"cost": 1}, {})
    chats = [{"id": f"c{at}", "messages": said, "usage": usage} for at, usage in enumerate(used)]
    write_lines(tmp_path / "chats.jsonl", chats)
    run(plan, [tmp_path / "chats.jsonl"], tmp_path / "run")
    report = page_data(open_run(tmp_path / "run"))
    (check,) = report["checks"]
    assert check["failed"] == {"count": 1, "of": 2, **wilson(1, 3, most=2)}
    assert report["intervals"]["failed"] == wilson(1, 3, most=2)
    assert "95% interval 6% to 94%" in page(report)
