"""Containers: records out of documents, lists, archives and folders; what is damaged in them is told with its line."""

import json
import zipfile
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import Any, TypeGuard, cast

import pytest
from tests.runtime.transcripts.formats import ANSWER, ATIF, GOOD, SAID, conversations, lines, refusals, written

from rulewright_runtime.errors import InputError
from rulewright_runtime.files import json_scanner
from rulewright_runtime.transcripts.containers import delimiter_of, kind_of, numbered_lines
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.readers import evaluation_tools
from rulewright_runtime.transcripts.transcript_reader import Reader

SHAREGPT = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("value", [ATIF, [ATIF], SAID, {"messages": SAID}])
def test_a_json_document_is_read_on_one_line_and_on_many(tmp_path: Path, value: Any, indent: int | None) -> None:
    (found,) = conversations(written(tmp_path, json.dumps(value, indent=indent), "chat.json"))
    assert lines(found)[-1] == ANSWER


def test_a_broken_item_of_a_list_is_reported_with_its_line_and_its_neighbours_are_read(tmp_path: Path) -> None:
    good = json.dumps(GOOD)
    found = refusals(tmp_path, f"[\n{good},\n{{broken}},\n\n{good}\n]\n", "chat.json")
    assert [each[:21] for each in found] == ["chat:2", "3: item 2 is not JSON", "chat:5"]


class Counted(BufferedReader):
    """Counts the lines that are read one by one."""

    count = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        self.count += 1
        return super().readline(size)


def test_millions_of_blank_lines_are_not_read_one_by_one() -> None:
    stream = Counted(cast("RawIOBase", BytesIO(b"\n" * 300_000 + b"{}\n" + b" \r\n" * 300_000 + b"{}")), 2**16)
    assert list(numbered_lines(stream, "chats", 100)) == [(300_001, b"{}\n"), (600_002, b"{}")]
    assert stream.count < 100


@pytest.mark.parametrize("size", [1, 50, 500])
def test_a_document_is_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(json_scanner, "CHUNK", size)
    listed = json.dumps([GOOD, ATIF, 5, {**GOOD, "n": "]\n,[" * 20}], indent=1)
    starts = [number for number, line in enumerate(listed.split("\n"), 1) if line[:2].strip() in ("{", "5")]
    assert listed.split("\n")[starts[2] - 1] == " 5,"
    told = [f"chat:{starts[0]}", "s1", f"{starts[2]}: item 3 must be one JSON object", f"chat:{starts[3]}"]
    for broken in ("", "]", "[", '"'):
        found = refusals(tmp_path, listed + broken, "chat.json")
        assert (found[:4], len(found)) == (told, 4 + bool(broken))


@pytest.mark.parametrize("record", [GOOD, {"scenario_id": "s", "model": "m", "turns": [SAID[0] | {"turn": 1}]}])
def test_the_items_of_a_list_on_one_line_are_several_conversations(tmp_path: Path, record: Any) -> None:
    listed = json.dumps([record, 5, record])
    told = ["chat:1", "1: item 2 must be one JSON object", "chat:1#2"]
    assert refusals(tmp_path, listed, "chat.json") == told
    assert refusals(tmp_path, json.dumps({"data": [GOOD, GOOD]}), "chat.json") == ["chat:1", "chat:1#2"]


@pytest.mark.parametrize("beside", [{"records": [GOOD]}, {"archived": [GOOD]}, GOOD])
def test_a_list_of_chats_with_others_next_to_it_is_refused_as_a_whole(tmp_path: Path, beside: Any) -> None:
    (found,) = refusals(tmp_path, [{"chats": [GOOD, GOOD], **beside}])
    assert found.startswith("1: the record also has conversations outside `chats`")


@pytest.mark.parametrize("listed", [GOOD, {"turns": SAID}, SHAREGPT])
@pytest.mark.parametrize("own", [GOOD, SHAREGPT])
def test_a_chat_with_a_list_of_chats_under_any_key_is_refused(tmp_path: Path, own: Any, listed: Any) -> None:
    (found,) = refusals(tmp_path, [{**own, "results": [{"note": 1}, listed]}])
    assert found == "1: the record also has conversations outside `results`; write each on a line of its own"


@pytest.mark.parametrize("tail", ["", ",", "\n{}", " nonsense", "\n]]"])
def test_nothing_of_a_list_is_left_out_in_silence(tmp_path: Path, tail: str) -> None:
    good = json.dumps(GOOD)
    whole = f"[\n{good}\n]{tail}" if tail not in ("", ",") else f"[\n{good}{tail}\n"
    assert refusals(tmp_path, whole, "chat.json")[0] == "chat:2"
    assert len(refusals(tmp_path, whole, "chat.json")) == 2


