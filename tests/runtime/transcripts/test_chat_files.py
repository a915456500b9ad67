"""The files of chats in a folder: those that are not read are counted and told once."""

import json
from pathlib import Path

import pytest
from tests.folders import write_lines
from tests.runtime.plans import check, plan

from rulewright_runtime.files.input_files import unread_note
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

CHAT = json.dumps({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]})
NOTE = "note: 5 files not read as chats: 2 `.md`, 1 `.json` without chats, 1 `.txt`, 1 without a suffix"


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "chats"
    (folder / "sub").mkdir(parents=True)
    texts = {
        "a.jsonl": CHAT, "README.md": "", "sub/b.md": "", "c.txt": CHAT, "config.json": "{}", "NOTES": "", ".x": "",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_files_of_a_folder_that_are_not_read_are_counted_by_kind(tmp_path: Path) -> None:
    reader = Reader()
    (chat,) = reader.read([folder_of(tmp_path)])
    assert Path(chat.path).name == "a.jsonl"
    assert unread_note(reader.unread) == [NOTE]


def test_a_run_records_the_files_that_it_did_not_read(tmp_path: Path) -> None:
    summary = run(plan(check()), [folder_of(tmp_path)], tmp_path / "run")
    assert unread_note(summary["unread_files"]) == [NOTE]
    spread = run(plan(check()), [folder_of(tmp_path / "again")], tmp_path / "spread", jobs=2)
    assert spread["unread_files"] == summary["unread_files"]
    alone = run(plan(check()), [tmp_path / "chats" / "a.jsonl"], tmp_path / "alone")
    assert "unread_files" not in alone


def test_columns_that_no_record_had_are_named_by_the_reader_and_by_runs_of_any_number_of_processes(
    tmp_path: Path,
) -> None:
    said = [{"who": "Anna", "content": "hi"}, {"who": "assistant", "content": "yo"}]
    chats = [{"log": said, "nr": str(number), **({"llm": "m-1"} if number else {})} for number in range(3)]
    path = tmp_path / "chats.jsonl"
    write_lines(path, chats)
    columns = {"messages": "log", "role": "who", "id": "nr", "user": "Anna", "model": "llm", "assistant": "Bot"}
    columns |= {"tool_calls": "cals", "scenario_id": "a.b"}
    reader = Reader(columns=columns)
    assert all(isinstance(item, Transcript) for item in reader.read([path]))
    note = "note: no record was read with `assistant=Bot`, `tool_calls=cals`, `scenario_id=a.b` of `--columns`"
    assert reader.notes() == [note]
    one = run(plan(check()), [path], tmp_path / "one", columns=columns)
    two = run(plan(check()), [path], tmp_path / "two", columns=columns, jobs=2)
    assert one["unused_columns"] == two["unused_columns"] == ["assistant=Bot", "tool_calls=cals", "scenario_id=a.b"]


def test_a_mapping_that_the_format_of_the_records_does_not_use_is_named(tmp_path: Path) -> None:
    (tmp_path / "chats.jsonl").write_text(CHAT, encoding="utf-8")
    (tmp_path / "chat.txt").write_text("Anna: hi\nBot: yo\n", encoding="utf-8")
    for name, unused in (("chats.jsonl", ["user=Anna", "model=m"]), ("chat.txt", ["model=m"])):
        reader = Reader(columns={"user": "Anna", "model": "m"})
        assert [type(item) for item in reader.read([tmp_path / name])] == [Transcript]
        assert reader.unused_columns() == unused


def test_only_the_commonest_kinds_are_named() -> None:
    assert unread_note({}) == []
    (note,) = unread_note({f"`.{name}`": 1 for name in "abcdefg"})
    assert note == "note: 7 files not read as chats: 1 `.a`, 1 `.b`, 1 `.c`, 1 `.d`, 1 `.e`, 2 more kinds"


def test_the_lists_of_an_export_of_slack_are_not_read_as_chats(tmp_path: Path) -> None:
    parts = {"blocks": [{"type": "rich_text"}], "user_profile": {}}
    messages = [{"type": "message", "ts": f"{n}.1", "user": f"U{n}", "text": "hi", **parts} for n in (1, 2)]
    for channel in ("sales", "support"):
        (tmp_path / channel).mkdir()
        (tmp_path / channel / "2026-01-01.json").write_text(json.dumps(messages), encoding="utf-8")
    for name in ("channels.json", "users.json", "integration_logs.json"):
        (tmp_path / name).write_text('[{"id": "U1", "name": "ana", "members": []}]', encoding="utf-8")
    columns = {"role": "user", "content": "text", "user": "U1", "assistant": "U2"}
    chats = [each for each in Reader(columns=columns).read([tmp_path]) if isinstance(each, Transcript)]
    assert [chat.id for chat in chats] == ["sales-2026-01-01", "support-2026-01-01"]
    assert [message.role for message in chats[0].conversation.messages] == ["user", "assistant"]
    (first, *_) = map(str, Reader().read([tmp_path]))
    assert "an export of Slack is read with `--columns role=user,content=text,user=MEMBER,assistant=MEMBER`" in first


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (
            "A &amp; B",
            {"blocks": [{"type": "rich_text", "elements": [{"elements": [{"text": "A & B"}]}]}]},
            "A & B",
        ),
        (
            "Report",
            {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "I promise."}}]},
            "Report\nI promise.",
        ),
        ("", {"attachments": [{"fallback": "x", "fields": [{"title": "Fee", "value": "3"}]}]}, "Fee\n3"),
        ("See <x.org>", {"attachments": [{"from_url": "x.org", "text": "A page"}]}, "See <x.org>"),
        ("", {"files": [{"mimetype": "image/png"}, {"mimetype": "text/csv"}]}, "[image]\n[file]"),
        ("", {"blocks": [{"type": "actions", "elements": [{"type": "button", "text": "Yes", "value": "y1"}]}]}, "Yes"),
    ],
)
def test_what_only_the_parts_of_a_message_of_slack_show_is_its_text(
    tmp_path: Path, text: str, more: JsonObject, said: str
) -> None:
    messages = [
        {"type": "message", "ts": "1.1", "user": "U1", "text": "hi"},
        {"type": "message", "ts": "2.1", "user": "U2", "text": text, **more},
    ]
    (tmp_path / "2026-01-01.json").write_text(json.dumps(messages), encoding="utf-8")
    (chat,) = Reader(columns={"role": "user", "content": "text", "user": "U1", "assistant": "U2"}).read([tmp_path])
    assert isinstance(chat, Transcript)
    assert [turn.content for turn in chat.turns] == ["hi", said]


def test_a_chat_next_to_the_lists_of_an_export_of_slack_is_read(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}
    for name in ("channels.json", "users.json", "dms.json"):
        (tmp_path / name).write_text("[]", encoding="utf-8")
    (tmp_path / "support.json").write_text(json.dumps(chat), encoding="utf-8")
    (found,) = Reader().read([tmp_path])
    assert isinstance(found, Transcript)
    assert found.id == "support:1"
