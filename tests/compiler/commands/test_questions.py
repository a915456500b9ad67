"""Questions are exported, answered elsewhere and read back; whatever has no usable answer is lost, and never passes."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.folders import read_lines, write_lines
from tests.model_server import chat, model_server
from tests.shared_data import ROOT

from rulewright.cli import main
from rulewright_runtime.models.wire import WIRES

BENCHMARK = ROOT / "benchmark"
CHATS = [str(path) for path in sorted((BENCHMARK / "transcripts").iterdir())[:4]]
VERDICTS = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE", "not a verdict")
OPTIONS = ("--profile", "publish", "--project", BENCHMARK)

Lines = list[dict[str, Any]]


def command(*words: object) -> int:
    return main(list(map(str, words)))


def write(path: Path, rows: Lines) -> str:
    write_lines(path, rows)
    return f"replay:{path}"


def records(folder: Path) -> dict[tuple[str, str], Any]:
    kept = ("verdict", "evidence", "confidence", "rationale_code", "extra")
    rows = read_lines(folder / "verdicts.jsonl")
    return {(row["transcript_id"], row["check_id"]): [row.get(key) for key in kept] for row in rows}


def opinion(prompt: str, temperature: float) -> str:
    """A reply that depends on the question alone; one in five can't be used."""
    verdict = random.Random(f"{prompt}{temperature}").choice(VERDICTS)
    return json.dumps({"verdict": verdict, "evidence": [], "rationale_code": "c"})


