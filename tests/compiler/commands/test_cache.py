"""The ledger from the command line: what it holds, why a question is asked again, and how a person is forgotten."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compiler.commands.test_live_judge import CHECK, project, scan, source
from tests.folders import read_lines
from tests.model_server import Response, Server, chat, model_server

from rulewright.cli import main


@pytest.fixture
def server() -> Iterator[Server]:
    with model_server(lambda *_: chat('{"verdict": "PASS", "rationale": "the words of the judge"}')) as running:
        yield running


@pytest.fixture
def scanned(tmp_path: Path, server: Server) -> Path:
    """A project with two conversations, judged once."""
    project(tmp_path, source(server, "priced-model"))
    line = {"turn": 1, "role": "assistant", "content": "Another thing: Zebedee."}
    (tmp_path / "t" / "other__chat.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert scan(tmp_path) == 0
    return tmp_path


def cache(folder: Path, *words: str) -> int:
    return main(["cache", *words, "--ledger", str(folder / ".rulewright" / "ledger.sqlite3")])


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr()
    return " ".join((told.out + told.err).split())


def test_stats_count_calls_tokens_and_dollars(scanned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cache(scanned, "stats", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    counts = {"calls": 4, "answered": 4, "input_tokens": 44, "output_tokens": 28, "uncounted": 0}
    assert found["models"] == {"openai:priced-model": {**counts, "usd": "0.000100"}}
    assert (found["attempts"], found["runs"], found["transcripts"]) == ({"answer": 4}, 1, 2)


def test_an_export_holds_every_call_with_its_places(scanned: Path, tmp_path: Path) -> None:
    assert cache(scanned, "export", "-o", str(tmp_path / "calls.jsonl")) == 0
    rows = read_lines(tmp_path / "calls.jsonl")
    assert {use["transcript_id"] for row in rows for use in row["uses"]} == {"my-bot__chat", "other__chat"}
    assert all("the words of the judge" in row["answer"]["text"] for row in rows)


def test_a_dash_prints_the_calls_and_the_replies(
    scanned: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scanned)
    capsys.readouterr()
    assert (cache(scanned, "export", "-o", "-"), main(["record", "run", "-o", "-"])) == (0, 0)
    printed, told = capsys.readouterr()
    lines = printed.splitlines()
    assert [len(json.loads(each)["uses"]) for each in lines[:4]] == [1, 1, 1, 1]
    assert json.loads("".join(lines[4:]))
    assert (told, (scanned / "-").exists()) == ("", False)


@pytest.mark.parametrize("damage", ["identity = x'00'", "call = 5", "answer = '{'", "key = x'00'"])
def test_a_damaged_ledger_is_named_by_what_reads_it(
    scanned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    database = sqlite3.connect(scanned / ".rulewright" / "ledger.sqlite3")
    with database:
        database.execute(f"update or replace calls set {damage}")
    database.close()
    codes = {cache(scanned, "stats"), cache(scanned, "export", "-o", str(tmp_path / "calls.jsonl"))}
    assert 3 in codes
    said = printed(capsys)
    assert "contains a row that can't be read" in said
    assert "bug" not in said


def test_a_ledger_that_lost_a_table_ends_the_scan_with_the_reason(
    scanned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = sqlite3.connect(scanned / ".rulewright" / "ledger.sqlite3")
    database.execute("drop table calls")
    database.close()
    assert scan(scanned, "--overwrite") == 3
    said = printed(capsys)
    assert "can't be read: no such table: calls" in said
    assert "bug" not in said


def test_also_a_call_that_failed_is_pruned(tmp_path: Path) -> None:
    with model_server(lambda *_: Response(400, b'{"error": {"message": "no: Zebedee"}}')) as server:
        project(tmp_path, source(server))
        assert scan(tmp_path) == 2
    assert cache(tmp_path, "prune", "--transcript", "my-bot__chat") == 1  # the chat still names it
    left = b"".join(path.read_bytes() for path in (tmp_path / ".rulewright").iterdir())
    assert b"tired" not in left
    assert b"Zebedee" not in left
    assert cache(tmp_path, "prune", "--transcript", "nobody__chat") == 3


def test_old_calls_are_pruned_and_young_ones_stay(scanned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cache(scanned, "prune", "--older-than", "1") == 0
    assert "removed 0 calls" in printed(capsys)
    assert cache(scanned, "prune", "--older-than", "0") == 0
    assert "removed 4 calls" in printed(capsys)


def test_without_a_ledger_there_is_nothing_to_look_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cache(tmp_path, "stats") == 3
    assert "ledger not found" in printed(capsys)
    assert not (tmp_path / ".rulewright").exists()
    assert main(["cache", "stats", "--ledger", str(tmp_path)]) == 3
    assert "is a folder; name the file of a ledger" in printed(capsys)


def test_an_edited_scorecard_asks_nothing_and_an_edited_check_only_that_check(
    scanned: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    (scanned / "checks" / "B-1.yaml").write_text(CHECK.replace("A-1", "B-1").replace("ask?", "answer?"), "utf-8")
    before = len(server.requests)
    assert scan(scanned, "--explain-cache") == 0
    assert "note: B-1: 4 asked, never answered before" in printed(capsys)
    assert scan(scanned, "--scorecard", "reference-compatible") == 0
    assert "note: 8 of 8 calls to the judge were answered by the ledger" in printed(capsys)
    (scanned / "checks" / "B-1.yaml").write_text(CHECK.replace("A-1", "B-1").replace("ask?", "stay?"), "utf-8")
    assert scan(scanned, "--explain-cache") == 0
    assert "note: B-1: 4 asked, another prompt" in printed(capsys)
    assert len(server.requests) == before + 8
    assert scan(scanned, "--explain-cache", "--judge", f"openai:new@{server.base}") == 0
    assert "note: A-1: 4 asked, another model, endpoint or client" in printed(capsys)


def test_why_shows_the_words_of_the_judge_and_what_it_was_asked(
    scanned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["why", str(scanned / "run"), "other__chat", "A-1", "--prompt"]) == 0
    told = printed(capsys)
    assert "vote 1: “{" in told
    assert "the words of the judge" in told
    assert "Does the assistant ask?" in told
    assert "Another thing: Zebedee." in told
