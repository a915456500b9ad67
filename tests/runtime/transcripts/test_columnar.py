"""Chats in Parquet: read back as the lines they were written from, also by several processes, or refused in words."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import sha256
from itertools import product
from pathlib import Path

import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.folders import write_lines
from tests.rounds import every
from tests.shipped_plans import shipped_plan

from rulewright.cli import main
from rulewright_runtime.errors import InputError
from rulewright_runtime.runs import store
from rulewright_runtime.transcripts import columnar, pieces
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader, from_record

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmark"
CHATS = Path(__file__).parent / "chats"


def read(path: Path) -> list[Transcript | InputError]:
    return list(Reader().read([path]))


def converted(source: Path, out: Path, form: str) -> Path:
    assert main(["convert", str(source), str(out), "--to", form, "--overwrite"]) in (0, 3)
    return out


@pytest.mark.parametrize(
    ("source", "form"),
    [
        *product([BENCHMARK / "transcripts", CHATS / "genai.json", CHATS / "inspect.json"], ["rulewright", "openai"]),
        (BENCHMARK / "transcripts", "turns"),  # the others have no scenario
    ],
)
def test_a_file_of_parquet_holds_what_a_file_of_lines_holds(tmp_path: Path, source: Path, form: str) -> None:
    lines = read(converted(source, tmp_path / "chats.jsonl", form))
    rows = read(converted(source, tmp_path / "chats.parquet", form))
    assert len(lines) > 0
    shown = [
        (each.id, each.model, each.scenario_id, each.turns, each.line) if isinstance(each, Transcript) else each.reason
        for each in lines
    ]
    assert shown == [
        (each.id, each.model, each.scenario_id, each.turns, each.line) if isinstance(each, Transcript) else each.reason
        for each in rows
    ]


def test_the_file_is_the_same_again_and_names_each_chat_for_queries(tmp_path: Path) -> None:
    first = converted(BENCHMARK / "transcripts", tmp_path / "a.parquet", "rulewright").read_bytes()
    again = converted(BENCHMARK / "transcripts", tmp_path / "b.parquet", "rulewright")
    assert again.read_bytes() == first
    table = pyarrow.parquet.read_table(again)
    assert table.column_names == ["transcript_id", "scenario_id", "model", "chat"]
    names = table.column("transcript_id").to_pylist()
    assert [json.loads(chat)["id"] for chat in table.column("chat").to_pylist()] == names


@pytest.mark.parametrize("damaged", [False, True])
def test_several_processes_share_a_file_and_write_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    monkeypatch.setattr(columnar, "GROUP_BYTES", 6000)
    monkeypatch.setattr(pieces, "_LEAST_PACKED", 0)
    path = converted(BENCHMARK / "transcripts", tmp_path / "chats.parquet", "turns")
    groups = columnar.row_groups(str(path))
    assert len(groups) > 3
    if damaged:
        data = bytearray(path.read_bytes())
        at = pyarrow.parquet.ParquetFile(path).metadata.row_group(1).column(3).data_page_offset
        data[at : at + 40] = b"\xff" * 40
        path.write_bytes(data)
    assert len(list(Reader().pieces([path]))) == len(groups)
    plan = shipped_plan(profile="smoke")
    found = []
    for jobs in (1, 2):
        out = tmp_path / f"jobs{jobs}"
        store.run(plan, [path], out, jobs=jobs)
        found.append({file.name: file.read_bytes() for file in sorted(out.iterdir())})
    assert found[0] == found[1]
    summary = json.loads(found[0]["summary.json"])
    assert summary["transcripts"] > 5
    assert summary["refused"]["count"] == int(damaged)


@pytest.mark.parametrize("ending", [".parquet", ".jsonl.zst", ".jsonl.gz"])
def test_no_changed_bit_of_a_converted_file_changes_a_chat_unseen(tmp_path: Path, ending: str) -> None:
    source = tmp_path / "source.jsonl"
    words = [sha256(str(number).encode()).hexdigest() for number in range(300)]
    write_lines(source, ({"messages": [{"role": "user", "content": word}]} for word in words))
    path = converted(source, tmp_path / f"chats{ending}", "rulewright")
    data, chats = path.read_bytes(), [chat.turns for chat in read(path) if isinstance(chat, Transcript)]
    assert len(chats) == len(words)
    for place in every(499, range(len(data))):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        found = read(path)
        if not any(isinstance(each, InputError) for each in found):
            assert [chat.turns for chat in found if isinstance(chat, Transcript)] == chats, place


def test_no_count_of_a_converted_file_can_hide_its_last_rows(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    chat = json.dumps({"messages": [{"role": "user", "content": "hello"}]})
    source.write_text(f"{chat}\n" * 300)
    path = converted(source, tmp_path / "chats.parquet", "rulewright")
    data = path.read_bytes()
    places = [found.start() for found in re.finditer(b"\xd8\x04", data)]  # 300 as the footer writes it
    assert len(places) > 4
    for place in places:
        path.write_bytes(data[: place + 1] + b"\0" + data[place + 2 :])  # 44
        found = read(path)
        assert len(found) == 300 or any(isinstance(each, InputError) for each in found)


@pytest.mark.parametrize("chats", [[b"{}"], None])
def test_a_file_of_chats_without_their_texts_is_refused(tmp_path: Path, chats: list[bytes] | None) -> None:
    columns = {"transcript_id": ["a"]} | ({} if chats is None else {"chat": chats})
    table = pyarrow.table(columns).replace_schema_metadata({"rulewright": "chats/1"})
    pyarrow.parquet.write_table(table, tmp_path / "chats.parquet")
    (only,) = read(tmp_path / "chats.parquet")
    assert isinstance(only, InputError)
    assert "`chat` is not a column of texts" in only.reason


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = converted(CHATS / "genai.json", tmp_path / "none.parquet", "rulewright")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).slice(length=0), path)
    (only,) = read(path)
    assert isinstance(only, InputError)
    assert "the file is empty" in only.reason


def test_a_row_that_holds_no_chat_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    path = converted(BENCHMARK / "transcripts", tmp_path / "chats.parquet", "openai")
    table = pyarrow.parquet.read_table(path)
    chats = table.column("chat").to_pylist()
    chats[1:4] = [None, "{broken", "[1]"]
    changed = table.set_column(3, "chat", pyarrow.array(chats, pyarrow.string()))
    pyarrow.parquet.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
    found = read(path)
    assert [each.line for each in found if isinstance(each, InputError)] == [2, 3, 4]
    assert len(found) == len(chats)


@pytest.mark.parametrize("write", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
def test_a_number_that_a_table_lacks_is_absent(tmp_path: Path, write: Callable[[pyarrow.Table, Path], None]) -> None:
    path = tmp_path / f"chats.{'parquet' if write is pyarrow.parquet.write_table else 'arrow'}"
    said = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Yes."}]
    scores = [0.5, math.nan, -math.inf, None]
    rows = [{"messages": said, "score": each, "scores": [each]} for each in scores]
    write(pyarrow.Table.from_pylist(rows), path)
    known = [each.conversation.metadata for each in read(path) if isinstance(each, Transcript)]
    assert [each.get("score") for each in known] == [0.5, None, None, None]
    assert [each["scores"] for each in known] == [[0.5], [None], [None], [None]]
    record = from_record({**rows[1], "scores": [math.nan]})
    assert record.conversation.metadata == {"scores": [None]}


ROWS = [{"user": "hi", "assistant": f"answer {number} {'x' * 50}"} for number in range(5)]


def test_dates_times_and_decimal_numbers_of_a_table_are_texts_as_convert_writes_them(tmp_path: Path) -> None:
    row = {
        "question": "hi",
        "answer": "yes",
        "at": datetime(2026, 11, 1, 12, tzinfo=UTC),
        "local": datetime(2026, 11, 1),
    }
    row |= {"day": date(2026, 11, 1), "cost": Decimal("0.50")}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "a.parquet")
    (found,) = read(tmp_path / "a.parquet")
    (again,) = read(converted(tmp_path / "a.parquet", tmp_path / "a.jsonl", "rulewright"))
    assert isinstance(found, Transcript)
    assert isinstance(again, Transcript)
    assert found.conversation.metadata == again.conversation.metadata
    assert found.conversation.metadata == {
        "at": "2026-11-01T12:00:00+00:00", "local": "2026-11-01T00:00:00", "day": "2026-11-01", "cost": "0.50",
    }  # fmt: skip


@pytest.mark.parametrize("end", range(8))
def test_a_stream_of_arrow_without_its_end_is_refused(tmp_path: Path, end: int) -> None:
    """A writer that is killed leaves a file of whole batches, which pyarrow reads as complete."""
    path = tmp_path / "chats.arrow"
    table = pyarrow.Table.from_pylist(ROWS)
    with pyarrow.OSFile(str(path), "wb") as stream, pyarrow.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    whole = path.read_bytes()
    assert [type(each) for each in read(path)] == [Transcript] * 5
    path.write_bytes(whole[: len(whole) - 8 + end])
    *found, last = read(path)
    assert len(found) == 5
    assert isinstance(last, InputError)


@pytest.mark.parametrize("marked", [False, True])
def test_a_file_whose_parts_have_other_rows_than_the_whole_is_refused(tmp_path: Path, marked: bool) -> None:
    lines = tmp_path / "chats.jsonl"
    write_lines(lines, ROWS)
    path = converted(lines, tmp_path / "chats.parquet", "rulewright")
    if not marked:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little") + 8
    places = [at for at in range(len(data) - footer, len(data)) if data[at] == 10]  # 5 rows, as a number of Thrift
    outcomes = []
    for at in places:
        path.write_bytes(bytes([*data[:at], 8, *data[at + 1 :]]))
        found = read(path)
        outcomes.append((sum(isinstance(each, Transcript) for each in found), len(found)))
    assert all(read == 5 or read < told for read, told in outcomes), outcomes
    assert min(outcomes) < (5, 5)


def test_damaged_statistics_of_a_column_do_not_end_the_process(tmp_path: Path) -> None:
    """A read of the sizes of a column with them aborted the process, and with it the scan of every other file."""
    path = tmp_path / "chats.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    script = (
        "import sys; from rulewright_runtime.transcripts.transcript_reader import Reader;"
        "print(*(type(each).__name__ for each in Reader().read(sys.argv[1:])))"
    )
    data = bytearray(path.read_bytes())
    damaged = []
    for at in range(len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data) - 8):
        copy = tmp_path / f"{at}.parquet"
        copy.write_bytes(bytes([*data[:at], data[at] ^ 1, *data[at + 1 :]]))
        damaged.append(copy)
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, damaged)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"Transcript", "InputError"}


def test_without_its_library_parquet_is_refused_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["convert", str(BENCHMARK / "transcripts"), str(tmp_path / "out.parquet")]) == 3
    assert "`pip install 'rulewright[data]'`" in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()


def test_fewer_rows_are_read_at_once_where_a_stored_text_may_be_repeated_in_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "BYTES_AT_ONCE", 200_000)
    rows = [{"user": "hi", "assistant": "x" * 60_000}] * 500
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "repeated.parquet")
    about = pyarrow.parquet.ParquetFile(tmp_path / "repeated.parquet").metadata
    assert columnar.rows_at_once(about) == 3
    assert len(read(tmp_path / "repeated.parquet")) == 500
