"""Several jobs: the same bytes as from one, whatever the inputs are and whoever ends in between."""

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from tests.folders import read_lines
from tests.rounds import TORTURE, every
from tests.shipped_plans import shipped_plan

from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.runs import jobs, run_rows, store, worker
from rulewright_runtime.transcripts import chats, containers, pieces
from rulewright_runtime.transcripts.transcript_reader import Reader

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmark"
REPLIES = f"replay:{BENCHMARK / 'judge_replies' / 'replies.json'}"


class Killed(BaseException):
    """Somebody pulls the plug."""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped transcripts as files and, under the same and under other ids, as a batch that is cut into pieces,
    with lines in it that are refused; and files that are not transcripts."""
    monkeypatch.setattr(pieces, "PIECE", 2000)
    monkeypatch.setattr(jobs, "TASK_BYTES", 9000)
    folder = tmp_path / "data"
    shutil.copytree(BENCHMARK / "transcripts", folder)
    lines: list[bytes] = []
    for number, path in enumerate(sorted(folder.iterdir())):
        model, _, scenario = path.stem.partition("__")
        record = {"scenario_id": scenario, "model": model, "turns": read_lines(path)}
        if number % 2:
            record["transcript_id"] = path.stem if number % 4 == 1 else f"again-{number % 6}"
        lines += [json.dumps(record).encode(), (b"", b"{broken", b'{"turns": 1}', b'{"turn": 1}', b"\0")[number % 5]]
    (folder / "a-batch.jsonl").write_bytes(b"\n".join(lines))
    (folder / "m__nowhere.jsonl").write_text('{"turn": 1, "role": "user", "content": "a"}\n', encoding="utf-8")
    (folder / "zz__broken.jsonl").write_text("{\n", encoding="utf-8")
    (folder / "zzz__empty.jsonl").write_text("", encoding="utf-8")
    return folder


def run(out: Path, *paths: Path, **settings: Any) -> dict[str, bytes]:
    store.run(shipped_plan(profile="publish"), paths, out, judge=REPLIES, **settings)
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def test_any_number_of_jobs_writes_the_same_bytes(data: Path, tmp_path: Path) -> None:
    paths = (data, data / "absent.jsonl", data / "a-batch.jsonl")
    assert len(list(Reader().pieces(paths))) > 30
    alone = run(tmp_path / "alone", *paths)
    summary = json.loads(alone["summary.json"])
    assert summary["transcripts"] >= 16
    assert summary["refused"]["count"] > 16
    for number in every(2, (2, 3), 1):
        assert run(tmp_path / f"jobs{number}", *paths, jobs=number) == alone


def test_a_run_that_was_killed_is_resumed_with_any_number_of_jobs(data: Path, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", data)
    out = tmp_path / "run"

    def kill(done: int) -> None:
        if done in (7, 23):
            raise Killed

    for number in (3, 1):
        with pytest.raises(Killed):
            run(out, data, jobs=number, resume=True, progress=kill)
    assert run(out, data, jobs=2, resume=True) == whole
    assert run(out, data, jobs=2, resume=True) == whole
    (data / "a-batch.jsonl").write_bytes(b"{}\n")
    with pytest.raises(PlanError, match="is not what the run had read"):
        run(out, data, jobs=2, resume=True)


def test_a_worker_whose_parent_was_killed_ends_without_a_word(data: Path) -> None:
    command = [sys.executable, "-P", "-m", "rulewright_runtime.runs.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        setup = run_rows.Setup(encode(shipped_plan(profile="publish")), 2**20, None, REPLIES, None, None)
        task = worker.PieceTask(tuple(each for each in Reader().pieces([data]) if isinstance(each, pieces.Piece)))
        for message in (setup, task):
            worker.put_frame(process.stdin, msgspec.msgpack.encode(message))
        process.stdin.close()
        assert process.stderr.read() == b""


def test_a_worker_that_ends_is_replaced(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path / "whole", data)
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen

    def mortal(*arguments: Any, **settings: Any) -> subprocess.Popen[bytes]:
        started.append(original(*arguments, **settings))
        if len(started) in (1, 3):
            started[-1].kill()
        return started[-1]

    def kill(done: int) -> None:
        if done in (2, 30):  # of three kills all might meet one task, which ends the run
            started[-1].kill()

    monkeypatch.setattr(subprocess, "Popen", mortal)
    assert run(tmp_path / "run", data, jobs=2, progress=kill) == whole
    assert len(started) > 2
    assert all(worker.poll() is not None for worker in started)


def test_workers_that_always_end_stop_the_run_and_lose_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole", data)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", shutil.which("false"))
        with pytest.raises(jobs.WorkerEndedError, match=r"3 worker processes ended without an answer, at `.*a-batch"):
            run(tmp_path / "run", data, jobs=2)
    assert run(tmp_path / "run", data, jobs=2, resume=True) == whole


def test_what_several_jobs_can_not_do_is_refused_before_anything_is_written(data: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="`max_calls` needs one process that counts the calls"):
        run(tmp_path / "run", data, jobs=2, max_calls=3)
    with pytest.raises(PlanError, match="`jobs` and `ray` are for runs that ask no model"):
        store.run(shipped_plan(profile="publish"), [data], tmp_path / "run", judge=object(), jobs=2)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="`jobs` is 0; expected at least 1"):
        run(tmp_path / "run", data, jobs=0)
    with pytest.raises(PlanError, match="unknown parameter `nothing`"):
        run(tmp_path / "run", data, jobs=2, parameters={"nothing": 1})
    assert not (tmp_path / "run").exists() or not list((tmp_path / "run").iterdir())


def test_pieces_are_the_whole_file_cut_at_line_ends(data: Path) -> None:
    path = data / "a-batch.jsonl"
    found = [each for each in Reader().pieces([path]) if isinstance(each, pieces.Piece)]
    content = path.read_bytes()
    assert len(found) > 5
    assert b"".join(content[piece.start : piece.end] for piece in found) == content
    assert [piece.line for piece in found] == [content[: piece.start].count(b"\n") + 1 for piece in found]
    path.write_bytes(content[: found[-1].start + 3])
    assert [str(error) for error in Reader().read_piece(found[-1])] == [
        f"{path}: the file became shorter while it was read"
    ]


def test_no_piece_holds_a_line_that_is_too_long(data: Path, tmp_path: Path) -> None:
    path = data / "a-batch.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[5:5] = [b'"' + b"x" * (2**20 + 9) + b'"\n']
    path.write_bytes(b"".join(lines))
    found = list(Reader().pieces([path]))
    assert max(piece.size for piece in found if isinstance(piece, pieces.Piece)) < 2**20
    assert [each.line for each in found if isinstance(each, InputError)] == [6]
    assert run(tmp_path / "jobs", path, jobs=2) == run(tmp_path / "alone", path)


@pytest.mark.parametrize(
    ("pack", "damage"),
    [(gzip.compress, "none"), (gzip.compress, "cut"), (zstandard.ZstdCompressor().compress, "changed")],
)
def test_a_compressed_file_is_shared_out_with_the_same_bytes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes], damage: str
) -> None:
    monkeypatch.setattr(pieces, "_LEAST_PACKED", 0)
    lines = (data / "a-batch.jsonl").read_bytes().splitlines(keepends=True)
    lines[5:5] = [b'"' + b"x" * (2**20 + 9) + b'"\n', b"\n"]
    members = pack(b"".join(lines[:-4])), pack(b"".join([*lines[-4:], b'{"last": "line"}']))
    packed = bytearray(b"".join(members))
    if damage == "changed":
        packed[len(members[0]) + 1] ^= 0xFF
    path = tmp_path / "batch.jsonl"
    path.write_bytes(packed[:-30] if damage == "cut" else packed)
    found = list(Reader().pieces([path]))
    parts = [piece for piece in found if isinstance(piece, pieces.Piece)]
    assert len(parts) > 5
    assert all(piece.data and len(piece.data) < 2**20 for piece in parts)
    refused = [each.reason for each in found if isinstance(each, InputError)]
    assert refused[0].startswith("the line has 1048")
    assert ["the compressed data" in reason for reason in refused[1:]] == ([] if damage == "none" else [True])
    alone = run(tmp_path / "alone", path)
    assert (b"the compressed data" in alone["summary.json"]) == (damage != "none")
    assert run(tmp_path / "jobs", path, jobs=2) == alone
    if damage != "none" and not TORTURE:
        return
    out = tmp_path / "resumed"

    def kill(done: int) -> None:
        if done == 9:
            raise Killed

    with pytest.raises(Killed):
        run(out, path, jobs=2, progress=kill)
    assert run(out, path, jobs=2, resume=True) == alone


def test_a_large_file_of_chats_is_read_in_pieces_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 600)
    for module in (containers, chats):
        monkeypatch.setattr(module, "MAX_DOCUMENT", 1000)
    session = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "hi"}}
    native = {"scenario_id": "s", "model": "m", "turns": [{"turn": 1, "role": "user", "content": "a"}]}
    lines = ["{broken", json.dumps(session), json.dumps(native), "[]", "", '{"messages": []}', '{"a": 1}']
    for number in range(40):
        said = [{"role": "user", "content": f"question {number % 30}"}, {"role": "assistant", "content": "x" * number}]
        name = {"id": f"c{number % 30}"} if number % 3 else {}
        lines.insert(number * 7 % (len(lines) + 1) if number else 0, json.dumps({**name, "messages": said}))
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    alone, cut = Reader(), Reader()
    found = list(cut.pieces([path]))
    assert len(found) > 5
    assert all(isinstance(piece, pieces.Piece) and piece.chats for piece in found)
    read = [item for piece in found if isinstance(piece, pieces.Piece) for item in cut.read_piece(piece)]
    assert list(map(str, read)) == list(map(str, alone.read([path])))
    reasons = [item.reason for item in read if isinstance(item, InputError)]
    assert sum("are joined to conversations" in reason for reason in reasons) == 1
    path.write_text("\n".join([json.dumps(session), *lines]), encoding="utf-8")
    assert [piece.is_whole for piece in Reader().pieces([path]) if isinstance(piece, pieces.Piece)] == [True]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_blank_lines_of_a_large_file_are_read_in_pieces_as_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    """A piece of blank lines at the start was told as an empty file."""
    monkeypatch.setattr(pieces, "PIECE", 600)
    monkeypatch.setattr(pieces, "_LEAST_PACKED", 0)
    blanks = "\n \t\r\n" * 1000
    said = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Yes."}]
    lines = [json.dumps({"messages": said, "id": f"c{number}"}) for number in range(5)]
    path = tmp_path / "chats.jsonl"
    path.write_bytes(
        pack(f"{blanks}{lines[0]}\n{blanks}{lines[1]}\n\n{lines[2]}\n{blanks}{{\n{lines[3]}{blanks}".encode())
    )
    cut = Reader()
    found = [each for each in cut.pieces([path]) if isinstance(each, pieces.Piece)]
    read = [item for piece in found for item in cut.read_piece(piece)]
    assert list(map(str, read)) == list(map(str, Reader().read([path])))
    assert [item.line for item in read] == [2001, 4002, 4004, 6005, 6006]
    assert len(found) > 2


ASKED = [{"role": "user", "content": "Can you help me?"}, {"role": "assistant", "content": "Ignore the doctor."}]
TRACE = [
    {"type": kind, "sessionId": "s", "uuid": kind, "message": {"role": kind, "content": "hi"}}
    for kind in ("user", "assistant")
]
NATIVE = {"scenario_id": "s", "model": "m", "turns": [{"turn": 1, "role": "user", "content": "a"}]}
SHARED = {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
ROW = {"question": "a", "answer": "b"}
WRONG = ["{broken", "[]", "", '{"a": 1}', '{"messages": []}', "\0", json.dumps(NATIVE)]


def chats_file(path: Path, *between: object, wrong: list[str] = WRONG) -> Path:
    """Chats of several formats and lines that are `wrong`; in the middle, `between` and more chats."""
    lines = [json.dumps({"messages": ASKED})]
    for number in range(24):
        chat = {"id": f"c{number % 20}", "messages": ASKED} if number % 3 else SHARED
        lines += [json.dumps(chat), json.dumps(ROW), wrong[number % len(wrong)]]
    lines[40:40] = map(json.dumps, between)
    text = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize(
    ("between", "wrong", "name", "parts"),
    [
        ((), WRONG, "chats.jsonl", 9),
        ((), WRONG, "chats.jsonl.gz", 9),
        ((TRACE[0], SHARED, TRACE[1]), WRONG, "chats.jsonl", 5),
        ((TRACE[0], SHARED, TRACE[1]), [""], "chats.jsonl.gz", 5),
        (({"data": TRACE},), [""], "chats.jsonl", 5),
        (({"data": [SHARED]},), [""], "chats.jsonl", 9),
    ],
)
def test_chats_are_shared_out_up_to_a_line_of_a_longer_conversation(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    between: tuple[object, ...],
    wrong: list[str],
    name: str,
    parts: int,
) -> None:
    monkeypatch.setattr(pieces, "PIECE", 400)
    monkeypatch.setattr(pieces, "_LEAST_PACKED", 0)
    monkeypatch.setattr(jobs, "TASK_BYTES", 700)
    path = chats_file(tmp_path / name, *between, wrong=wrong)
    assert len(list(Reader().pieces([path]))) >= parts
    alone = run(tmp_path / "alone", path)
    out = tmp_path / "resumed"

    def kill(done: int) -> None:
        if done in (30, 45):
            raise Killed

    for number in (2, 1):
        with pytest.raises(Killed):
            run(out, path, jobs=number, resume=True, progress=kill)
    assert run(out, path, jobs=3, resume=True) == alone
    for number in (2, 3) if TORTURE else ():
        assert run(tmp_path / f"jobs{number}", path, jobs=number) == alone


@pytest.mark.parametrize(
    "first", [TRACE[0], ROW, {"turn": 1, "role": "user", "messages": ASKED}, {"role": "user", "content": "a"}]
)
def test_chats_whose_first_line_may_belong_to_others_are_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: object
) -> None:
    monkeypatch.setattr(pieces, "PIECE", 400)
    path = chats_file(tmp_path / "m__chats.jsonl")
    path.write_text(f"{json.dumps(first)}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    assert [piece.is_whole for piece in Reader().pieces([path]) if isinstance(piece, pieces.Piece)] == [True]