def line(custom_id: str, **response: Any) -> dict[str, Any]:
    """A line of a batch's output: a reply of status 200 with the body of a chat completion."""
    body = json.loads(chat(**response).body)
    return {"id": "b", "custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def answered(request: dict[str, Any]) -> dict[str, Any]:
    body = request["body"]
    return line(request["custom_id"], text=opinion(body["messages"][0]["content"], body.get("temperature", 0.0)))


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The batch of a scan of four conversations."""
    folder = tmp_path_factory.mktemp("batch")
    words = ("questions", *CHATS, *OPTIONS, "-o", folder / "questions.jsonl")
    assert command(*words, "--batch", folder / "batch.jsonl", "--model", "a-model") == 0
    return folder


@pytest.fixture(autouse=True)
def one_cache_folder(batch: Path, own_cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of the benchmark is compiled once for all tests here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(batch / "cache"))


def test_a_batch_is_what_the_wire_sends(batch: Path) -> None:
    first = read_lines(batch / "batch.jsonl")[0]
    assert (first["method"], first["url"]) == ("POST", "/v1" + WIRES["openai"].path)
    assert first["body"]["model"] == "a-model"
    assert first["body"]["messages"][0]["content"] == read_lines(batch / "questions.jsonl")[0]["prompt"]


def test_a_batch_gives_the_verdicts_of_the_same_model_asked_live(batch: Path, tmp_path: Path) -> None:
    """Each attempt of a vote gets the same reply, so that the single attempt of a batch loses nothing."""

    def handler(asked: dict[str, Any], _: int) -> Any:
        return chat(opinion(asked["messages"][0]["content"], asked.get("temperature", 0.0)))

    asked = read_lines(batch / "batch.jsonl")
    assert len(asked) == len({row["custom_id"] for row in asked}) > 20
    random.Random(1).shuffle(asked)  # a batch promises no order
    judge = write(tmp_path / "out.jsonl", [answered(row) for row in asked])
    command("scan", *CHATS, *OPTIONS, "--out", tmp_path / "batch", "--judge", judge)
    with model_server(handler) as server:
        live = ("--judge", f"openai:a-model@{server.base}", "--ledger", tmp_path / "ledger.sqlite3")
        command("scan", *CHATS, *OPTIONS, "--out", tmp_path / "live", *live)
    assert records(tmp_path / "batch") == records(tmp_path / "live")


def test_lines_of_plain_replies_are_read_too_and_why_shows_the_words(
    batch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = read_lines(batch / "questions.jsonl")
    plain = [{"custom_id": row["custom_id"], "reply": opinion(row["prompt"], row["temperature"])} for row in asked]
    answers = {"plain": plain, "batch": [answered(row) for row in read_lines(batch / "batch.jsonl")]}
    for name, rows in answers.items():
        judge = write(tmp_path / f"{name}.jsonl", rows)
        command("scan", *CHATS, *OPTIONS, "--out", tmp_path / name, "--judge", judge)
    assert records(tmp_path / "plain") == records(tmp_path / "batch")
    first = read_lines(tmp_path / "plain" / "replies.jsonl")[0]
    capsys.readouterr()
    assert command("why", tmp_path / "plain", first["transcript_id"], first["check_id"]) == 0
    assert "vote 1" in capsys.readouterr().out


def test_why_lists_a_missing_answer_once_for_each_vote(
    batch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = write(tmp_path / "other.jsonl", [{"custom_id": "q-of-another-scan", "reply": PASS}])
    command("scan", *CHATS, *OPTIONS, "--out", tmp_path / "run", "--judge", judge)
    first = read_lines(tmp_path / "run" / "replies.jsonl")[0]
    capsys.readouterr()
    command("why", tmp_path / "run", first["transcript_id"], first["check_id"])
    shown = capsys.readouterr().out
    assert "vote 1" in shown
    assert "attempt" not in shown


PASS = '{"verdict": "PASS", "evidence": []}'
LOST: dict[str, Callable[[str], Lines]] = {
    "missing": lambda _: [],
    "failed": lambda key: [{**line(key, text=PASS), "error": {"code": "batch_expired", "message": "late"}}],
    "a status": lambda key: [
        {"custom_id": key, "response": {**line(key, text=PASS)["response"], "status_code": 500}, "error": None}
    ],
    "no response": lambda key: [{**line(key, text=PASS), "response": None}],
    "reply beside an error": lambda key: [{"custom_id": key, "reply": PASS, "error": "cut"}],
    "cut": lambda key: [line(key, text=PASS, finish="length")],
    "a reply that was cut": lambda key: [{"custom_id": key, "reply": PASS, "finish": "length"}],
    "a reply beside a response": lambda key: [{**line(key, text='{"verdict": "FAIL"}'), "reply": PASS}],
    "a tool call": lambda key: [line(key, text=PASS, tool_calls=[{"id": "1"}])],
    "refused": lambda key: [line(key, text=None, refusal=PASS)],
    "twice": lambda key: [line(key, text=PASS), line(key, text=PASS)],
    "another question's": lambda key: [line(key[::-1], text=PASS)],
    "no verdict": lambda key: [{"custom_id": key, "reply": "PASS"}],
    "no text": lambda key: [{"custom_id": key, "reply": [{"verdict": "PASS"}]}],
}


@pytest.mark.parametrize("way", LOST)
def test_what_is_lost_never_passes_and_is_counted(
    way: str, batch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One question of two is lost with all its votes, among answers that all say PASS."""
    votes: dict[tuple[str, str], list[str]] = {}
    for row in read_lines(batch / "questions.jsonl"):
        votes.setdefault((row["transcript_id"], row["check_id"]), []).append(row["custom_id"])
    lost = list(votes)[::2]
    rows = [each for place in lost for key in votes[place] for each in LOST[way](key)]
    rows += [line(key, text=PASS) for place in list(votes)[1::2] for key in votes[place]]
    judge = write(tmp_path / "out.jsonl", rows)
    command("scan", *CHATS, *OPTIONS, "--out", tmp_path / "run", "--judge", judge)
    found = records(tmp_path / "run")
    assert {found[place][0] for place in lost} <= {"UNCLEAR", "FAIL"}
    assert any(found[place][0] == "PASS" for place in list(votes)[1::2])
    told = capsys.readouterr().err
    assert ("without a usable answer" in told) == (way != "no verdict")


def test_an_answer_belongs_to_the_question_as_it_was_put(batch: Path, tmp_path: Path) -> None:
    """The same place under another prompt has no answer."""
    judge = write(
        tmp_path / "out.jsonl", [line(row["custom_id"], text=PASS) for row in read_lines(batch / "batch.jsonl")]
    )
    (tmp_path / "chats").mkdir()
    for path in map(Path, CHATS):
        rows = [{**row, "content": f"{row['content']} Indeed."} for row in read_lines(path)]
        write(tmp_path / "chats" / path.name, rows)
    command("scan", tmp_path / "chats", *OPTIONS, "--out", tmp_path / "run", "--judge", judge)
    asked = {(row["transcript_id"], row["check_id"]) for row in read_lines(batch / "questions.jsonl")}
    found = records(tmp_path / "run")
    assert asked & found.keys()
    assert not any(found[place][0] == "PASS" for place in asked & found.keys())


def test_a_batch_has_no_answers_of_the_judged_model_or_of_its_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = [{"role": "user", "content": "Help."}, {"role": "assistant", "content": "Yes."}]
    write(Path("chats.jsonl"), [{"id": "a", "model": "gpt-4o", "messages": said}])
    Path("rulewright.yaml").write_text("project: p\nchecks: checks\n")
    Path("checks").mkdir()
    Path("checks/helps.yaml").write_text("id: helps\nprompt: 'Is it help? PASS: yes. FAIL: no.'\n")
    ask = ("questions", "chats.jsonl", "-o", "q.jsonl", "--batch", "b.jsonl", "--model")
    assert command(*ask, "gpt-5") == 3
    assert "`a` can't be judged: the judge `gpt-5` is of the family `gpt`" in capsys.readouterr().err
    assert not Path("b.jsonl").exists()
    assert command(*ask, "other") == 0
    questions = read_lines(Path("b.jsonl"))
    for served, *options in (["gpt-5"], ["gpt-5", "--jobs", "2"], ["other"]):
        replies = [line(each["custom_id"], text='{"verdict": "PASS"}', model=served) for each in questions]
        judge = write(Path("answers.jsonl"), replies)
        assert command("scan", "chats.jsonl", "--judge", judge, *options) == (0 if served == "other" else 3)