def test_a_member_of_an_archive_that_is_damaged_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "input": "hi", "target": "", "messages": SAID}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("samples/a_epoch_1.json", json.dumps(sample))
        archive.writestr("samples/b_epoch_1.json", "{broken")
    first, second = Reader().read([tmp_path / "log.eval"])
    assert isinstance(first, Transcript)
    assert isinstance(second, InputError)
    assert second.reason.startswith("`samples/b_epoch_1.json` is not JSON")


def test_a_sample_that_another_one_of_its_name_hides_is_reported(tmp_path: Path) -> None:
    sample = json.dumps({"id": "a", "epoch": 1, "input": "hi", "target": "", "messages": SAID})
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("samples/a_epoch_1.json", sample)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("samples/a_epoch_1.json", sample)
    refused, chat = Reader().read([tmp_path / "log.eval"])
    assert isinstance(chat, Transcript)
    assert isinstance(refused, InputError)
    assert refused.reason == "the archive contains `samples/a_epoch_1.json` twice; the last one is read"


def zipped(folder: Path, members: dict[str, Any], name: str = "export.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, value in members.items():
            archive.writestr(member, value if isinstance(value, str) else json.dumps(value))
    return folder / name


def test_an_archive_is_read_as_the_folder_it_was_made_of_and_a_chat_again_by_its_path(tmp_path: Path) -> None:
    day = [{"type": "message", "user": user, "text": user, "ts": "1.0"} for user in ("U1", "U2")]
    export = {"Acme/channels.json": [], "Acme/users.json": [], "Acme/canvases.json": [], "Acme/help/1.json": day}
    path = zipped(tmp_path, {"__MACOSX/help/._1.json": "x", "Acme/help/": "", **export})
    columns = {"role": "user", "content": "text", "user": "U1", "assistant": "U2"}
    (found,) = Reader(columns=columns).read([path])
    assert isinstance(found, Transcript)
    assert (found.id, found.path) == ("help-1", f"{path}/Acme/help/1.json")
    (again,) = Reader(columns=columns).read([found.path])
    assert isinstance(again, Transcript)
    assert again.conversation == found.conversation
    chats = json.dumps(GOOD) + "\n" + json.dumps(GOOD) + "\n"
    reader = Reader()
    path = zipped(tmp_path, {"a.jsonl": chats, "b.csv": "x", "note.pdf": "x"})
    assert [item.line for item in reader.read([path]) if isinstance(item, Transcript)] == [1, 2]
    assert reader.unread == {"`.pdf`": 1}


@pytest.mark.parametrize("other", ["user.json", "users.json"])
def test_what_an_export_lists_next_to_its_conversations_is_not_read(tmp_path: Path, other: str) -> None:
    path = zipped(tmp_path, {"conversations.json": [GOOD], other: {"id": 1}, "more.json": {"id": 1}})
    assert [item.path for item in Reader().read([path])] == [f"{path}/conversations.json", f"{path}/more.json"]


def test_an_archive_without_chats_and_a_member_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for name, reason in (
        ("a.xlsx", "a spreadsheet is not read; save its sheet as `.csv`"),
        ("a.zip", "the archive contains no file of chats, such as `*.jsonl`"),
    ):
        (refused,) = Reader().read([zipped(tmp_path, {"xl/workbook.xml": "x"}, name)])
        assert isinstance(refused, InputError)
        assert refused.reason == reason
    (refused,) = Reader().read([f"{tmp_path}/a.xlsx/none.json"])
    assert isinstance(refused, InputError)
    assert "can't be read" in refused.reason
    path = zipped(tmp_path, {"a.jsonl": json.dumps(GOOD) * 9})
    damaged = bytearray(path.read_bytes())
    damaged[40] ^= 255
    path.write_bytes(damaged)
    (refused,) = Reader().read([path])
    assert isinstance(refused, InputError)
    assert refused.reason.startswith("the file can't be read")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_outside_of_their_archive_or_named_twice_are_refused_and_the_others_read(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"a.jsonl": GOOD, "../b.jsonl": GOOD, "/etc/passwd.jsonl": GOOD, "c.jsonl": GOOD})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("c.jsonl", json.dumps(GOOD))
    found = list(Reader().read([path]))
    assert [item.path for item in found if isinstance(item, Transcript)] == [f"{path}/a.jsonl"]
    assert sorted(item.reason for item in found if isinstance(item, InputError)) == [
        "the archive contains `c.jsonl` 2 times",
        "the archive names `../b.jsonl`, outside of it",
        "the archive names `/etc/passwd.jsonl`, outside of it",
    ]


