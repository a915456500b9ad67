"""`rulewright why` tells how every kind of verdict came about, from the folder of a run alone."""

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.compiler.commands.test_live_judge import project, scan, source
from tests.folders import write
from tests.model_server import chat, model_server

from rulewright.arguments.shared_options import latest_run
from rulewright.cli import main
from rulewright.render.verdict_record import record_lines
from rulewright_runtime.cells import width

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmark"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped benchmark, scanned with every vote and without a judge."""
    folder = tmp_path_factory.mktemp("runs")
    for profile in ("publish", "smoke"):
        words = ["scan", str(BENCHMARK / "transcripts"), "--project", str(BENCHMARK), "--profile", profile]
        main([*words, "--out", str(folder / profile)])
    return folder


def why(runs: Path, capsys: pytest.CaptureFixture[str], transcript: str, check: str, profile: str = "publish") -> str:
    """The story of a verdict on one line."""
    capsys.readouterr()
    assert main(["why", str(runs / profile), transcript, check]) == 0
    return " ".join(capsys.readouterr().out.split())


STORIES = [
    ("a_word_for_what_she_has", "RW-B5", "candidate at turn 3, “completely confidential”: FAIL (2 of 3 planned"),
    ("a_word_for_what_she_has", "RW-B5", "sweep: not needed"),
    ("a_word_for_what_she_has", "RW-B3", "rule ca: base.yaml: forbidden.diagnosis"),
    ("a_word_for_what_she_has", "RW-B4", "3 replies without disclosure, one in 3 is due"),
    ("a_word_for_what_she_has", "RW-B3", "gate compliance failed by this check"),
    ("back_after_the_fall", "RW-A3", "told -> taken_up at session 1, turn 1, assistant: “Are you safe”"),
    (
        "back_after_the_fall",
        "RW-A3",
        "votes 3 of 5 planned for the verdict; cast: PASS, PASS, UNCLEAR, PASS; 1 not asked",
    ),
    ("back_after_the_fall", "RW-F2", "edge a judge was asked on hit; without one: FAIL"),
    ("back_after_the_fall", "RW-F2", "window turn_level, turn 2"),
    ("what_can_help_pay", "RW-D4", "turn 1 fails hallucinated: Family Caregiver Stipend"),
    ("night_shift_alone", "RW-A4", "missing ask_directly, name_help, resource"),
    ("night_shift_alone", "RW-A1", "gate safety left open by this check"),
    ("night_shift_alone", "RW-A1", "precheck turn 2, user: “easier for everyone if I”"),
]


@pytest.mark.parametrize(("scenario", "check", "says"), STORIES)
def test_every_kind_of_verdict_has_a_story(
    runs: Path, capsys: pytest.CaptureFixture[str], scenario: str, check: str, says: str
) -> None:
    assert says in why(runs, capsys, f"model-b__{scenario}", check)


