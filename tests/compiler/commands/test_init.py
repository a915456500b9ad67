"""`init --from`: a project made for chats that exist lints clean, passes on them and finds what is new."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.folders import write_lines

from rulewright.cli import main
from rulewright.commands import init


def chat(answer: str, name: str = "one", tool: str | None = None) -> dict[str, Any]:
    calls = [{"id": "1", "type": "function", "function": {"name": tool, "arguments": "{}"}}]
    called = [] if tool is None else [{"role": "assistant", "content": None, "tool_calls": calls}]
    said = [{"role": "user", "content": "Hi"}, *called, {"role": "assistant", "content": answer}]
    return {"id": name, "messages": said}


def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *chats: dict[str, Any]) -> int:
    monkeypatch.chdir(tmp_path)
    write_lines(Path("chats.jsonl"), chats)
    return main(["init", "mine", "--from", "chats.jsonl"])


@pytest.mark.parametrize("tool", [None, "find", "it's: [odd] # ${x}\u2028"])
def test_the_project_lints_clean_and_passes_on_the_chats_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tool: str | None
) -> None:
    assert started(tmp_path, monkeypatch, chat("Good day.", tool=tool)) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("next:\n  cd mine\n  rulewright lint\n  rulewright scan ../chats.jsonl --out runs/first\n")
    monkeypatch.chdir("mine")
    assert main(["lint"]) == 0
    assert main(["scan", "../chats.jsonl", "--out", "runs/first"]) == 0
    assert "3 PASS, 0 FAIL" in capsys.readouterr().out


TERSE = "So sorry about that! Order 4711 left our hub on Monday, snow delays couriers: expect it by late Thursday."


def test_terse_chats_in_english_get_a_check_for_english_phrases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert started(tmp_path, monkeypatch, chat(TERSE)) == 0
    assert Path("mine/checks/request-declined.yaml").is_file()


GERMAN = "Das Paket kommt am Montag an. Bitte fragen Sie morgen noch einmal nach, wenn Sie es dann noch nicht haben."


@pytest.mark.parametrize("answer", ["お答えできません。", GERMAN])
def test_chats_in_another_language_get_no_check_for_english_phrases(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(tmp_path, monkeypatch, chat(answer)) == 0
    assert "because `is_refusal` knows only English phrases" in capsys.readouterr().out
    assert sorted(path.name for path in Path("mine/checks").iterdir()) == [
        "personal-data-shown.yaml",
        "reply-too-long.yaml",
    ]


@pytest.mark.parametrize(
    ("answer", "tool"), [("x" * 101, "find"), ("Write to ann@example.org.", "find"), ("Good day.", "drop")]
)
def test_what_the_chats_did_not_hold_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str, tool: str
) -> None:
    assert started(tmp_path, monkeypatch, chat("Good day.", tool="find")) == 0
    (tmp_path / "new.jsonl").write_text(json.dumps(chat(answer, "two", tool)) + "\n", encoding="utf-8")
    monkeypatch.chdir("mine")
    assert main(["scan", "../new.jsonl", "--out", "runs/first"]) == 1
    assert "2 PASS, 1 FAIL" in capsys.readouterr().out


def test_the_project_shows_how_a_judge_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(tmp_path, monkeypatch, chat("Good day.")) == 0
    monkeypatch.chdir("mine")
    project = Path("rulewright.yaml")
    lines = project.read_text(encoding="utf-8").splitlines()
    commented = lines.index("# judge:")
    lines[commented:] = [line.removeprefix("# ") for line in lines[commented:]]
    project.write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("checks/polite.yaml").write_text(
        'id: polite\nprompt: "PASS: every reply is polite. FAIL: one is not."\n', encoding="utf-8"
    )
    assert main(["lint"]) == 0
    capsys.readouterr()
    assert main(["plan", "../chats.jsonl", "--format", "json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert (planned["judge_model"], planned["planned_llm_calls"]) == ("MODEL", 3)


def test_without_a_readable_chat_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(tmp_path, monkeypatch, {"nothing": "known"}) == 3
    assert "`chats.jsonl` contains no readable chat: chats.jsonl:1:" in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_a_chat_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(tmp_path, monkeypatch, chat("Good day."), {"nothing": "known"}) == 0
    assert "warning: 1 record in `chats.jsonl` can't be read; the first: chats.jsonl:2:" in capsys.readouterr().err


def test_a_table_of_other_columns_is_read_and_the_next_command_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("faq.csv").write_text("asked,told by us\nWhen?,At nine.\n", encoding="utf-8")
    assert main(["init", "mine", "--from", "faq.csv", "--columns", "user=asked,assistant=told by us"]) == 0
    assert "scan ../faq.csv --columns 'user=asked,assistant=told by us' --out" in capsys.readouterr().out


def test_a_file_in_the_way_stops_it_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine" / "scorecards").mkdir(parents=True)
    (tmp_path / "mine" / "scorecards" / "share.yaml").write_text("mine", encoding="utf-8")
    assert started(tmp_path, monkeypatch, chat("Good day.")) == 3
    assert sorted(str(each.name) for each in (tmp_path / "mine").rglob("*")) == ["scorecards", "share.yaml"]


def test_the_project_file_is_written_last_so_that_half_a_project_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[str] = []
    monkeypatch.setattr(init, "write_whole", lambda path, _: there.extend(each.name for each in path.parent.iterdir()))
    assert started(tmp_path, monkeypatch, chat("Good day.")) == 0
    assert sorted(there) == ["checks", "scorecards"]
    assert not (tmp_path / "mine" / "rulewright.yaml").exists()


def test_a_folder_that_holds_a_run_is_linted_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(tmp_path, monkeypatch, chat("Good day.")) == 0
    assert main(["scan", "chats.jsonl", "--project", "mine", "--out", "run"]) == 0
    assert main(["compile", "mine", "-o", "run/again.json"]) == 0
    assert main(["plan", "chats.jsonl", "--project", "mine", "--out", "run"]) == 0
    Path("run/lexicon.yaml").write_text("name: late\npatterns: [too late]\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["lint", "run"]) == 0
    assert capsys.readouterr().out == "no findings in 1 file\n"


def test_a_project_with_any_name_can_be_made_and_linted_in_any_locale(tmp_path: Path) -> None:
    write_lines(tmp_path / "chats.jsonl", [chat("Yes.")])
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}

    def ran(*words: str) -> tuple[int, str]:
        command = [word.encode() for word in (sys.executable, "-m", "rulewright", *words)]
        done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env={**os.environ, **plain})
        return done.returncode, (done.stdout + done.stderr).decode()

    code, said = ran("init", "Prüfung", "--from", "chats.jsonl")
    assert (code, "wrote Prüfung/rulewright.yaml\n" in said, "cd 'Prüfung'\n" in said) == (0, True, True)
    assert ran("lint", "Prüfung") == (0, "no findings in 5 files\n")
    project = tmp_path / "Prüfung" / "rulewright.yaml"
    project.write_text(project.read_text("utf-8").replace("checks: checks", "checks: prüfungen"), "utf-8")
    (tmp_path / "Prüfung" / "checks").rename(tmp_path / "Prüfung" / "prüfungen")
    assert ran("lint", "Prüfung", "--no-cache") == (0, "no findings in 5 files\n")
    assert ran("lint", "Pruefung")[1].startswith(
        "error: argument PATH: no such file or folder: `Pruefung`; did you mean"
    )
