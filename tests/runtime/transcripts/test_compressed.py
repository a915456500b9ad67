"""Compressed chats: read as the same chats in a plain file, to their end or not at all, in little memory."""

import gzip
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from tests.folders import json_lines

from rulewright.cli import main
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import expanded_size
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
EACH = pytest.mark.parametrize("ending", PACK)


def chat(number: int, words: int = 3) -> bytes:
    chance = random.Random(number)
    said = " ".join(str(chance.random()) for _ in range(words))
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": said}]
    return json.dumps({"id": f"c{number}", "model": "m", "messages": messages}).encode() + b"\n"


def contents(*paths: Path) -> list[tuple[str, str]]:
    """What was read: ids with the last turn, or why something was refused."""
    return [
        (each.id, each.turns[-1].content) if isinstance(each, Transcript) else ("", each.reason)
        for each in Reader().read(paths)
    ]


@EACH
def test_what_is_compressed_is_read_by_its_content(tmp_path: Path, ending: str) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(b"".join(map(chat, range(30))))
    expected = contents(plain)
    assert len(expected) == 30
    for name in (f"chats.jsonl{ending}", "chats.jsonl", "chats"):
        (tmp_path / name).write_bytes(PACK[ending](plain.read_bytes()))
        assert contents(tmp_path / name) == expected, name
    members = b"".join(PACK[ending](chat(number)) for number in range(30))
    (tmp_path / "members").write_bytes(members)
    assert contents(tmp_path / "members") == expected


@EACH
def test_every_form_may_be_compressed(tmp_path: Path, ending: str) -> None:
    turns = [{"turn": 1, "role": "user", "content": "Hi"}, {"turn": 1, "role": "assistant", "content": "Hello"}]
    native = json_lines(turns).encode()
    table = b"question,answer\nHi,Hello\n"
    document = json.dumps([json.loads(chat(1)), json.loads(chat(2))], indent=1).encode()
    files = {"m__s.jsonl": native, "t.csv": table, "u.tsv": table.replace(b",", b"\t"), "d.json": document}
    for name, data in files.items():
        (tmp_path / "plain").mkdir(exist_ok=True)
        (tmp_path / "packed").mkdir(exist_ok=True)
        (tmp_path / "plain" / name).write_bytes(data)
        (tmp_path / "packed" / (name + ending)).write_bytes(PACK[ending](data))
    columns = {"user": "question", "assistant": "answer"}
    plain, packed = (
        [each if isinstance(each, InputError) else each.turns for each in Reader(columns=columns).read([folder])]
        for folder in (tmp_path / "plain", tmp_path / "packed")
    )
    assert len(plain) == 5
    assert packed == plain
    (native_one,) = (each for each in Reader().read([tmp_path / "packed" / f"m__s.jsonl{ending}"]))
    assert isinstance(native_one, Transcript)
    assert (native_one.id, native_one.model, native_one.scenario_id) == ("m__s", "m", "s")


@EACH
def test_data_that_end_early_or_are_damaged_are_reported_and_what_came_before_is_read(
    tmp_path: Path, ending: str
) -> None:
    whole = b"".join(chat(number, 200) for number in range(40))
    packed = PACK[ending](whole)
    expected = contents(_written(tmp_path / "whole.jsonl", whole))
    for cut in (1, 4, 8, len(packed) // 2, len(packed) - 20):
        found = contents(_written(tmp_path / "cut", packed[:-cut]))
        read, (last,) = found[:-1], found[-1:]
        assert last == ("", "the file can't be read: the compressed data end early"), cut
        assert read == expected[: len(read)]
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    found = contents(_written(tmp_path / "damaged", bytes(damaged)))
    assert [each for each in found if each not in expected][-1][0] == ""


def test_the_beginning_of_data_that_end_in_their_first_kilobytes_is_read(tmp_path: Path) -> None:
    whole = b"".join(chat(number, 20) for number in range(8))
    cut = gzip.compress(whole)[:-20]
    *read, last = contents(_written(tmp_path / "cut.jsonl.gz", cut))
    assert read
    assert read == contents(_written(tmp_path / "whole.jsonl", whole))[: len(read)]
    assert last == ("", "the file can't be read: the compressed data end early")


def test_a_wrong_checksum_is_reported(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(chat(1)))
    packed[-6] ^= 1
    (*_, last) = contents(_written(tmp_path / "chats.gz", bytes(packed)))
    assert "the compressed data are damaged" in last[1]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_small_file_that_holds_a_large_one_is_read_in_little_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(1, wbits=31)
    blank = b" " * 2**20
    data = b"".join([*(packer.compress(blank) for _ in range(160)), packer.flush()])
    file = _written(tmp_path / "bomb.jsonl.gz", data)
    assert expanded_size(file, 10**6) < 3 * 10**6
    program = f"""
from rulewright_runtime.transcripts.transcript_reader import Reader
print([each.reason for each in Reader().read([{str(file)!r}])])
print(*[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    reasons, most = done.stdout.splitlines()
    assert "bytes; at most 1048576 are read" in reasons
    assert int(most) < 120_000  # KiB


@EACH
def test_convert_compresses_by_the_ending_and_writes_the_same_bytes_again(tmp_path: Path, ending: str) -> None:
    plain = _written(tmp_path / "plain.jsonl", b"".join(map(chat, range(5))))
    out = tmp_path / f"out.jsonl{ending}"
    assert main(["convert", str(plain), str(out)]) == 0
    first = out.read_bytes()
    assert main(["convert", str(plain), str(out), "--overwrite"]) == 0
    assert out.read_bytes() == first
    assert contents(out) == contents(plain)


def test_without_its_library_a_zstd_file_is_refused_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _written(tmp_path / "chats.jsonl.zst", PACK[".zst"](chat(1)))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    ((_, reason),) = contents(file)
    assert "needs the extra `data`" in reason
    plain = _written(tmp_path / "plain.jsonl", chat(1))
    assert main(["convert", str(plain), str(tmp_path / "out.jsonl.zst")]) == 3
    assert "needs the extra `data`" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl.zst").exists()


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