def test_a_folder_holds_the_chats_of_every_format_and_may_hold_other_json_next_to_them(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(ATIF), "c.json")
    assert [found.id for found in conversations(tmp_path)] == ["s1"]
    written(tmp_path, [{"id": "one", **GOOD}], "a.jsonl")
    written(tmp_path, "question,answer\nhi,hello\n", "b.csv")
    written(tmp_path, '{"turns_played": 4}', "summary.json")
    assert [found.id for found in conversations(tmp_path)] == ["one", "b:2", "s1"]
    (broken,) = (item for item in Reader().read([written(tmp_path, "{broken", "d.json").parent]) if is_refused(item))
    assert broken.path.endswith("d.json")


def is_refused(item: Transcript | InputError) -> TypeGuard[InputError]:
    return isinstance(item, InputError)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('"n": 1e999', "the line is refused: a number is out of range"),
        (f'"n": {"9" * 5000}', "the line is refused: a number is out of range"),
        (r'"n": "\ud800"', "the line is not JSON: Input data was truncated or contains an unpaired surrogate"),
        (
            '"n": NaN, "m": 1',
            "the line is not JSON: JSON is malformed: invalid character (byte 147) (JSON has no `NaN`; write null)",
        ),
        (
            '"n": [-Infinity]',
            "the line is not JSON: JSON is malformed: invalid character (byte 149) "
            "(JSON has no `-Infinity`; write null)",
        ),
        ('"n": "\\" [NaN, 1]", "m": [1,', "the line is not JSON: JSON is malformed: invalid character (byte 170)"),
    ],
)
def test_what_no_decoder_takes_is_named(more: str, reason: str, tmp_path: Path) -> None:
    said = json.dumps(SAID)
    (tmp_path / "c.jsonl").write_text(f'{{"messages": {said}}}\n{{"messages": {said}, {more}}}')
    assert refusals_in(tmp_path) == [reason]
    (tmp_path / "c.jsonl").write_text(f'{{"messages": {said}, {more}}}')
    assert refusals_in(tmp_path) == [reason]


def refusals_in(folder: Path) -> list[str]:
    return [item.reason for item in Reader().read([folder]) if isinstance(item, InputError)]


INSPECT_SAMPLE: dict[str, object] = {
    "id": 1,
    "epoch": 1,
    "input": "hi",
    "target": "hello",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
}


@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_a_log_that_did_not_end_is_refused_next_to_the_samples_that_it_holds(tmp_path: Path, status: str) -> None:
    log = {"version": 2, "status": status, "eval": {"task": "t"}, "samples": [INSPECT_SAMPLE]}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        header = "_journal/start.json" if status == "started" else "header.json"
        archive.writestr(header, json.dumps({"version": 2, "status": status, "eval": {"task": "t"}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(INSPECT_SAMPLE))
    for name in ("log.json", "log.eval"):
        chat, refused = Reader().read([tmp_path / name])
        assert isinstance(chat, Transcript)
        assert isinstance(refused, InputError)
        assert f"the log's status is `{status}`, so samples may be missing" in refused.reason


def test_samples_that_a_log_counts_and_does_not_hold_are_refused_one_by_one(tmp_path: Path) -> None:
    """A share of the samples that are left would be a share of fewer."""
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "results": {"total_samples": 4}}
    (tmp_path / "log.json").write_text(json.dumps({**log, "samples": [INSPECT_SAMPLE]}), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(log))
        archive.writestr("samples/1_epoch_1.json", json.dumps(INSPECT_SAMPLE))
    for name in ("log.json", "log.eval"):
        chat, *refused = Reader().read([tmp_path / name])
        assert isinstance(chat, Transcript)
        assert [each.reason[:60] for each in refused if is_refused(each)] == [
            f"the log counts 4 samples and contains 1: sample {number} is missing" for number in (2, 3, 4)
        ]


def test_more_samples_than_are_refused_one_by_one_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_tools, "_MOST_MISSING", 2)
    *_, last = evaluation_tools.missing({"results": {"total_samples": 10**15}}, 1)
    assert last == "the log counts 1000000000000000 samples: those after sample 3 are missing, too"