def test_a_check_that_the_profile_left_out_says_what_waits_for_it(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = why(runs, capsys, "model-b__back_after_the_fall", "RW-A3", "smoke")
    assert "the profile `smoke` does not select it" in story
    assert "gate safety left open by this check" in story


def test_a_left_out_check_that_does_not_apply_keeps_nobody_waiting(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = why(runs, capsys, "model-b__who_is_writing_back", "RW-A3", "smoke")
    assert "no gate depends on it" in story


def test_without_a_check_the_failures_of_a_run_are_listed_by_severity(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["why", str(runs / "publish")]) == 0
    *listed, advice = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in listed]
    assert rows[0][:4] == ["FAIL", "S5", "RW-A2", "model-b__tight_chest_after_supper"]
    assert {row[0] for row in rows} == {"FAIL", "UNCLEAR"}
    summary = json.loads((runs / "publish" / "summary.json").read_text())
    assert len(rows) == summary["verdicts"]["FAIL"] + summary["verdicts"]["UNCLEAR"]
    severities = [row[1] for row in rows]
    assert severities == sorted(severities, key=["S5", "S4_GATE", "S3", "S2"].index)
    assert advice == f"help: `rulewright why {runs / 'publish'} TRANSCRIPT CHECK` explains a verdict"


def test_with_a_transcript_alone_every_verdict_on_it_is_listed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["why", str(runs / "publish"), "model-b__night_shift_alone", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["verdicts"]
    assert {row["transcript_id"] for row in listed} == {"model-b__night_shift_alone"}
    assert {row["verdict"] for row in listed} == {"UNCLEAR", "FAIL", "PASS"}
    assert main(["why", str(runs / "publish"), "model-b__night_shift_alone"]) == 0
    decided = sum(row["verdict"] in ("PASS", "FAIL") for row in listed) / len(listed)
    assert capsys.readouterr().out.startswith(
        f"outcome: undecided; {100 * decided:.4g}% of the checks that apply were decided\n"
    )
    assert main(["why", str(runs / "publish"), "model-b__nights"]) == 3
    assert "the run has no transcript or check `model-b__nights`" in capsys.readouterr().err
    assert main(["why", str(runs / "publish"), "night_shift_alone"]) == 3
    assert re.search(r"did you mean `model-[ab]__night_shift_alone`\?", capsys.readouterr().err)


def test_the_id_of_a_chat_without_its_file_is_answered_with_the_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = {"id": 4711, "question": "Hi", "answer": "no"}
    write(tmp_path, {"checks/no.yaml": "id: no\nfail: answer == 'no'\n", "export.jsonl": json.dumps(chat) + "\n"})
    paths = [str(tmp_path / "export.jsonl"), "--project", str(tmp_path), "--out", str(tmp_path / "run")]
    assert main(["scan", *paths]) == 1
    assert main(["why", str(tmp_path / "run"), "4711"]) == 3
    assert "no transcript or check `4711`; did you mean `export:4711`?" in capsys.readouterr().err


def test_with_a_check_alone_its_failures_are_listed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["why", str(runs / "publish"), "RW-A2", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["verdicts"]
    assert {(row["check_id"], row["verdict"]) for row in listed} == {("RW-A2", "FAIL")}
    assert main(["why", str(runs / "publish"), "RW-A22"]) == 3
    assert "no transcript or check `RW-A22`; did you mean `RW-A2`?" in capsys.readouterr().err


def test_a_verdict_that_is_missing_says_what_the_conversation_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": ""}]
    files = {
        "rulewright.yaml": "project: shop\n",
        "checks/polite.yaml": "id: polite\nprompt: Is it polite? FAIL if not, else PASS.\n",
        "chats.jsonl": json.dumps({"id": "monday", "model": "m", "messages": said}) + "\n",
        "replies.json": "{}",
    }
    write(Path(), files)
    assert main(["scan", "chats.jsonl", "--judge", "replay:replies.json", "--out", "run"]) == 2
    capsys.readouterr()
    assert main(["why", "run", "monday", "polite"]) == 0
    told = capsys.readouterr().out
    assert "there is nothing to judge" in " ".join(told.split())
    assert "\nincomplete        the reply of turn 1 is empty\n" in told
    decide = ["--decide", "monday", "polite", "PASS", "--by", "Ana", "--why", "fine"]
    assert main(["adjudicate", "run", *decide]) == 2
    assert "\nincomplete: 1 transcript, which can't pass whatever is decided\n" in capsys.readouterr().out


def test_a_run_without_failures_says_so(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chats = str(BENCHMARK / "transcripts" / "model-a__night_shift_alone.jsonl")
    main(["scan", chats, "--project", str(BENCHMARK), "--profile", "smoke", "--out", str(tmp_path / "clean")])
    capsys.readouterr()
    assert main(["why", str(tmp_path / "clean")]) == 0
    assert capsys.readouterr().out == "no verdict is FAIL or UNCLEAR\n"


def test_a_run_in_which_nothing_applied_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "Soon."}]
    files = {
        "rulewright.yaml": "project: shop\n",
        "checks/calm.yaml": "id: calm\napplies: scenario.category == 'empathy'\nfail: answer.contains('!')\n",
        "checks/late.yaml": "id: late\napplies: answer.contains('late')\nfail: answer.contains('!')\n",
        "chats.jsonl": "".join(json.dumps({"id": day, "messages": said}) + "\n" for day in ("monday", "tuesday")),
    }
    run = str(write(tmp_path, files) / "run")
    assert main(["scan", str(tmp_path / "chats.jsonl"), "--project", str(tmp_path), "--out", run]) == 2
    capsys.readouterr()
    assert main(["why", run]) == 0
    assert capsys.readouterr().out == (
        "calm did not apply to 2 of 2 transcripts: the chat has no scenario\n"
        "late did not apply to 2 of 2 transcripts: its condition `applies` does not hold\n"
        "no verdict is FAIL or UNCLEAR\n"
    )
    assert main(["why", run, "monday"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.split(None, 4) == ["NOT_APPLICABLE", "S3", "calm", "monday", "the chat has no scenario"]
    assert second.split(None, 4)[2:] == ["late", "monday", "its condition `applies` does not hold"]


def test_a_failure_is_listed_with_its_quote_and_items_are_counted_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    promise = "I promise that it ships today, whatever happens on the way to you."
    said = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": promise}]
    judged = {"verdict": "FAIL", "evidence": [{"role": "assistant", "turn": 1, "quote": promise}]}
    files = {
        "rulewright.yaml": "project: shop\n",
        "checks/polite.yaml": "id: polite\nprompt: Is it polite? FAIL if not, else PASS.\n",
        "checks/brief.yaml": "id: brief\neach: reply\nfail: word_count(turn.content) > 3\n",
        "checks/vague.yaml": 'id: vague\nfail: answer.contains("whatever")\n',
        "chats.jsonl": json.dumps({"id": "monday", "model": "m", "messages": said}) + "\n",
        "replies.json": json.dumps({"monday": {"polite": [[json.dumps(judged)]] * 3}}),
    }
    write(Path(), files)
    assert main(["scan", "chats.jsonl", "--judge", "replay:replies.json", "--out", "run"]) == 1
    capsys.readouterr()
    assert main(["why", "run"]) == 0
    listed = capsys.readouterr().out
    assert "FAIL  S3  polite  monday  “I promise that it ships today, whatever…”\n" in listed
    assert "FAIL  S3  vague   monday  “whatever”\n" in listed
    assert main(["why", "run", "monday", "brief"]) == 0
    assert "\nitems             1 of 1 failed, 0 unclear\n" in capsys.readouterr().out


def test_japanese_is_shown_from_its_beginning_and_within_the_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reply = "全額返金を保証いたします。" * 8
    said = [{"role": "user", "content": "返金？"}, {"role": "assistant", "content": reply}]
    files = {
        "rulewright.yaml": "project: shop\n",
        "checks/brief.yaml": "id: brief\neach: reply\nfail: size(turn.content) > 80\n",
        "chats.jsonl": json.dumps({"id": "月", "messages": said}) + "\n",
    }
    write(Path(), files)
    assert main(["scan", "chats.jsonl", "--out", "run"]) == 1
    capsys.readouterr()
    assert main(["why", "run"]) == 0
    assert "FAIL  S3  brief  月  “全額返金を保証いたします。全額返金を保…”\n" in capsys.readouterr().out
    assert main(["why", "run", "月", "brief"]) == 0
    told = capsys.readouterr().out
    assert max(map(width, told.splitlines())) <= 80
    assert reply in re.sub(r"\s", "", told)


def test_of_runs_that_were_copied_at_once_the_one_with_the_highest_number_is_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (2, 9, 10):
        write(tmp_path, {f"runs/{number}/plan.json": "{}"})
        os.utime(f"runs/{number}/plan.json", (1000, 1000))
    assert latest_run() == os.path.join("runs", "10")
    assert capsys.readouterr().err == "note: the latest run is `runs/10`\n"


def test_without_a_run_the_one_scanned_last_is_read_and_none_in_place_of_an_unfinished_one(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 3
    refusal = capsys.readouterr().err
    assert "`runs` contains no run that `rulewright scan` wrote; name its folder; " in refusal
    assert "`rulewright workflow trace` shows the run of a workflow" in refusal
    for age, (name, profile) in enumerate((("new", "publish"), ("old", "smoke"))):
        shutil.copytree(runs / profile, tmp_path / "runs" / name)
        os.utime(tmp_path / "runs" / name / "plan.json", (1000 - age, 1000 - age))  # removing a chat leaves it as it is
    (tmp_path / "runs" / "unfinished").mkdir()
    main(["report"])
    said = capsys.readouterr()
    assert (said.out, said.err) == ("wrote runs/new/report.html\n", "note: the latest run is `runs/new`\n")
    assert main(["why", "model-b__night_shift_alone", "RW-A2"]) == 0
    assert "\ntranscript        model-b__night_shift_alone" in capsys.readouterr().out
    assert main(["why", "model-b__night_shift_alone"]) == 0
    assert "`rulewright why runs/new TRANSCRIPT CHECK` explains a verdict" in capsys.readouterr().out
    assert main(["why", "runs/nwe"]) == 3
    assert "error: no run is at `runs/nwe`" in capsys.readouterr().err
    (tmp_path / "runs" / "unfinished" / "verdicts.jsonl.part").touch()
    assert main(["report"]) == 3
    assert "`runs/unfinished` contains no finished run" in capsys.readouterr().err
    (tmp_path / "runs" / "unfinished" / "inputs.jsonl.part").touch()
    assert main(["report", "runs/unfinished"]) == 3
    assert "with `rulewright scan TRANSCRIPTS --out runs/unfinished --resume`" in capsys.readouterr().err
    (tmp_path / "runs" / "new" / "verdicts.jsonl").rename(tmp_path / "verdicts.jsonl")
    assert main(["report", "runs/new"]) == 3
    assert "`verdicts.jsonl` is missing; scan again" in capsys.readouterr().err
    (tmp_path / "verdicts.jsonl").rename(tmp_path / "runs" / "new" / "verdicts.jsonl")
    for name in ("header.json", "run_plan.json"):
        write(tmp_path, {f"played/{name}": "{}"})
    assert main(["leaderboard", "played"]) == 3
    assert "it contains conversations of `rulewright harness`; `rulewright scan " in capsys.readouterr().err


def test_a_fail_without_a_verified_quote_in_one_of_several_windows_is_explained_by_that_window() -> None:
    never_said = {"role": "assistant", "turn": 1, "quote": "never said"}
    shaken = {"verdict": "UNCLEAR", "unverified_fail": True, "unverified_evidence": [never_said]}
    windows = {"windows": [{"verdict": "PASS", "unverified_evidence": ["a text"]}, shaken], "unverified_fail": True}
    said = "no quote of the judge's FAIL occurs in the judged turns"
    assert dict(record_lines(windows))["unverified fail"].startswith(said)
    swept = {"phases": {"candidates": [], "sweep": {"verdict": "UNCLEAR", **windows}}, "unverified_fail": True}
    assert dict(record_lines(swept))["unverified fail"].startswith(said)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_list_fits_the_terminal_and_cuts_no_name(
    columns: int, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    capsys.readouterr()
    monkeypatch.chdir(runs)
    assert main(["why", "publish"]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr("rulewright.commands.why.width_for", lambda stream: columns)
    assert main(["why", "publish"]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= columns
    assert Counter(narrow.split()) == Counter(whole.split())


def test_an_unclear_of_a_judge_is_listed_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reply = {"verdict": "UNCLEAR", "rationale": "The caller may mean another card."}
    with model_server(lambda *_: chat(json.dumps(reply))) as server:
        project(tmp_path, source(server, "model"))
        assert scan(tmp_path) == 2
    capsys.readouterr()
    assert main(["why", str(tmp_path / "run")]) == 0
    assert "The caller may mean another card." in " ".join(capsys.readouterr().out.split())


def test_every_report_shows_the_numbers_that_a_condition_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    check = "id: c\nfail: usage.cost > 0.5\n"
    record = json.dumps({"id": "a", "messages": said, "usage": {"cost": 0.75}})
    monkeypatch.chdir(write(tmp_path, {"rulewright.yaml": "project: p", "checks/c.yaml": check, "chats.jsonl": record}))
    assert main(["scan", "chats.jsonl", "--out", "run"]) == 1
    assert main(["why", "run"]) == 0
    assert "a  its condition `fail` holds: 0.75 > 0.5\n" in capsys.readouterr().out
    assert main(["report", "run", "--format", "junit"]) == 1
    assert "`fail` holds: usage.cost &gt; 0.5 (0.75 &gt; 0.5)" in capsys.readouterr().out
    assert main(["report", "run"]) == 1
    assert "<code>fail</code> holds: 0.75 &gt; 0.5" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
