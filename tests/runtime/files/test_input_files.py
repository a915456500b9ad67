"""Input files are regular files, and no larger than was expected; whatever else they are is said at once."""

import contextlib
import gzip
import json
import os
import socket
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.folders import write_turns
from tests.runtime.plans import asked, check, plan

from rulewright_runtime.cases.records import records_of
from rulewright_runtime.errors import InputError, JudgeError, PlanError, RuntimeFailure
from rulewright_runtime.files.input_files import open_regular, read_expanded, read_small
from rulewright_runtime.harness.adapters import AdapterError
from rulewright_runtime.harness.named_adapters import open_adapter
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.runs.store import run
from rulewright_runtime.transcripts.transcript_reader import Reader

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")


SAID = {"a pipe": "it is a pipe", "a device": "it is a device"}


def special(folder: Path, kind: str) -> str:
    """The path of something that is not a regular file."""
    path = folder / "m__s.jsonl"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        return "/dev/zero"
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(folder):
            made.bind(path.name)  # the address of a socket is short
    elif kind == "a loop":
        path.symlink_to(path)
    return str(path)


@pytest.mark.parametrize("kind", ["a pipe", "a device", "a socket", "a loop"])
def test_a_path_that_is_not_a_regular_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    path = special(tmp_path, kind)
    for read in (open_regular, read_expanded, lambda each: read_small(each, 10)):
        with pytest.raises(OSError, match=SAID.get(kind)):
            read(path)
    (found,) = Reader().read([path])
    assert isinstance(found, InputError)
    assert (found.path, found.reason[:24]) == (path, "the file can't be read: ")
    with pytest.raises(JudgeError, match="can't be read"):
        open_judge(f"replay:{path}")
    with pytest.raises(AdapterError, match="can't be read"):
        open_adapter(f"scripted:{path}")
    assert isinstance(next(records_of(path)[1]), InputError)


def test_a_pipe_in_a_folder_of_transcripts_is_refused_and_the_others_are_judged(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_turns(data / "a__s.jsonl", "Hello", "Hi")
    os.mkfifo(data / "b__s.jsonl")
    write_turns(data / "c__s.jsonl", "Hello", "Hi")
    summary = run(plan(check()), [data], tmp_path / "out")
    assert (summary["totals"]["inputs"], summary["transcripts"]) == (3, 2)
    (refused,) = summary["refused"]["inputs"]
    assert refused["path"] == str(data / "b__s.jsonl")
    assert "it is a pipe" in refused["reason"]


def test_a_plan_is_not_read_from_a_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.json")
    words = ["run", str(tmp_path / "plan.json"), str(tmp_path), "--out", str(tmp_path / "out")]
    for module in ("rulewright_runtime", "rulewright"):
        command = [sys.executable, "-m", module, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, "it is a pipe" in done.stderr) == (3, True)


def replies(size: int) -> bytes:
    return json.dumps({"m__s": {"X1": [["x" * size]]}}).encode()


def test_recorded_replies_may_be_compressed_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "replies.json.gz"
    path.write_bytes(gzip.compress(replies(10**6)))
    assert path.stat().st_size < 2000
    open_judge(f"replay:{path}")
    with pytest.raises(JudgeError, match="contains more than 1000 bytes when expanded"):
        open_judge(f"replay:{path}", 1000)
    path.write_bytes(replies(10**6))
    with pytest.raises(JudgeError, match=r"contains more than 1000 bytes$"):
        open_judge(f"replay:{path}", 1000)


def test_a_bomb_is_expanded_no_further_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as stream:
        for _ in range(64):
            stream.write(packer.compress(bytes(2**20)))
        stream.write(packer.flush())
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29));"
    program += "from rulewright_runtime.judging.judge import open_judge; open_judge(sys.argv[1], 2**20)"
    command = [sys.executable, "-c", program, f"replay:{path}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "contains more than 1048576 bytes when expanded" in done.stderr


@pytest.mark.parametrize(
    "damage", [b"\x1f\x8b", b"\x1f\x8b\x08\x00" + b"\0" * 40, gzip.compress(replies(9), mtime=0)[:-9]]
)
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "replies.json.gz"
    path.write_bytes(damage)
    with pytest.raises(JudgeError, match="can't be read"):
        open_judge(f"replay:{path}")


def test_replies_that_are_recorded_twice_under_one_key_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text('{"m__s": {"X1": [["FAIL"]], "X1": [["PASS"]]}}')
    with pytest.raises(JudgeError, match="duplicate key `X1`"):
        open_judge(f"replay:{path}")


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_calls": -1}, "`max_calls` is -1; expected at least 0"),
        ({"max_line": 0}, "`max_line` is 0; expected at least 1"),
        ({"max_expanded": -5}, "`max_expanded` is -5; expected at least 1"),
    ],
)
def test_a_limit_below_its_least_value_is_refused(tmp_path: Path, limits: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        run(plan(asked()), [tmp_path], tmp_path / "out", judge="replay:none", **limits)
    assert not (tmp_path / "out").exists()


def test_a_reader_refuses_a_limit_below_one() -> None:
    with pytest.raises(RuntimeFailure, match="expected at least 1"):
        Reader(max_line=0)


@pytest.mark.parametrize("option", ["--max-calls=-1", "--max-line=0", "--max-expanded=-1", "--max-line=many"])
@pytest.mark.parametrize("module", ["rulewright_runtime", "rulewright"])
def test_the_command_line_refuses_limits_that_make_no_sense(tmp_path: Path, module: str, option: str) -> None:
    (tmp_path / "plan.json").write_bytes(encode(plan(check())))
    words = ["run", "plan.json", str(write_turns(tmp_path / "m__s.jsonl", "Hello", "Hi")), "--out", "out", option]
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, option.split("=")[0].strip("-").replace("-", "_") in done.stderr.replace("-", "_")) == (
        3,
        True,
    )