@pytest.mark.parametrize("header", ['{"eval": {"task"', "[]", '{"status": "success"}'])
def test_a_log_whose_header_says_nothing_is_refused_next_to_its_samples(tmp_path: Path, header: str) -> None:
    """Whether the evaluation has ended, and with how many samples, stands in the header alone."""
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", header)
        archive.writestr("samples/1_epoch_1.json", json.dumps(INSPECT_SAMPLE))
    refused, chat = Reader().read([tmp_path / "log.eval"])
    assert isinstance(chat, Transcript)
    assert isinstance(refused, InputError)
    assert refused.reason.startswith("`header.json` is no")


def test_a_nul_in_the_first_line_does_not_hide_the_others(tmp_path: Path) -> None:
    good = json.dumps(GOOD)
    found = refusals(tmp_path, f'{{"a": "\0"}}\n{good}\n', "chat.jsonl")
    assert [each[:34].rstrip() for each in found] == ["1: this is a binary file, not JSON", "chat:2"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "text"), [("chat.jsonl", json.dumps(GOOD)), ("chat.csv", "user,assistant\nhi,hello\n")]
)
def test_text_in_utf_16_is_named_with_its_cure(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    (found,) = Reader().read([tmp_path / name])
    assert isinstance(found, InputError)
    if encoding == "utf-16" or name == "chat.csv":
        assert found.reason.endswith("UTF-16 text; save it as UTF-8")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("sep=;\r\nuser;assistant\r\nhi;hello\r\n", "the first line is not a header: remove `sep=;`"),
        ("user,assistant\rhi,hello\r", "the header is not CSV: the lines end with CR alone; save the file with"),
    ],
)
def test_what_a_spreadsheet_writes_next_to_a_table_is_refused_with_its_cure(
    tmp_path: Path, table: str, reason: str
) -> None:
    (tmp_path / "chat.csv").write_bytes(table.encode())
    (found,) = Reader().read([tmp_path / "chat.csv"])
    assert isinstance(found, InputError)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_is_separated_as_its_header_is(tmp_path: Path, separator: str) -> None:
    rows = (("question", "answer"), ("hi", '"Yes, sure; at 5"'))
    table = "".join(separator.join(row) + "\n" for row in rows)
    (found,) = conversations(written(tmp_path, table, "a.csv"))
    assert [message.text for message in found.messages] == ["hi", "Yes, sure; at 5"]


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ('"a, b";answer', ";"),
        ("a;b,c", ","),
        ("messages", ","),
        ("", ","),
        ('"never closed, b;c', ","),
        ('"a"\t"b"', "\t"),
    ],
)
def test_a_separator_counts_only_outside_of_quotes(header: str, separator: str) -> None:
    assert delimiter_of(header) == separator


def test_a_folder_of_an_archive_that_is_called_samples_does_not_hide_the_files_next_to_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "chats.zip", "w") as archive:
        archive.writestr("samples/one.json", json.dumps(GOOD))
        archive.writestr("two.jsonl", json.dumps(GOOD))
    assert len(conversations(tmp_path / "chats.zip")) == 2


@pytest.mark.parametrize("name", ["mail.eml", "mails.mbox", "print.pdf", "page.html"])
def test_a_file_of_another_kind_is_refused_once_and_not_line_by_line(tmp_path: Path, name: str) -> None:
    (refused,) = refusals(tmp_path, "From: a@b.c\nSubject: fee\n\nHello\n12\n", name)
    assert refused.startswith(f"1: `.{name.partition('.')[2]}` is not read; expected JSON lines")
    assert ("write each message of an email as `user: TEXT`" in refused) is name.startswith("mail")
    assert refusals(tmp_path, "[10:31] User: Hi\n[10:32] Bot: Hello\n", "chat.log") == ["chat:1"]
    found = refusals(tmp_path, "\n" * 20 + json.dumps(GOOD | {"id": "1"}) + "\nbroken\n", "export.log")
    assert [found[0], found[1][:4], len(found)] == ["1", "22: ", 2]


@pytest.mark.parametrize("blanks", range(12))
def test_an_indented_time_of_a_message_does_not_open_a_list(blanks: int, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(" " * blanks + "[10:00] User: Hello?\n", encoding="utf-8")
    assert kind_of(str(path)) == "text"
    path.write_text(" " * blanks + '[{"role": "user", "content": "Hello?"}]\n', encoding="utf-8")
    assert kind_of(str(path)) == "json"
