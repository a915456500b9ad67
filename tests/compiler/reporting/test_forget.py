"""Forgetting: after `cache prune --transcript` no byte of a conversation stays; a run is as if it never was read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compiler.commands.test_live_judge import project
from tests.model_server import Server, chat, model_server

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.reporting.forget import forget
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.runs.store import run

ID = "other__chat"
WORDS = (ID.encode(), b"Zebedee")
REPLY = json.dumps({"verdict": "FAIL", "evidence": [{"role": "assistant", "turn": 1, "quote": "thing about Zebedee"}]})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three conversations, the second of them about Zebedee."""
    monkeypatch.chdir(tmp_path)
    project(tmp_path, "  source: openai:a-model@http://127.0.0.1:9/v1\n")
    for name, said in (("other__chat", "Another thing about Zebedee."), ("third__chat", "A third thing.")):
        line = {"turn": 1, "role": "assistant", "content": said}
        (tmp_path / "t" / f"{name}.jsonl").write_text(json.dumps(line), encoding="utf-8")
    return tmp_path


@pytest.fixture
def server() -> Iterator[Server]:
    def handler(asked: object, _: int) -> object:
        return chat(REPLY if "Zebedee" in json.dumps(asked) else '{"verdict": "UNCLEAR"}')

    with model_server(handler) as running:  # type: ignore[arg-type]
        yield running


def do(*words: object) -> None:
    main(list(map(str, words)))


def holding(folder: Path) -> list[str]:
    """The files under a folder, but for the chats, that hold the conversation's id or a word of it."""
    kept = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "t"]
    return [
        str(path) for path in kept if any(word in path.read_bytes() or word in str(path).encode() for word in WORDS)
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file() and path.name != ".lock"
    }


def test_no_byte_stays_in_any_file(folder: Path, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    judge = f"openai:a-model@{server.base}"
    for options in ((), ("--overwrite",)):
        do("scan", "t", "--judge", judge, "--out", "runs/live", *options)
    do("report", "runs/live")
    do("adjudicate", "runs/live", "--decide", "third__chat", "A-1", "PASS", "--by", "Ana", "--why", "so")
    Path("kept").mkdir()
    do("record", "runs/live", "-o", "kept/replies.json")
    Path("kept/replies.json.gz").write_bytes(gzip.compress(Path("kept/replies.json").read_bytes()))
    do("scan", "t", "--judge", "replay:kept/replies.json", "--out", "runs/again")
    do("cache", "export", "-o", "kept/calls.jsonl")
    scenario = {"scenario_id": "chat", "title": "t", "category": "empathy"}
    played = {**scenario, "turns": [{"turn_number": 1, "user_message": "And Zebedee?"}]}
    Path("played").mkdir()
    Path("played/chat.json").write_text(json.dumps(played), encoding="utf-8")
    do("harness", "played", "--model", f"openai:other@{server.base}", "--out", "runs/harness")
    Path("played/chat.json").unlink()
    Path("runs/harness/run_plan.json").unlink()  # the scenario is the author's
    assert len(holding(folder)) > 12
    capsys.readouterr()

    do("cache", "prune", "--transcript", ID)
    told = capsys.readouterr().out
    assert holding(folder) == []
    assert b"Zebedee" not in gzip.decompress(Path("kept/replies.json.gz").read_bytes())
    assert "third__chat" in gzip.decompress(Path("kept/replies.json.gz").read_bytes()).decode()
    assert str(Path("t/other__chat.jsonl")) in told.partition("warning: these files still name it")[2]
    assert len(Path("kept/calls.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    do("report", "runs/live")
    do("why", "runs/again", "third__chat", "A-1")
    with pytest.raises(SystemExit):
        do("why", "runs/again", ID, "A-1")


@pytest.mark.parametrize("kind", ["live", "replay", "recording"])
def test_a_run_without_a_transcript_is_the_run_that_never_read_it(kind: str, folder: Path, server: Server) -> None:
    plan = compile_project(folder)
    for name in ("whole", "without"):
        if kind == "live":
            do("scan", "t", "--judge", f"openai:a-model@{server.base}", "--out", name)
        elif kind == "replay":
            Path("replies.json").write_text(json.dumps({key: {"A-1": [[REPLY]] * 3} for key in (ID, "third__chat")}))
            do("scan", "t", "--judge", "replay:replies.json", "--out", name)
        else:
            run(plan, ["t"], name, judge=_Answering())
        if name == "whole":
            forget(ID, [folder / "whole"])
            Path("t/other__chat.jsonl").unlink()
    assert contents(folder / "whole") == contents(folder / "without")


class _Answering:
    """Answers everything; at the fourth question of a run it may be killed."""

    def __init__(self, dies: int | None = None) -> None:
        self.asked, self.dies = 0, dies

    identity = "somebody"

    def ask(self, request: JudgeRequest) -> str:
        self.asked += 1
        if self.asked == self.dies:
            raise KeyboardInterrupt
        return REPLY if request.transcript_id == ID else '{"verdict": "UNCLEAR"}'


@pytest.mark.parametrize("dies", range(1, 7))
def test_a_killed_run_forgets_too_and_goes_on(dies: int, folder: Path) -> None:
    plan = compile_project(folder)
    try:
        run(plan, ["t"], "run", judge=_Answering(dies))
    except KeyboardInterrupt:
        forget(ID, [folder / "run"])
    assert holding(folder / "run") == []
    Path("t/other__chat.jsonl").unlink()
    judge = _Answering()
    run(plan, ["t"], "run", judge=judge, resume=True)
    run(plan, ["t"], "without", judge=_Answering())
    assert contents(folder / "run") == contents(folder / "without")
