"""Forgetting: after `cache prune --transcript` no byte of a conversation stays; a run is as if it never was read."""

import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from tests.attack.disk import content, pictures
from tests.compiler.commands.test_live_judge import project
from tests.folders import json_lines, read_lines
from tests.model_server import Server, chat, model_server
from tests.rounds import part

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.reporting.forget import forget
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.errors import PlanError
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


def do(*words: object) -> int:
    return main(list(map(str, words)))


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
    do("record", "runs/live", "-o", "kept/answers.jsonl")
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
    assert len(Path("kept/answers.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    do("report", "runs/live")
    do("why", "runs/again", "third__chat", "A-1")
    assert do("why", "runs/again", ID, "A-1") == 3


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


def test_a_forgetting_that_was_killed_is_completed_by_the_next_one(folder: Path, tmp_path: Path) -> None:
    run(compile_project(folder), ["t"], "run", judge=_Answering())
    do("report", "run")
    do("adjudicate", "run", "--decide", "third__chat", "A-1", "PASS", "--by", "Ana", "--why", "so")
    killed = pictures(folder / "run", tmp_path / "killed", lambda: forget(ID, [folder / "run"]), lambda: None)
    assert holding(folder / "run") == []
    for place, _ in part(killed, 12):
        forget("third__chat", [place])
        if ID in str(content(place)):
            forget(ID, [place])
        assert holding(place) == []
        assert set(read_run(place).rows) == set(read_run(place / "adjudicated").rows) == {"my-bot__chat"}, place


def prune() -> int:
    return main(["cache", "prune", "--transcript", ID])


def test_exports_elsewhere_and_labels_lose_the_rows_of_the_transcript(
    folder: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    do("scan", "t", "--judge", f"openai:a-model@{server.base}", "--out", "run")
    do("export", "run", "-o", "elsewhere")
    for place, names in (("run/labels/A-1.csv", (ID, "third__chat")), ("gold.csv", (f"{ID}/A-1", "third__chat/A-1"))):
        Path(place).parent.mkdir(exist_ok=True)
        rows = "".join(f"{name},PASS,Ana,test,{'f' * 32}\n" for name in names)
        Path(place).write_text("id,target,annotator,split,conversation\n" + rows, encoding="utf-8")
    capsys.readouterr()
    assert prune() == 1  # for the chat
    told = capsys.readouterr().out
    assert told.partition("yours to change")[2].split() == ["(1", "file):", str(Path("t/other__chat.jsonl"))]
    for name in ("verdicts", "scores"):
        left = parquet.read_table(f"elsewhere/{name}.parquet").column("transcript_id").to_pylist()
        assert (ID in left, "third__chat" in left) == (False, True)
    assert Path("gold.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        f"third__chat/A-1,PASS,Ana,test,{'f' * 32}"
    ]
    assert Path("run/labels/A-1.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        f"third__chat,PASS,Ana,test,{'f' * 32}"
    ]
    Path("t/other__chat.jsonl").unlink()
    assert prune() == 3


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ('{"sha256": "a0c7f1"}', False), ("c70", False), ("abc7", False), ("c7", True), ("t/c7.jsonl", True),
        (r'{"said": "see\nc7"}', True), (r'{"said": "\u2026c7"}', True), ("user_c7", True), ("\u00e9c7", True),
    ],
)  # fmt: skip
def test_a_name_inside_a_longer_word_is_not_named(text: str, is_named: bool, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(text, encoding="utf-8")
    assert forget("c7", [tmp_path]).naming == ([tmp_path / "notes.txt"] if is_named else [])


def test_what_is_left_and_what_is_closed_is_named_and_the_exit_code_says_so(
    folder: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    do("scan", "t", "--judge", f"openai:a-model@{server.base}", "--out", "run")
    Path("t/other__chat.jsonl").unlink()
    with zipfile.ZipFile("kept.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("talk.txt", f"{ID} " * 100)
    Path("table.parquet").write_bytes(b"PAR1 cut")
    Path("log.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 9)
    pq = pyarrow.table({"chat": [ID]})
    parquet.write_table(pq, "foreign.parquet")
    capsys.readouterr()
    assert prune() == 1
    open_, _, closed = capsys.readouterr().out.partition("warning: these files still name it")[2].partition("warning:")
    assert [name in open_ for name in ("kept.zip", "foreign.parquet", "table.parquet")] == [True, True, False]
    assert [name in closed for name in ("table.parquet", "log.zst", "kept.zip")] == [True, True, False]
    for name in ("kept.zip", "foreign.parquet", "table.parquet", "log.zst"):
        Path(name).unlink()
    elsewhere = folder.parent / f"{folder.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "talk.txt").write_text(ID)
    (elsewhere / "other.txt").write_text("another chat")
    links: dict[str, Path | str] = {
        "a.txt": elsewhere / "talk.txt",
        "b": elsewhere,
        "c": "t",
        "d": "nowhere",
        "e": elsewhere / "other.txt",
    }
    for link, target in links.items():
        Path(link).symlink_to(target)
    assert [path.name for path in forget(ID, [Path()]).closed] == ["a.txt", "b"]
    for name in links:
        Path(name).unlink()
    do("scan", "t", "--judge", f"openai:a-model@{server.base}", "--out", "run", "--overwrite")
    line = {"turn": 1, "role": "assistant", "content": "Another thing about Zebedee."}
    Path("t/other__chat.jsonl").write_text(json.dumps(line), encoding="utf-8")
    do("scan", "t", "--judge", f"openai:a-model@{server.base}", "--out", "run", "--overwrite")
    Path("t/other__chat.jsonl").unlink()
    assert prune() == 0


def test_an_unknown_transcript_is_distinguished_from_a_removed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    Path("notes.jsonl").write_text('{"id": "rex", "text": "nobody"}\n', encoding="utf-8")
    assert main(["cache", "prune", "--transcript", "nobody"]) == 1
    said = capsys.readouterr().out
    nothing = "no call, run or label is about a transcript of that id (1 file):"
    assert said == f"warning: these files contain `nobody`, but {nothing}\n  notes.jsonl\n"


def test_labels_that_a_spreadsheet_saved_with_semicolons_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    head = "id;target;annotator;split\n"
    Path("labels.csv").write_text(f"{head}rex/c;PASS;ana;tune\nmimi/c;FAIL;ana;tune\n", encoding="utf-8")
    assert main(["cache", "prune", "--transcript", "rex"]) == 0
    assert Path("labels.csv").read_text(encoding="utf-8") == f"{head}mimi/c;FAIL;ana;tune\n"


def test_questions_their_batch_and_its_answers_lose_the_transcript(folder: Path) -> None:
    do("questions", "t", "-o", "questions.jsonl", "--batch", "batch.jsonl", "--model", "a-model")
    asked = read_lines(Path("questions.jsonl"))
    answers = json_lines({"custom_id": each["custom_id"], "reply": REPLY} for each in asked)
    Path("answers.jsonl").write_text(answers, encoding="utf-8")
    Path("other.json").write_text('{"third__chat": {"A-1": [["thing about other__chat"]]}}', encoding="utf-8")
    kept = sum(each["transcript_id"] != ID for each in asked)
    assert prune() == 1  # for the chat and `other.json`
    for name in ("questions", "batch", "answers"):
        assert len(Path(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()) == kept < len(asked)
    assert b"Zebedee" not in Path("batch.jsonl").read_bytes()
    assert Path("other.json").read_text() == '{"third__chat": {"A-1": [["thing about other__chat"]]}}'


def test_a_run_that_only_quotes_a_name_is_not_changed_and_a_damaged_one_is_refused(folder: Path) -> None:
    said = {"turn": 1, "role": "assistant", "content": "See nobody__chat about Zebedee."}
    Path("t/other__chat.jsonl").write_text(json.dumps(said), encoding="utf-8")
    quoted = REPLY.replace("thing about Zebedee", "See nobody__chat")
    Path("replies.json").write_text(json.dumps({ID: {"A-1": [[quoted]] * 3}}), encoding="utf-8")
    do("scan", "t", "--judge", "replay:replies.json", "--out", "run")
    before = contents(folder / "run")
    found = forget("nobody__chat", [folder / "run"])
    assert (found.changed, contents(folder / "run")) == ([], before)
    assert found.naming == [folder / "run/verdicts.jsonl"]
    (folder / "run/verdicts.jsonl").write_bytes(before["verdicts.jsonl"] + b'{"transcript_id": 1}\n')
    with pytest.raises(PlanError, match=r"`.*verdicts.jsonl` is damaged; remove the folder"):
        forget(ID, [folder / "run"])
    assert contents(folder / "run")["scores.jsonl"] == before["scores.jsonl"]
